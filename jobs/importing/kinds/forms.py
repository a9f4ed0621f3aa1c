"""Forms: one row per shop and `form_id`, the version with the latest `updated_at`.

An import keeps a version of each form that it states, and `settle` has one of them stand, as for other kinds.
A version without `updated_at` is as old as its import, but for the first: that one is as old as its
`created_at`, where it states one. Where a version without a time says what the one before it says, it counts
as none: so an import of the same file changes nothing. Version 0 is what people made of the form here. It is
kept when an import or an undo finds a form that is not what its versions say.
"""

from dataclasses import dataclass, replace
from typing import ClassVar, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from jobs.importing.kinds import seen_forms
from jobs.importing.kinds.base import Written
from jobs.importing.kinds.replace_last import (
    STAGED,
    ReplaceLast,
    TakenBack,
    Upsert,
    differing,
    last_of_each_key,
    same_key,
    settle,
)
from jobs.importing.kinds.seen_forms import FIRST_EVENT_AT, IS_ONLY_SEEN, SEEN_FIELDS
from jobs.importing.shops import SHOP_ID, ImportedShops
from jobs.importing.values.columns import ChunkColumns
from jobs.importing.values.fields import ID, JSON_OBJECT, NAME, OLD_INSTANT, UUID, Field
from warehouse.connections.arrow import ArrowConnection, names
from warehouse.domain.time import NEVER
from warehouse.editions.pending_batches import sql_list
from warehouse.intake.imports import NO_IMPORT
from warehouse.tables import form, form_version

# The time of a version, in its import.
_STATED_AT: Final = (
    f"CASE WHEN {{0}}.updated_at = {NEVER} THEN {{0}}.written_at ELSE {{0}}.updated_at END"
)
# The time of a version among those of all imports: the first one has the form since it was created.
_AT: Final = (
    f"CASE WHEN {{0}}.updated_at = {NEVER} AND {{0}}.created_at < {NEVER} AND NOT EXISTS (SELECT 1 "
    "FROM form_version e WHERE e.shop_key = {0}.shop_key AND e.form_id = {0}.form_id "
    "AND (e.written_at, e.import_id) < ({0}.written_at, {0}.import_id)) "
    f"THEN {{0}}.created_at ELSE {_STATED_AT} END"
)
_LATEST: Final = "{0} DESC, {1}.written_at DESC, {1}.import_id DESC"
# A version that adds nothing to the one before it: a draft that people made of that stays.
_REPEATS: Final = "{} AND {}".format(
    " AND ".join(f"v.{name} = LAG(v.{name}) OVER earlier" for name in ("name", "status", "schema")),
    f"(v.updated_at = {NEVER} OR v.updated_at = LAG({_AT.format('v')}) OVER earlier)",
)


@dataclass(frozen=True)
class _FormUpsert(Upsert):
    """The replacement of forms. `named_at` is NEVER once an import has stated the form."""

    def standing(self, which: str = "true") -> str:
        """SQL for the versions that stand. `created_at` is that of the latest version that states one, else
        the time of the first."""
        stated = (
            f"SELECT v.created_at FROM {self.version} v WHERE {same_key(self.key, 'v', 's')} "
            f"AND v.created_at < {NEVER} AND {which} "
            f"ORDER BY {_LATEST.format(_AT.format('v'), 'v')} LIMIT 1"
        )
        versions = (
            "SELECT v.import_id, v.written_at, v.shop_key, v.form_id, v.name, v.status, v.schema, "
            f"v.draft_schema, v.named_at, {_AT.format('v')} AS updated_at, COALESCE({_REPEATS}, false) "
            f"AS repeats, MIN({_AT.format('v')}) OVER (PARTITION BY v.shop_key, v.form_id) AS began "
            f"FROM {self.version} v JOIN {STAGED} k ON {same_key(self.key, 'k', 'v')} WHERE {which} "
            "WINDOW earlier AS (PARTITION BY v.shop_key, v.form_id "
            f"ORDER BY {_AT.format('v')}, v.written_at, v.import_id)"
        )
        latest = _LATEST.format("q.updated_at", "q")
        return (
            f"(SELECT s.*, COALESCE(({stated}), s.began) AS created_at FROM (SELECT q.*, ROW_NUMBER() "
            f"OVER (PARTITION BY q.shop_key, q.form_id ORDER BY {latest}) AS place "
            f"FROM ({versions}) q WHERE NOT q.repeats) s WHERE s.place = 1)"
        )


_UPSERT: Final = _FormUpsert(
    form,
    (
        *("shop_key", "form_id", "name", "status", "schema", "draft_schema"),
        *("created_at", "updated_at", "named_at"),
    ),
    keys=2,
)
# The columns of which a row states each.
_STATED: Final = _UPSERT.columns[:-1]
_KEPT: Final = ", ".join(f"{name} = excluded.{name}" for name in (*_UPSERT.values, "written_at"))
_OF_STAGED: Final = f"FROM form JOIN {STAGED} k ON {same_key(_UPSERT.key, 'form', 'k')}"


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
        """The columns `_STATED`, in which a time that a row does not state is null; of a file that has forms
        as events tell of them also those of SEEN_FIELDS."""
        own = [field for field in self.fields if field not in (SHOP_ID, *SEEN_FIELDS)]
        read = {"shop_key": columns.read(shops.key_field())} | columns.read_all(own)
        is_drafted = pc.not_equal(read["draft_schema"], "")
        read["draft_schema"] = pc.if_else(is_drafted, read["draft_schema"], read["schema"])
        rows = pa.table(
            {name: read[name] for name in _STATED}, pa.schema(list(_UPSERT.schema)[: len(_STATED)])
        )
        if columns.missing(FIRST_EVENT_AT.name).all():
            return rows
        rows = rows.append_column("has_draft", is_drafted)
        for name, column in columns.read_all(SEEN_FIELDS).items():
            rows = rows.append_column(name, column)
        return rows

    def write(self, connection: ArrowConnection, rows: pa.Table, import_id: int) -> Written:
        """Write forms; first those that events told of."""
        _lock(connection, rows["shop_key"].unique().to_pylist())
        written = Written()
        if FIRST_EVENT_AT.name in rows.column_names:
            told = pc.less(rows[FIRST_EVENT_AT.name], NEVER)
            written = seen_forms.see_told(connection, rows.filter(told), import_id)
            rows = rows.filter(pc.invert(told)).select(list(_STATED))
            if not rows.num_rows:
                return written
        now = connection.now_micros()
        times = pc.fill_null(rows["updated_at"], now)
        last = last_of_each_key(rows.take(pc.sort_indices(times)), _UPSERT.key)
        for name in ("created_at", "updated_at"):
            place = last.column_names.index(name)
            last = last.set_column(place, name, pc.fill_null(last[name], NEVER))
        connection.stage(STAGED, last)
        _keep_edited(connection, now)
        connection.execute(
            f"INSERT INTO form_version ({names(_STATED)}, named_at, import_id, written_at) "
            f"SELECT {names(_STATED)}, {NEVER}, $1, $2 FROM {STAGED} WHERE true "
            f"ON CONFLICT (shop_key, form_id, import_id) DO UPDATE SET {_KEPT} "
            f"WHERE {_STATED_AT.format('excluded')} >= {_STATED_AT.format('form_version')}",
            import_id,
            now,
        )
        # A form that only events have named is new.
        seen = connection.value(f"SELECT COUNT(*) {_OF_STAGED} WHERE {IS_ONLY_SEEN}")
        new, replaced, _ = _settle(connection, may_go=False)
        written.new += new + seen
        written.replaced += replaced - seen
        written.duplicate += rows.num_rows - new - replaced
        return written

    def take_back(self, connection: ArrowConnection, import_id: int) -> TakenBack:
        """Store the forms that would stand if an import had never come. A form that was edited here since
        stays. One that events have named stands as they name it."""
        key = names(_UPSERT.key)
        keys = f"SELECT {key} FROM form_version WHERE import_id = $1"
        told = f"SELECT {key} FROM form_seen WHERE import_id = $1"
        shops = connection.table(
            f"SELECT DISTINCT shop_key FROM ({keys} UNION {told}) k ORDER BY shop_key", import_id
        )
        connection.commit()
        touched = shops.column(0).to_pylist()
        _lock(connection, touched)
        seen_forms.take_back(connection, import_id)
        rows = connection.rows_of(form_version, keys, import_id)
        if not rows.num_rows:
            return TakenBack()
        connection.stage(STAGED, rows)
        _keep_edited(connection, connection.now_micros())
        connection.execute("DELETE FROM form_version WHERE import_id = $1", import_id)
        _, restored, gone = _settle(connection, may_go=True)
        if gone:
            for shop_key in touched:
                seen_forms.see_again(connection, shop_key)
        return TakenBack(gone, restored, rows.num_rows - gone - restored)

    def forget(self, connection: ArrowConnection, expired: str) -> None:
        connection.lock_table(_UPSERT.table.name)
        # The versions of expired imports become version 0.
        rows = connection.rows_of(
            form_version,
            f"SELECT DISTINCT shop_key, form_id FROM form_version WHERE import_id IN ({expired})",
        )
        connection.stage(STAGED, rows)
        columns = names(_UPSERT.columns)
        old = f"(v.import_id = {NO_IMPORT} OR v.import_id IN ({expired}))"
        connection.execute(
            f"INSERT INTO form_version ({columns}, import_id, written_at) SELECT {columns}, {NO_IMPORT}, "
            f"written_at FROM {_UPSERT.standing(old)} v WHERE true "
            f"ON CONFLICT (shop_key, form_id, import_id) DO UPDATE SET {_KEPT}"
        )
        connection.execute(f"DELETE FROM form_version WHERE import_id IN ({expired})")
        # The form says the same, until an import writes it.
        connection.execute(
            f"DELETE FROM form_version AS v WHERE import_id = {NO_IMPORT} AND NOT EXISTS (SELECT 1 FROM "
            f"form_version n WHERE {same_key(_UPSERT.key, 'n', 'v')} AND n.import_id <> {NO_IMPORT})"
        )


def _lock(connection: ArrowConnection, shops: list[int]) -> None:
    """Lock the shops and then the table, in the order of the API: so nobody waits in a circle."""
    connection.lock_rows("shop", "shop_key", f"shop_key IN ({sql_list(shops)})")
    connection.lock_table(_UPSERT.table.name)


def _keep_edited(connection: ArrowConnection, now: int) -> None:
    """Keep those staged forms as version 0 that are not what their versions say. A form that only events have
    named is none, unless its draft was edited: it gives way to every row, in whichever order they came."""
    connection.execute(
        f"INSERT INTO form_version ({names(_UPSERT.columns)}, import_id, written_at) "
        f"SELECT {names(_UPSERT.columns, 'form.')}, {NO_IMPORT}, {now - 1} {_OF_STAGED} "
        f"LEFT JOIN {_UPSERT.standing()} v ON {same_key(_UPSERT.key, 'v', 'form')} "
        f"WHERE (v.import_id IS NULL OR {differing(_UPSERT, 'form', 'v')}) AND NOT ({IS_ONLY_SEEN}) "
        f"ON CONFLICT (shop_key, form_id, import_id) DO UPDATE SET {_KEPT}"
    )


def _settle(connection: ArrowConnection, *, may_go: bool) -> tuple[int, int, int]:
    """Settle the staged forms (see `settle`), and bring the counts of forms and bytes up to date, which the
    quotas of the API look at."""
    before = _counted(connection)
    changes = settle(connection, _UPSERT, may_go=may_go)
    after = _counted(connection) if any(changes) else before
    none = np.zeros(2, np.int64)
    for shop_key in sorted(before.keys() | after.keys()):
        added = after.get(shop_key, none) - before.get(shop_key, none)
        connection.execute(
            "UPDATE shop SET form_count = form_count + $1, form_bytes = form_bytes + $2 "
            "WHERE shop_key = $3",
            *added.tolist(),
            shop_key,
        )
    return changes


def _counted(connection: ArrowConnection) -> dict[int, np.ndarray]:
    """The number of staged forms that count for the quota, and the bytes of all, by shop."""
    rows = connection.table(
        f"SELECT form.shop_key, CAST(SUM(CASE WHEN named_at = {NEVER} THEN 1 ELSE 0 END) AS BIGINT), "
        "CAST(SUM(octet_length(form.schema) + octet_length(form.draft_schema)) AS BIGINT) "
        f"{_OF_STAGED} GROUP BY form.shop_key"
    )
    columns = (column.to_pylist() for column in rows.columns)
    return {key: np.array(counts) for key, *counts in zip(*columns, strict=True)}
