"""A revision after the newest one, as one could come: a table that SQLite has to copy, rows that
change, a table that is new, one that goes. Killed at any statement, or run twice at once.

    python -m tests.support.next_revision URL [STATEMENT]      killed before that one
"""

import os
import shutil
import signal
import sys
import tempfile
from pathlib import Path
from typing import Any

from sqlalchemy import Engine, event

from warehouse.connections.engine import open_engine
from warehouse.migrations import migrate

NUMBER = "9999"

CHANGES = """
    with op.batch_alter_table("raw_event") as table:
        table.add_column(sa.Column("made_up", sa.BigInteger, nullable=False, server_default="7"))
    op.execute("UPDATE shop SET name = 'made up'")
    op.create_table("made_up", sa.Column("id", sa.BigInteger, primary_key=True))
    op.execute("INSERT INTO made_up SELECT shop_key FROM shop")
    op.drop_table("code_usage")
"""


def scripts(folder: Path, changes: str) -> Path:
    """Alembic's folder with a revision more, which makes these changes."""
    copy = folder / "migrations"
    shutil.copytree(migrate.SCRIPTS, copy)
    revision = (
        f'import sqlalchemy as sa\nfrom alembic import op\nrevision = "{NUMBER}"\n'
        f'down_revision = "{migrate.HEAD}"\n\n\ndef upgrade():{changes}'
    )
    (copy / "versions" / f"{NUMBER}_made_up.py").write_text(revision)
    return copy


def main(url: str, statement: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        migrate.SCRIPTS, migrate.HEAD = scripts(Path(folder), CHANGES), NUMBER  # type: ignore[misc]
        count = 0

        def strike(*_: Any) -> None:
            nonlocal count
            count += 1
            if count == statement:
                os.kill(os.getpid(), signal.SIGKILL)

        event.listen(Engine, "before_cursor_execute", strike)
        event.listen(Engine, "commit", strike)
        migrate.migrate(open_engine(url))
        print(count)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 0)
