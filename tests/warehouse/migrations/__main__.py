"""`python -m tests.warehouse.migrations`: store data of the newest revision."""

import tempfile
from pathlib import Path

from tests.support.stored_revisions import file_of, make
from warehouse.migrations.migrate import HEAD

if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        make(f"sqlite:///{Path(folder) / 'warehouse.db'}").write(file_of(HEAD))
    print(f"wrote {file_of(HEAD)}")
