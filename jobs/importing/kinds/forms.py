"""Forms: one row per shop and `form_id`, the version with the latest `updated_at`."""

from dataclasses import replace
from typing import Any, ClassVar, Final

import pyarrow as pa

from jobs.importing.kinds.base import Written
from jobs.importing.kinds.replace_last import STAGED, ReplaceLast, Upsert, write
from jobs.importing.kinds.seen_forms import IS_ONLY_SEEN
from jobs.importing.shops import SHOP_ID
from jobs.importing.values.fields import ID, JSON_OBJECT, NAME, OLD_INSTANT, UUID, Field
from jobs.run.clock import now_micros
from warehouse.connections.arrow import ArrowConnection, names
from warehouse.domain.time import NEVER
from warehouse.editions.pending_batches import sql_list
from warehouse.tables import form

_UPSERT: Final = Upsert(
    form,
    ("shop_key", "form_id", "name", "status", "schema", "draft_schema", "created_at", "updated_at"),
    keys=2,
)
_CONTENT: Final = slice(_UPSERT.columns.index("name"), _UPSERT.columns.index("draft_schema"))
_SCHEMAS: Final = slice(_UPSERT.columns.index("schema"), _UPSERT.columns.index("created_at"))
_CREATED: Final = _UPSERT.columns.index("created_at")
_UPDATED: Final = _UPSERT.columns.index("updated_at")

Row = tuple[Any, ...]


class FormsKind(ReplaceLast):
    name = "forms"
    fields: ClassVar = (
        Field("form_id", UUID, "the form", required=True),
        SHOP_ID,
        Field("name", NAME, "for people", required=True),
        Field("status", replace(ID, missing="draft"), "default: draft"),
        Field("schema", replace(JSON_OBJECT, missing="{}"), "the published form; default: {}"),
        Field("created_at", OLD_INSTANT, "default: updated_at, or the time of the import"),
        Field("updated_at", OLD_INSTANT, "an older version never replaces a newer one"),
    )
    example: ClassVar = {
        "form_id": "0190c4a2-5b7e-7c3d-8f1a-2b3c4d5e6f70",
        "shop_id": "example.myshopify.com",
        "name": "Skin quiz",
        "status": "published",
        "schema": {"steps": []},
        "updated_at": "2026-01-15T09:00:00Z",
    }
    upsert = _UPSERT

    def arrange(self, columns: list[pa.Array]) -> list[pa.Array]:
        # The draft of an imported version is its schema.
        schema = _UPSERT.columns.index("schema")
        return [*columns[: schema + 1], *columns[schema:]]

    def write(self, connection: ArrowConnection, rows: pa.Table) -> Written:
        """Compare the rows, one after the other, with the version that stands, and write the versions
        that stand at the end."""
        # First the shops and then the table, as the API does: nobody waits in a circle.
        shops = sql_list(rows["shop_key"].unique().to_pylist())
        connection.lock_rows("shop", "shop_key", f"shop_key IN ({shops})")
        connection.lock_table(_UPSERT.table.name)
        connection.stage(STAGED, rows.select(list(_UPSERT.key)))
        stored = {row[: _UPSERT.keys]: row for row in _tuples(_stored(connection))}
        # A form that only events have named gives way to every row: they may have come in either order.
        seen = set(_tuples(_stored_keys(connection, IS_ONLY_SEEN)))
        known = {key: row for key, row in stored.items() if key not in seen}
        standing, steps, now = dict(known), [], now_micros()
        for row in _tuples(rows):
            key = row[: _UPSERT.keys]
            old = standing.get(key)
            standing[key] = _stands(known.get(key), old, row, now)
            steps.append((key, old, standing[key]))
        changed = [row for key, row in standing.items() if row != known.get(key)]
        if changed:
            connection.stage(STAGED, _table(changed))
            write(connection, _UPSERT, replaces=bool(stored))
            connection.execute(
                f"UPDATE form SET named_at = {NEVER} WHERE named_at < {NEVER} AND EXISTS "
                f"(SELECT 1 FROM {STAGED} k WHERE k.shop_key = form.shop_key "
                "AND k.form_id = form.form_id)"
            )
            _count(connection, changed, stored)
        written = Written()
        for key, old, row in steps:
            if old is None:
                written.new += 1
            elif row == old or standing[key] == known.get(key):
                written.duplicate += 1
            else:
                written.replaced += 1
        return written


def _stands(stored: Row | None, standing: Row | None, row: Row, now: int) -> Row:
    """The version that stands after a row. `stored`: the version before this chunk; `standing`: the one
    after the rows so far; `row`: the next row, in which a time that it does not state is None."""
    *content, created_at, updated_at = row
    if standing is None:
        created_at = next((at for at in (created_at, updated_at) if at is not None), now)
        return (*content, created_at, created_at if updated_at is None else updated_at)
    if (now if updated_at is None else updated_at) < standing[_UPDATED]:
        return standing
    if updated_at is None and stored and row[_CONTENT] == stored[_CONTENT]:
        # The row undoes an earlier one of this chunk: the form has not changed.
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


def _count(connection: ArrowConnection, changed: list[Row], stored: dict[Row, Row]) -> None:
    """Bring the counts of forms and bytes up to date that the quotas of the API look at."""
    added: dict[int, list[int]] = {}
    for row in changed:
        former = stored.get(row[: _UPSERT.keys])
        count = added.setdefault(row[0], [0, 0])
        count[0] += former is None
        count[1] += _size(row) - (_size(former) if former else 0)
    for shop_key, (forms, size) in added.items():
        connection.execute(
            "UPDATE shop SET form_count = form_count + $1, form_bytes = form_bytes + $2 "
            "WHERE shop_key = $3",
            forms,
            size,
            shop_key,
        )


def _size(row: Row) -> int:
    """The bytes of a version's schema and draft."""
    return sum(len(text.encode()) for text in row[_SCHEMAS])


def _stored(connection: ArrowConnection) -> pa.Table:
    columns = names(_UPSERT.columns, "t.")
    return connection.rows_of(_UPSERT.table, f"SELECT DISTINCT {columns} {_UPSERT.joined}")


def _stored_keys(connection: ArrowConnection, which: str) -> pa.Table:
    columns = names(_UPSERT.key, "t.")
    return connection.rows_of(
        _UPSERT.table, f"SELECT DISTINCT {columns} {_UPSERT.joined} AND {which}"
    )


def _tuples(rows: pa.Table) -> list[Row]:
    return list(zip(*(column.to_pylist() for column in rows.columns), strict=True))


def _table(rows: list[Row]) -> pa.Table:
    kinds = zip(zip(*rows, strict=True), _UPSERT.schema.types, strict=True)
    return pa.table([pa.array(column, kind) for column, kind in kinds], _UPSERT.schema)
