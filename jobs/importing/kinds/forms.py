"""Forms: one row per shop and `form_id`, the version with the latest `updated_at`."""

from collections.abc import Sequence
from typing import Any, ClassVar, Final

import pyarrow as pa

from jobs.clock import now_micros
from jobs.importing import cells
from jobs.importing.kind import Written
from jobs.importing.rows import Field, names_of
from jobs.importing.standing import Standing
from jobs.importing.upserts import STAGED, Upsert, lock, write
from warehouse.bulk import Bulk, names
from warehouse.tables import form

_FIELDS: Final = (
    Field("form_id", cells.uuid),
    Field("name", cells.name),
    Field("status", cells.identifier, "draft"),
    Field("schema", cells.json_object, "{}"),
    Field("created_at", cells.instant, None),
    Field("updated_at", cells.instant, None),
)

_WAY: Final = Upsert(
    form,
    ("shop_key", "form_id", "name", "status", "schema", "draft_schema", "created_at", "updated_at"),
    keys=2,
)
_CONTENT: Final = slice(_WAY.columns.index("name"), _WAY.columns.index("draft_schema"))
_CREATED: Final = _WAY.columns.index("created_at")
_UPDATED: Final = _WAY.columns.index("updated_at")

Row = tuple[Any, ...]


class Forms(Standing):
    """One row per shop and form, the version with the latest `updated_at`."""

    name = "forms"
    reads = _FIELDS
    fields: ClassVar = ("shop_id", *names_of(_FIELDS))
    way = _WAY

    def arrange(self, columns: list[Any]) -> Sequence[Any]:
        # The draft of an imported version is its schema.
        schema = _WAY.columns.index("schema")
        return [*columns[: schema + 1], *columns[schema:]]

    def write(self, bulk: Bulk, rows: pa.Table) -> Written:
        """Compare the rows, one after the other, with the version that stands, and write those that
        stand at the end."""
        lock(bulk, _WAY.table)
        bulk.stage(STAGED, rows.select(list(_WAY.key)))
        stored = {row[: _WAY.keys]: row for row in _tuples(_stored(bulk))}
        standing, steps, now = dict(stored), [], now_micros()
        for row in _tuples(rows):
            key = row[: _WAY.keys]
            old = standing.get(key)
            standing[key] = _stands(stored.get(key), old, row, now)
            steps.append((key, old, standing[key]))
        changed = [row for key, row in standing.items() if row != stored.get(key)]
        if changed:
            bulk.stage(STAGED, _table(changed))
            write(bulk, _WAY, replaces=bool(stored))
        written = Written()
        for key, old, row in steps:
            if old is None:
                written.new += 1
            elif row == old or standing[key] == stored.get(key):
                written.duplicate += 1
            else:
                written.replaced += 1
        return written


def _stands(stored: Row | None, standing: Row | None, row: Row, now: int) -> Row:
    """The version that stands, of: the one stored before this portion, the one that stands so far,
    the one that comes now. A time that it does not state is None."""
    *content, created_at, updated_at = row
    if standing is None:
        created_at = next((at for at in (created_at, updated_at) if at is not None), now)
        return (*content, created_at, created_at if updated_at is None else updated_at)
    if (now if updated_at is None else updated_at) < standing[_UPDATED]:
        return standing
    if updated_at is None and stored and row[_CONTENT] == stored[_CONTENT]:
        # Another row of this portion is taken back: nothing has happened to the form.
        standing = stored
    same = row[_CONTENT] == standing[_CONTENT]
    if created_at is None:
        created_at = standing[_CREATED]
    if updated_at is None:
        updated_at = standing[_UPDATED] if same else now
    if same and updated_at == standing[_UPDATED]:
        # The same version: a draft that is being edited stays.
        return (*standing[:_CREATED], created_at, updated_at)
    return (*content, created_at, updated_at)


def _stored(bulk: Bulk) -> pa.Table:
    columns = names(_WAY.columns, "t.")
    return bulk.rows_of(_WAY.table, f"SELECT DISTINCT {columns} {_WAY.joined}")


def _tuples(rows: pa.Table) -> list[Row]:
    return list(zip(*(column.to_pylist() for column in rows.columns), strict=True))


def _table(rows: list[Row]) -> pa.Table:
    kinds = zip(zip(*rows, strict=True), _WAY.schema.types, strict=True)
    return pa.table([pa.array(column, kind) for column, kind in kinds], _WAY.schema)
