"""Imports that are too old to be undone: they are forgotten, and what they wrote stands for good."""

from typing import Final

from jobs.importing.kinds import forms, replace_last, seen_forms
from jobs.importing.kinds.replace_last import same_key
from warehouse import tables
from warehouse.connections.arrow import ArrowConnection
from warehouse.domain.time import MICROS_PER_DAY
from warehouse.operations.imports import UNDOING, UNDONE, WITHDRAWN
from warehouse.tables.base import unique_names

# SQLite gives the number of the last row again once that is deleted.
_IS_LAST: Final = "import_id = (SELECT MAX(import_id) FROM import_file)"


def purge_imports(connection: ArrowConnection, now: int, days: int) -> None:
    """Forget the imports that ended more than so many days ago. Commits."""
    before = now - days * MICROS_PER_DAY
    # A killed import has no end.
    ended = f"CASE WHEN ended_at = 0 THEN started_at + {MICROS_PER_DAY} ELSE ended_at END"
    expired = (
        f"SELECT import_id FROM import_file WHERE {ended} < {before} AND state <> '{UNDOING}' "
        f"AND NOT {_IS_LAST}"
    )
    for raw, repeated in tables.REPEATED.items():
        same = same_key(unique_names(raw), "t", repeated.name)
        # A row of an import that was undone is there because others repeated it.
        connection.execute(
            f"DELETE FROM {repeated.name} WHERE import_id IN ({expired}) AND NOT EXISTS "
            f"(SELECT 1 FROM {raw.name} t JOIN import_batch b ON b.batch_id = t.batch_id "
            f"WHERE {same} AND b.import_id IN ({WITHDRAWN}))"
        )
    connection.commit()
    connection.lock_table("form_seen")
    seen_forms.forget(connection, expired)
    connection.commit()
    for table, version in tables.VERSIONS.items():
        connection.lock_table(table.name)
        replace_last.forget(connection, version, expired)
        connection.commit()
    forms.forget(connection, expired)
    connection.execute(
        f"DELETE FROM import_file WHERE import_id IN ({expired}) AND (state <> '{UNDONE}' OR NOT EXISTS "
        "(SELECT 1 FROM import_batch b WHERE b.import_id = import_file.import_id AND b.rows > 0))"
    )
    connection.commit()
