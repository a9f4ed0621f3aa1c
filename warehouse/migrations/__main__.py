"""`make migration NAME=...`: write a revision with what the tables declare and the newest one lacks.

Alembic compares `warehouse/tables` with a temporary SQLite warehouse at the newest revision. Read the
file that it writes: a renamed column, for one, looks to it like one that goes and one that comes.
"""

import sys
import tempfile
from pathlib import Path

from alembic import command
from alembic.script import Script

from warehouse.connections.engine import open_engine
from warehouse.migrations.migrate import HEAD, alembic_config, migrate


def write_revision(name: str) -> Path:
    """Write the revision after the newest one; returns its file."""
    with tempfile.TemporaryDirectory() as folder:
        engine = open_engine(f"sqlite:///{folder}/warehouse.db")
        migrate(engine)
        with engine.connect() as connection:
            script = command.revision(
                alembic_config(connection),
                name,
                autogenerate=True,
                rev_id=f"{int(HEAD) + 1:04}",
            )
    assert isinstance(script, Script)
    return Path(script.path)


if __name__ == "__main__":
    sys.stdout.write(f"wrote {write_revision(' '.join(sys.argv[1:]))}\n")
