"""Forms that events of other systems name: they become known with their first event, or with a row of kind
`forms` that says what the events told.

A form stands under the id that `form_id_of` makes of its id there. Its name is that of the latest event that
has one, else its id; a row of kind `forms` with our id stands above both.

Anyone can send events to a shop. So forms that are only seen do not count for the quota of the API
(`web/api/form_quota.py`), and have a bound of their own: the first FORMS_PER_SHOP forms with such events
become known, by the instants of their first events. Which ones does not depend on the order in which events
and rows come. A form that had to wait for an earlier event is called by names that came since.
"""

from dataclasses import replace
from functools import cache
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from jobs.importing.kinds.base import Written
from jobs.importing.shops import SHOP_ID
from jobs.importing.values.columns import ChunkColumns
from jobs.importing.values.fields import ID, INSTANT, NAME, UUID, Field
from jobs.run.clock import now_micros
from warehouse.connections.arrow import ArrowConnection, names, schema_of
from warehouse.domain.form_ids import form_id_of, is_uuid
from warehouse.domain.time import NEVER
from warehouse.editions.data_version import next_version
from warehouse.operations.imports import NO_IMPORT
from warehouse.settings import FORMS_PER_SHOP
from warehouse.tables import form, form_seen

FORM_ID: Final = Field("form_id", UUID, "the form", required=True)
# An event that names its source makes its form known.
SOURCE: Final = Field("source", ID, "the system that has the form; `form_id` is then its id there")
FORM_NAME: Final = Field("form_name", NAME, "the form's name there, with `source`")
FIRST_EVENT_AT: Final = Field(
    "first_event_at", INSTANT, "the row says what events told of the form: their first"
)
# The fields of a row of kind `forms` that says what events of another system told of the form, as an
# export does.
SEEN_FIELDS: Final = (
    FIRST_EVENT_AT,
    Field("named_at", replace(INSTANT, missing=0), "the event that its name is from"),
    Field("source", ID, "the format in which its events come"),
    Field("source_id", ID, "its id there"),
)
# Besides the columns of events.
_HAS_SOURCE: Final = "has_source"
_MORE: Final = ("source", "source_id", "form_name", _HAS_SOURCE)

_COLUMNS: Final = (
    *("shop_key", "form_id", "name", "source", "source_id", "first_event_at", "named_at"),
)
_STAGED: Final = "seen_form"
_SEEN: Final = f"FROM form WHERE shop_key = $1 AND first_event_at < {NEVER}"
_RANKED: Final = f"{_SEEN} ORDER BY first_event_at, form_id"
# No event replaces the name of a row of kind `forms`, or of a form that was created here.
_HAS_LATER_NAME: Final = (
    "({new}.named_at > {old}.named_at OR "
    "{new}.named_at = {old}.named_at AND {new}.name > {old}.name)"
)
_TELLS_MORE: Final = (
    "s.first_event_at < f.first_event_at OR s.source_id <> f.source_id OR "
    + _HAS_LATER_NAME.format(new="s", old="f")
)
_LATER: Final = _HAS_LATER_NAME.format(new="excluded", old="form")
_LATER_SEEN: Final = _HAS_LATER_NAME.format(new="excluded", old="form_seen")
# The form that some rows of `form_seen` tell together.
_TOLD: Final = (
    "SELECT shop_key, form_id, name, source, source_id, first AS first_event_at, named_at FROM ("
    "SELECT form_seen.*, MIN(first_event_at) OVER form AS first, ROW_NUMBER() OVER "
    "(PARTITION BY shop_key, form_id ORDER BY named_at DESC, name DESC, import_id) AS position "
    "FROM form_seen WHERE {} WINDOW form AS (PARTITION BY shop_key, form_id)) q WHERE position = 1"
)
# The staged rows of `form_seen` as the events that are left tell them: those that the import brought, those
# that it repeated, and for import 0 and rows of kind `forms`, which tell of events of any import, all.
_TOLD_BY_LEFT: Final = (
    "SELECT t.shop_key, t.form_id, t.import_id, t.name, t.source, t.source_id, "
    "MIN(e.occurred_at) AS first_event_at, CASE WHEN MAX(e.occurred_at) < t.named_at "
    "THEN MAX(e.occurred_at) ELSE t.named_at END AS named_at FROM {0} t JOIN ("
    "SELECT t.import_id, e.form_id, e.occurred_at FROM {0} t "
    "JOIN import_batch b ON b.import_id = t.import_id AND b.shop_key = t.shop_key "
    "JOIN raw_event e ON e.batch_id = b.batch_id AND e.form_id = t.form_id UNION ALL "
    "SELECT t.import_id, e.form_id, e.occurred_at FROM {0} t "
    "JOIN repeated_event p ON p.import_id = t.import_id AND p.shop_key = t.shop_key "
    "JOIN raw_event e ON e.shop_key = p.shop_key AND e.event_id = p.event_id "
    "AND e.form_id = t.form_id UNION ALL "
    "SELECT t.import_id, e.form_id, e.occurred_at FROM {0} t JOIN raw_event e "
    "ON e.shop_key = t.shop_key AND e.form_id = t.form_id AND e.occurred_at >= t.first_event_at "
    "WHERE t.import_id NOT IN (SELECT import_id FROM import_file WHERE kind = 'events')"
    ") e ON e.import_id = t.import_id AND e.form_id = t.form_id "
    "GROUP BY t.shop_key, t.form_id, t.import_id, t.name, t.source, t.source_id, t.named_at"
)
_EARLIER: Final = "excluded.first_event_at < form.first_event_at"
# Nobody has created, imported or edited it.
_IS_ONLY_SEEN: Final = f"named_at < {NEVER} AND draft_schema = ''"


# It is no person's, and our id of a form is the same in every warehouse.
_FOREIGN_ID: Final = replace(ID, may_be_address=False)


def read_form_ids(columns: ChunkColumns) -> dict[str, pa.Array]:
    """The forms of a chunk's events: `form_id`. Where any row names its source, also the columns `_MORE`:
    `source` and `source_id` are empty where the id is ours already."""
    has_source = ~columns.missing(SOURCE.name)
    if not has_source.any():
        return {FORM_ID.name: columns.read(FORM_ID)}
    any_id = replace(FORM_ID, required=False)
    own = columns.read(any_id, only=~has_source).to_pylist()
    foreign = columns.read(replace(any_id, type=_FOREIGN_ID), only=has_source).to_pylist()
    columns.refuse(columns.missing(FORM_ID.name), f"{FORM_ID.name}: missing")
    sources = columns.read(SOURCE).to_pylist()
    shops = columns.read(replace(SHOP_ID, type=_FOREIGN_ID)).to_pylist()
    our_id = cache(form_id_of)
    ids = [
        our_id(shop, source, id) if id else own_id
        for shop, source, id, own_id in zip(shops, sources, foreign, own, strict=True)
    ]
    is_foreign = [bool(id) and not is_uuid(id.lower()) for id in foreign]
    return {
        FORM_ID.name: pa.array(ids, pa.string()),
        "source": pc.if_else(is_foreign, sources, ""),
        "source_id": pc.if_else(is_foreign, foreign, ""),
        FORM_NAME.name: columns.read(FORM_NAME),
        _HAS_SOURCE: pa.array(has_source),
    }


def events_of(rows: pa.Table) -> pa.Table:
    """Events as they are stored: without what names their forms in another system."""
    return rows.drop_columns([name for name in _MORE if name in rows.column_names])


def named_by(rows: pa.Table) -> pa.Table | None:
    """The forms that events with a source name: one row each in the columns of `form`, None without any."""
    if _HAS_SOURCE not in rows.column_names:
        return None
    rows = rows.filter(rows[_HAS_SOURCE])
    if not rows.num_rows:
        return None
    key = ("shop_key", "form_id", *_MORE)
    counted = rows.group_by(list(key)).aggregate([("occurred_at", "min"), ("occurred_at", "max")])
    forms: dict[tuple[int, str], dict[str, Any]] = {}
    for row in counted.to_pylist():
        own_key = (row["shop_key"], row["form_id"])
        seen = forms.setdefault(own_key, row | {"first_event_at": NEVER, "named_at": 0, "name": ""})
        seen["first_event_at"] = min(seen["first_event_at"], row["occurred_at_min"])
        if row["form_name"]:
            name = (row["occurred_at_max"], row["form_name"])
            seen["named_at"], seen["name"] = max((seen["named_at"], seen["name"]), name)
    for seen in forms.values():
        seen["name"] = seen["name"] or seen["source_id"] or seen["form_id"]
    return pa.Table.from_pylist(list(forms.values()), schema_of(form, _COLUMNS))


def see(connection: ArrowConnection, forms: pa.Table, import_id: int) -> None:
    """Store what these forms (`named_by`) tell that is not stored, and that this import told it. The caller
    commits."""
    connection.stage(_STAGED, forms)
    connection.execute(
        f"INSERT INTO form_seen ({names(_COLUMNS)}, import_id) SELECT {names(_COLUMNS)}, $1 "
        f"FROM {_STAGED} WHERE true ON CONFLICT (shop_key, form_id, import_id) DO UPDATE SET "
        "source = excluded.source, source_id = excluded.source_id, "
        f"name = CASE WHEN {_LATER_SEEN} THEN excluded.name ELSE form_seen.name END, "
        f"named_at = CASE WHEN {_LATER_SEEN} THEN excluded.named_at ELSE form_seen.named_at END, "
        "first_event_at = CASE WHEN excluded.first_event_at < form_seen.first_event_at "
        "THEN excluded.first_event_at ELSE form_seen.first_event_at END",
        import_id,
    )
    # Hardly any shop has news: one look at all of them, in place of one at each.
    news = (
        f"SELECT DISTINCT s.shop_key FROM {_STAGED} s LEFT JOIN form f ON f.shop_key = s.shop_key "
        f"AND f.form_id = s.form_id WHERE f.form_id IS NULL OR {_TELLS_MORE} ORDER BY s.shop_key"
    )
    for shop_key in connection.table(news)["shop_key"].to_pylist():
        _make_known(connection, shop_key)


def take_back(connection: ArrowConnection, import_id: int) -> None:
    """Have the forms known that would be if events of an import had never named any. The caller commits."""
    rows = connection.rows_of(
        form_seen, "SELECT shop_key, form_id FROM form_seen WHERE import_id = $1", import_id
    )
    if not rows.num_rows:
        return
    for shop_key in rows["shop_key"].unique().to_pylist():
        connection.lock_rows("shop", "shop_key", "shop_key = $1", shop_key)
    connection.execute("DELETE FROM form_seen WHERE import_id = $1", import_id)
    _tell_anew(connection, rows)


def take_back_removed(connection: ArrowConnection, shop_key: int) -> None:
    """Have the forms of a shop known that would be if the events had never come that are staged as
    `removed_event`, and deleted. The caller keeps imports from writing, has locked the shop, and commits.

    No raw row has the name that came with it. So a name stays, as if the last event that is left had it. And
    all stays as it is where RAW_DAYS took events: those that are left do not tell of them.
    """
    if connection.value("SELECT 1 FROM kept_facts WHERE shop_key = $1 LIMIT 1", shop_key):
        return
    connection.lock_table("form_seen")
    removed = "IN (SELECT form_id, occurred_at FROM removed_event)"
    rows = connection.rows_of(
        form_seen,
        "SELECT * FROM form_seen WHERE shop_key = $1 "
        f"AND ((form_id, first_event_at) {removed} OR (form_id, named_at) {removed})",
        shop_key,
    )
    if not rows.num_rows:
        return
    staged = connection.stage(_STAGED, rows)
    connection.analyze(staged)
    told = connection.rows_of(form_seen, _TOLD_BY_LEFT.format(staged))
    key = "shop_key, form_id, import_id"
    connection.execute(f"DELETE FROM form_seen WHERE ({key}) IN (SELECT {key} FROM {staged})")
    connection.append(form_seen.name, told)
    _tell_anew(connection, rows)


def _tell_anew(connection: ArrowConnection, rows: pa.Table) -> None:
    """Have forms (`shop_key`, `form_id`) stand as `form_seen` tells of them now."""
    named = (
        f"EXISTS (SELECT 1 FROM {connection.stage(_STAGED, rows)} s "
        "WHERE s.shop_key = form.shop_key AND s.form_id = form.form_id)"
    )
    connection.execute(f"DELETE FROM form WHERE {_IS_ONLY_SEEN} AND {named}")
    connection.execute(
        f"UPDATE form SET source = '', source_id = '', first_event_at = {NEVER}, "
        f"named_at = CASE WHEN named_at < {NEVER} THEN 0 ELSE {NEVER} END WHERE {named}"
    )
    for shop_key in rows["shop_key"].unique().to_pylist():
        see_again(connection, shop_key)


def see_again(connection: ArrowConnection, shop_key: int) -> None:
    """Make known again the forms that the events of a shop's imports name. The caller commits."""
    told = connection.rows_of(form_seen, _TOLD.format("shop_key = $1"), shop_key)
    if told.num_rows:
        connection.stage(_STAGED, told)
        _make_known(connection, shop_key)
    connection.execute(
        f"UPDATE shop SET {next_version(now_micros())} WHERE shop_key = $1", shop_key
    )


def forget(connection: ArrowConnection, expired: str) -> None:
    """Merge what expired imports (a subquery) told into version 0. The caller commits."""
    columns = names(_COLUMNS)
    of_old = f"import_id = {NO_IMPORT} OR import_id IN ({expired})"
    told = connection.rows_of(form_seen, _TOLD.format(of_old))
    connection.execute(f"DELETE FROM form_seen WHERE {of_old}")
    if told.num_rows:
        connection.execute(
            f"INSERT INTO form_seen ({columns}, import_id) SELECT {columns}, {NO_IMPORT} "
            f"FROM {connection.stage(_STAGED, told)}"
        )


def _make_known(connection: ArrowConnection, shop_key: int) -> None:
    """Store what the staged forms of a shop tell that is not stored."""
    most = FORMS_PER_SHOP.get()
    news = (
        f"FROM {_STAGED} s "
        "LEFT JOIN form f ON f.shop_key = s.shop_key AND f.form_id = s.form_id "
        f"LEFT JOIN (SELECT first_event_at, form_id {_RANKED} LIMIT 1 OFFSET {most - 1}) last "
        "ON true WHERE s.shop_key = $1 AND CASE WHEN f.form_id IS NOT NULL "
        f"THEN {_TELLS_MORE} "
        "ELSE last.form_id IS NULL OR s.first_event_at < last.first_event_at OR "
        "s.first_event_at = last.first_event_at AND s.form_id < last.form_id END"
    )
    if not connection.value(f"SELECT COUNT(*) {news}", shop_key):
        return
    connection.lock_rows("shop", "shop_key", "shop_key = $1", shop_key)
    connection.execute(
        f"INSERT INTO form ({names(_COLUMNS)}, status, created_at, updated_at) "
        f"SELECT {names(_COLUMNS, 's.')}, 'published', s.first_event_at, s.first_event_at {news} "
        "ON CONFLICT (shop_key, form_id) DO UPDATE SET "
        "source = excluded.source, source_id = excluded.source_id, "
        f"name = CASE WHEN {_LATER} THEN excluded.name ELSE form.name END, "
        f"named_at = CASE WHEN {_LATER} THEN excluded.named_at ELSE form.named_at END, "
        f"first_event_at = CASE WHEN {_EARLIER} THEN excluded.first_event_at "
        "ELSE form.first_event_at END, "
        f"created_at = CASE WHEN {_EARLIER} AND form.named_at < {NEVER} "
        "THEN excluded.first_event_at ELSE form.created_at END, "
        f"updated_at = CASE WHEN {_EARLIER} AND form.named_at < {NEVER} AND form.draft_schema = '' "
        "THEN excluded.first_event_at ELSE form.updated_at END",
        shop_key,
    )
    connection.execute(
        f"DELETE {_SEEN} AND {_IS_ONLY_SEEN} "
        f"AND form_id NOT IN (SELECT form_id {_RANKED} LIMIT {most})",
        shop_key,
    )
    connection.execute(
        f"UPDATE shop SET {next_version(now_micros())} WHERE shop_key = $1", shop_key
    )


def see_told(connection: ArrowConnection, rows: pa.Table, import_id: int) -> Written:
    """Store rows of kind `forms` with SEEN_FIELDS, the last of each form, and the drafts that people made of
    such forms. The caller holds the lock of the table and commits."""
    before = _known(connection)
    last = {(row["shop_key"], row["form_id"]): row for row in rows.to_pylist()}
    for shop_key in rows["shop_key"].unique().to_pylist():
        told = [row for key, row in last.items() if key[0] == shop_key]
        see(connection, pa.Table.from_pylist(told, schema_of(form, _COLUMNS)), import_id)
    for key, row in last.items():
        if row["has_draft"]:
            _draft(connection, key, row)
    new = _known(connection) - before
    return Written(new, rows.num_rows - new)


def _draft(connection: ArrowConnection, key: tuple[int, str], row: dict[str, Any]) -> None:
    """Store the draft of a form that is only seen."""
    only_seen = f"shop_key = $1 AND form_id = $2 AND {_IS_ONLY_SEEN}"
    connection.execute(
        "UPDATE shop SET form_bytes = form_bytes + $3 WHERE shop_key = $1 "
        f"AND EXISTS (SELECT 1 FROM form WHERE {only_seen})",
        *key,
        len(row["draft_schema"].encode()),
    )
    connection.execute(
        f"UPDATE form SET draft_schema = $3, updated_at = $4 WHERE {only_seen}",
        *key,
        row["draft_schema"],
        row["first_event_at"] if row["updated_at"] is None else row["updated_at"],
    )


def _known(connection: ArrowConnection) -> int:
    return int(connection.value("SELECT COUNT(*) FROM form"))
