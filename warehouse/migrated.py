"""The door for jobs: a `Bulk` on a warehouse that has today's tables.

Whether it has them is asked over the job's own connection. What brings them there, SQLAlchemy and
Alembic, is imported where there is something to bring: that takes as long as a small rollup.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import adbc_driver_manager

from warehouse.address import address_of
from warehouse.bulk import Bulk, open_bulk

# The newest revision under migrations/versions (a test holds it to that).
HEAD: Final = "0001"


@contextmanager
def open_migrated(url: str) -> Iterator[Bulk]:
    """As `open_bulk`, after what `migrate.migrate` does."""
    address = address_of(url)
    # ADBC would make an empty file where there is none.
    if not address.sqlite or Path(address.uri).exists():
        with open_bulk(url) as bulk:
            if _is_current(bulk):
                yield bulk
                return
    _migrate(url)
    with open_bulk(url) as bulk:
        yield bulk


def _is_current(bulk: Bulk) -> bool:
    try:
        revision = bulk.value("SELECT version_num FROM alembic_version")
    except adbc_driver_manager.Error:
        # There are no tables yet, or the migration says better what is wrong.
        revision = None
    bulk.rollback()
    return bool(revision == HEAD)


def _migrate(url: str) -> None:
    from warehouse.engine import open_engine
    from warehouse.migrate import migrate

    migrate(open_engine(url))
