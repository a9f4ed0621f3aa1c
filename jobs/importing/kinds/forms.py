"""Forms: one row per shop and `form_id`, the version with the latest `updated_at`."""

from dataclasses import replace
from typing import ClassVar, Final

import pyarrow as pa
import pyarrow.compute as pc

from jobs.importing.kinds import seen_forms
from jobs.importing.kinds.base import Written
from jobs.importing.kinds.form_versions import FormVersions, Row
from jobs.importing.kinds.replace_last import STAGED, ReplaceLast, TakenBack, Upsert, write
from jobs.importing.kinds.seen_forms import FIRST_EVENT_AT, SEEN_FIELDS
from jobs.importing.shops import SHOP_ID, ImportedShops
from jobs.importing.values.columns import ChunkColumns
from jobs.importing.values.fields import ID, JSON_OBJECT, NAME, OLD_INSTANT, UUID, Field
from jobs.run.clock import now_micros
from warehouse.connections.arrow import ArrowConnection, names
from warehouse.domain.time import NEVER
from warehouse.editions.data_version import next_version
from warehouse.editions.pending_batches import sql_list
from warehouse.tables import form, form_version

_UPSERT: Final = Upsert(
    form,
    ("shop_key", "form_id", "name", "status", "schema", "draft_schema", "created_at", "updated_at"),
    keys=2,
)
_DRAFT: Final = _UPSERT.columns.index("draft_schema")
_CONTENT: Final = slice(_UPSERT.columns.index("name"), _DRAFT)
_SCHEMAS: Final = slice(_UPSERT.columns.index("schema"), _UPSERT.columns.index("created_at"))
_CREATED: Final = _UPSERT.columns.index("created_at")
_UPDATED: Final = _UPSERT.columns.index("updated_at")

# A form is one of the staged ones.
_STAGED: Final = (
    f"EXISTS (SELECT 1 FROM {STAGED} k "
    "WHERE k.shop_key = form.shop_key AND k.form_id = form.form_id)"
)


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
        Field("draft_schema", JSON_OBJECT, "the draft, while it is another; default: `schema`"),
        *SEEN_FIELDS,
    )
    upsert = _UPSERT

    def check(self, columns: ChunkColumns, shops: ImportedShops) -> pa.Table:
        """The columns of `_UPSERT`; of a file that has forms as events tell of them also those of
        SEEN_FIELDS."""
        own = [field for field in self.fields if field not in (SHOP_ID, *SEEN_FIELDS)]
        read = {"shop_key": columns.read(shops.key_field())} | columns.read_all(own)
        is_drafted = pc.not_equal(read["draft_schema"], "")
        read["draft_schema"] = pc.if_else(is_drafted, read["draft_schema"], read["schema"])
        rows = pa.table({name: read[name] for name in _UPSERT.columns}, _UPSERT.schema)
        if columns.missing(FIRST_EVENT_AT.name).all():
            return rows
        rows = rows.append_column("has_draft", is_drafted)
        for name, column in columns.read_all(SEEN_FIELDS).items():
            rows = rows.append_column(name, column)
        return rows

    def write(self, connection: ArrowConnection, rows: pa.Table, import_id: int) -> Written:
        """Compare the rows, one after the other, with the version that stands, and write the versions
        that stand at the end. Rows of forms as events tell of them come first."""
        # First the shops and then the table, as the API does: nobody waits in a circle.
        shops = sql_list(rows["shop_key"].unique().to_pylist())
        connection.lock_rows("shop", "shop_key", f"shop_key IN ({shops})")
        connection.lock_table(_UPSERT.table.name)
        written = Written()
        if FIRST_EVENT_AT.name in rows.column_names:
            told = pc.less(rows[FIRST_EVENT_AT.name], NEVER)
            written = seen_forms.see_told(connection, rows.filter(told), import_id)
            rows = rows.filter(pc.invert(told)).select(list(_UPSERT.columns))
            if not rows.num_rows:
                return written
        connection.stage(STAGED, rows.select(list(_UPSERT.key)))
        stored = {row[: _UPSERT.keys]: row for row in _tuples(_stored(connection))}
        # A form that only events have named gives way to every row, unless its draft was edited: they may
        # have come in either order.
        seen = set(_tuples(_stored_keys(connection, f"named_at < {NEVER}")))
        known = {key: row for key, row in stored.items() if key not in seen or row[_DRAFT]}
        standing, steps, now = dict(known), [], now_micros()
        versions = FormVersions(connection, _stands, now)
        said = _tuples(rows)
        for row in said:
            key = row[: _UPSERT.keys]
            old = standing.get(key)
            standing[key] = _stands(known.get(key), old, row, now)
            steps.append((key, old, standing[key]))
        changed = [row for key, row in standing.items() if row != known.get(key)]
        if changed:
            _write(connection, changed, stored, seen)
        versions.keep(import_id, said, known, standing)
        for key, old, row in steps:
            if old is None:
                written.new += 1
            elif row == old or standing[key] == known.get(key):
                written.duplicate += 1
            else:
                written.replaced += 1
        return written

    def take_back(self, connection: ArrowConnection, import_id: int) -> TakenBack:
        """A form that was edited here since stays. One that events have named stands as they name it."""
        key = names(_UPSERT.key)
        keys = f"SELECT {key} FROM form_version WHERE import_id = $1"
        told = f"SELECT {key} FROM form_seen WHERE import_id = $1"
        shops = connection.table(
            f"SELECT DISTINCT shop_key FROM ({keys} UNION {told}) k ORDER BY shop_key", import_id
        )
        connection.commit()
        touched = shops.column(0).to_pylist()
        connection.lock_rows("shop", "shop_key", f"shop_key IN ({sql_list(touched)})")
        connection.lock_table(_UPSERT.table.name)
        seen_forms.take_back(connection, import_id)
        rows = connection.rows_of(form_version, keys, import_id)
        if not rows.num_rows:
            return TakenBack()
        connection.stage(STAGED, rows)
        stored = {row[: _UPSERT.keys]: row for row in _tuples(_stored(connection))}
        seen = set(_tuples(_stored_keys(connection, f"named_at < {NEVER}")))
        known = {key: row for key, row in stored.items() if key not in seen or row[_DRAFT]}
        after = FormVersions(connection, _stands, now_micros()).without(import_id, known)
        gone = [key for key, row in after.items() if row is None and key in stored]
        restored = [row for key, row in after.items() if row not in (None, stored.get(key))]
        if restored:
            _write(connection, restored, stored, seen)
        if gone:
            _delete(connection, [stored[key] for key in gone])
            for shop_key in touched:
                seen_forms.see_again(connection, shop_key)
        return TakenBack(len(gone), len(restored), rows.num_rows - len(gone) - len(restored))


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


def forget(connection: ArrowConnection, expired: str) -> None:
    """Merge the versions of expired imports (a subquery) into version 0. The caller commits."""
    connection.lock_table(_UPSERT.table.name)
    rows = connection.rows_of(
        form_version,
        f"SELECT DISTINCT shop_key, form_id, import_id FROM form_version WHERE import_id IN ({expired})",
    )
    if rows.num_rows:
        connection.stage(STAGED, rows)
        FormVersions(connection, _stands, now_micros()).forget(set(rows["import_id"].to_pylist()))


def _write(
    connection: ArrowConnection, changed: list[Row], stored: dict[Row, Row], seen: set[Row]
) -> None:
    """Write the versions that stand."""
    connection.stage(STAGED, _table(changed))
    write(connection, _UPSERT, replaces=bool(stored))
    connection.execute(f"UPDATE form SET named_at = {NEVER} WHERE named_at < {NEVER} AND {_STAGED}")
    _count(connection, changed, stored, seen)


def _delete(connection: ArrowConnection, rows: list[Row]) -> None:
    connection.stage(STAGED, _table(rows))
    connection.execute(f"DELETE FROM form WHERE {_STAGED}")
    for row in rows:
        connection.execute(
            f"UPDATE shop SET {next_version(now_micros())}, form_count = form_count - 1, "
            "form_bytes = form_bytes - $1 WHERE shop_key = $2",
            _size(row),
            row[0],
        )


def _count(
    connection: ArrowConnection, changed: list[Row], stored: dict[Row, Row], seen: set[Row]
) -> None:
    """Bring the counts of forms and bytes up to date that the quotas of the API look at. `seen`: the keys
    of forms that counted as none before."""
    added: dict[int, list[int]] = {}
    for row in changed:
        key = row[: _UPSERT.keys]
        former = stored.get(key)
        count = added.setdefault(row[0], [0, 0])
        count[0] += former is None or key in seen
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
