"""Which errors are the database's own trouble, and no fault of the rows that were in hand.

Whoever meets one stops, and comes again later; whatever else fails with a batch is blamed on it.
"""

from typing import Final

import adbc_driver_manager

# Of PostgreSQL, by class: connection, transaction rollback, resources, prerequisite state (locks),
# operator intervention, system error.
_CLASSES: Final = ("08", "40", "53", "55", "57", "58")
# Of SQLite, which has nothing better than words.
_WORDS: Final = (
    "database is locked",
    "database or disk is full",
    "disk I/O error",
    "unable to open database file",
    "attempt to write a readonly database",
    "database disk image is malformed",
    "file is not a database",
    "out of memory",
)


class Unavailable(RuntimeError):
    """The warehouse does not answer."""


def is_outage(error: BaseException) -> bool:
    """Whether the warehouse or the machine failed, and not what was asked of it."""
    # Imported here: most jobs need nothing of it, and it takes as long to import as they run.
    from sqlalchemy.exc import SQLAlchemyError

    if isinstance(error, Unavailable | SQLAlchemyError | OSError | MemoryError):
        return True
    if not isinstance(error, adbc_driver_manager.Error):
        return False
    if error.sqlstate:
        return str(error.sqlstate).startswith(_CLASSES)
    text = str(error)
    lost = isinstance(error, adbc_driver_manager.OperationalError) and "[libpq]" in text
    return lost or any(words in text for words in _WORDS)
