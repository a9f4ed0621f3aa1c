"""`python -m tests.migrations`: store data of the newest revision."""

import tempfile
from pathlib import Path

from tests.migrations.stored import file_of, make
from warehouse.migrate import HEAD

if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        make(f"sqlite:///{Path(folder) / 'warehouse.db'}").write(file_of(HEAD))
    print(f"wrote {file_of(HEAD)}")
