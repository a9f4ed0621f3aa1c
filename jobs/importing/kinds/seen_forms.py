"""Forms that events of other systems name: they become known with their first event, or with a row of kind
`forms` that says what the events told.

A form stands under the id that `form_id_of` makes of its id there. Its name is the last that came with an
event, else its id; a row of kind `forms` with our id, and a form that was created here, stand above both.

Anyone can send events to a shop, and state any time in them. So forms that are only seen do not count for the
quota of the API (`web/api/form_quota.py`), and have places of their own: FORMS_PER_SHOP for those that the
collector took from pages of the shop, and as many for others. While there are places, forms become known in
the order of their arrival; afterwards the places go to those that have visitors (`form_places.py`). Names
come in the order of their arrival, too: no stated time puts a stranger's before others.
"""

from dataclasses import replace
from functools import cache
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from jobs.importing.kinds import form_places
from jobs.importing.kinds.append_only import Inserted
from jobs.importing.kinds.base import Written
from jobs.importing.shops import SHOP_ID
from jobs.importing.values.columns import ChunkColumns
from jobs.importing.values.fields import FLAG, ID, INSTANT, NAME, UUID, Field
from warehouse.connections.arrow import ArrowConnection, names, schema_of
from warehouse.domain import tracking_calls
from warehouse.domain.hash_ids import form_id_of, is_uuid
from warehouse.domain.time import EARLIEST, NEVER, now_micros
from warehouse.domain.tracking_calls import SOURCE as TRACKING_CALLS
from warehouse.editions.editions import next_version
from warehouse.editions.pending_batches import sql_list
from warehouse.forms.seen_forms import BY_MEMBER, full_shops
from warehouse.intake.imports import NO_IMPORT
from warehouse.settings import FORMS_PER_SHOP
from warehouse.tables import form, form_seen

FORM_ID: Final = Field("form_id", UUID, "the form", required=True)
# An event that names its source makes its form known.
SOURCE: Final = Field(
    "source",
    ID,
    f"`{TRACKING_CALLS}`: of a tracking call; `form_id` is then the id that the call gives",
)
FORM_NAME: Final = Field("form_name", NAME, "the form's name there, with `source`")
ON_OWN_PAGE: Final = Field(
    tracking_calls.ON_OWN_PAGE, FLAG, "the write key names the origin of the page; with `source`"
)
FIRST_EVENT_AT: Final = Field(
    "first_event_at", INSTANT, "the row says what events told of the form: their first"
)
# The fields of a row of kind `forms` that says what events of another system told of the form, as an
# export does.
SEEN_FIELDS: Final = (
    FIRST_EVENT_AT,
    Field("named_at", replace(INSTANT, missing=0), "when its name came"),
    Field("source", ID, "the format in which its events come"),
    Field("source_id", ID, "its id there"),
)
# Columns besides those of events.
_HAS_SOURCE: Final = "has_source"
_MORE: Final = ("source", "source_id", "form_name", ON_OWN_PAGE.name, _HAS_SOURCE)

_COLUMNS: Final = (
    *("shop_key", "form_id", "name", "source", "source_id", "first_event_at", "named_at"),
    ON_OWN_PAGE.name,
)
# When an import first named the form: besides the columns of `form`.
_TOLD_COLUMNS: Final = (*_COLUMNS, "seen_at")
_NOT_SEEN: Final = {"first_event_at": NEVER, "seen_at": NEVER, "on_own_page": 0}
_STAGED: Final = "seen_form"
_CHOSEN: Final = "chosen_form"
# A name that only events have which were there before: each that comes is later.
_REPEATED: Final = EARLIEST
# No event replaces the name of a row of kind `forms`, or of a form that was created here.
_HAS_LATER_NAME: Final = (
    "({new}.named_at > {old}.named_at OR "
    "{new}.named_at = {old}.named_at AND {new}.name > {old}.name)"
)
_TELLS_MORE: Final = (
    "s.first_event_at < f.first_event_at OR s.source_id <> f.source_id OR "
    "s.on_own_page > f.on_own_page OR " + _HAS_LATER_NAME.format(new="s", old="f")
)
_LATER: Final = _HAS_LATER_NAME.format(new="excluded", old="form")
_LATER_SEEN: Final = _HAS_LATER_NAME.format(new="excluded", old="form_seen")
# The form that some rows of `form_seen` tell together.
_TOLD: Final = (
    "SELECT shop_key, form_id, name, source, source_id, first AS first_event_at, named_at, "
    "own AS on_own_page, came AS seen_at FROM (SELECT form_seen.*, MAX(on_own_page) OVER form AS own, "
    "MIN(first_event_at) OVER form AS first, MIN(seen_at) OVER form AS came, "
    "ROW_NUMBER() OVER (PARTITION BY shop_key, form_id ORDER BY named_at DESC, name DESC, import_id) "
    "AS position FROM form_seen WHERE {} WINDOW form AS (PARTITION BY shop_key, form_id)) q "
    "WHERE position = 1"
)
_EARLIER: Final = "excluded.first_event_at < form.first_event_at"
# Nobody has created, imported or edited it.
IS_ONLY_SEEN: Final = f"form.named_at < {NEVER} AND form.draft_schema = ''"


# An id of a form is no person's, and ours is the same in every warehouse.
_FOREIGN_ID: Final = replace(ID, may_be_address=False)


def read_form_ids(columns: ChunkColumns) -> dict[str, pa.Array]:
    """The forms of a chunk's events: `form_id`. Where any row is of a tracking call, also the columns
    `_MORE`: `source` and `source_id` are empty where the id is ours already. People's own files may have a
    column of that name for something else: it is not read."""
    has_source = ~columns.missing(SOURCE.name)
    if has_source.any():
        has_source &= [value == TRACKING_CALLS for value in columns.objects(SOURCE.name)]
    if not has_source.any():
        return {FORM_ID.name: columns.read(FORM_ID)}
    any_id = replace(FORM_ID, required=False)
    own, foreign = (
        columns.read(field, only=which, needed=which).to_pylist()
        for field, which in (
            (any_id, ~has_source),
            (replace(any_id, type=_FOREIGN_ID), has_source),
        )
    )
    columns.refuse_missing(columns.missing(FORM_ID.name), FORM_ID.name)
    shops = columns.read(replace(SHOP_ID, type=_FOREIGN_ID)).to_pylist()
    our_id = cache(form_id_of)
    ids = [
        our_id(shop, TRACKING_CALLS, id) if id else own_id
        for shop, id, own_id in zip(shops, foreign, own, strict=True)
    ]
    is_foreign = [bool(id) and not is_uuid(id.lower()) for id in foreign]
    return {
        FORM_ID.name: pa.array(ids, pa.string()),
        "source": pc.if_else(is_foreign, TRACKING_CALLS, ""),
        "source_id": pc.if_else(is_foreign, foreign, ""),
        FORM_NAME.name: columns.read(FORM_NAME, only=has_source),
        ON_OWN_PAGE.name: columns.read(ON_OWN_PAGE, only=has_source),
        _HAS_SOURCE: pa.array(has_source),
    }


def events_of(rows: pa.Table) -> pa.Table:
    """Events as they are stored: without what names their forms in another system."""
    return rows.drop_columns([name for name in _MORE if name in rows.column_names])


def see_events(
    connection: ArrowConnection, rows: pa.Table, inserted: Inserted, import_id: int
) -> None:
    """Store the forms that inserted events with a source name. The caller commits."""
    if _HAS_SOURCE not in rows.column_names:
        return
    rows = rows.filter(rows[_HAS_SOURCE])
    if inserted.dropped:
        rows = rows.filter(pc.is_in(rows["event_id"], inserted.rows["event_id"]))
    if not rows.num_rows:
        return
    are_new = pa.repeat(True, rows.num_rows)
    if inserted.new < inserted.rows.num_rows:
        # The name that a repeated event has is no news.
        new = connection.table(
            "SELECT CAST(shop_key AS TEXT) || ' ' || event_id AS key FROM raw_event "
            f"WHERE batch_id IN ({sql_list(inserted.batches)})"
        )
        shops = rows["shop_key"].cast(pa.string())
        keys = pc.binary_join_element_wise(shops, rows["event_id"], " ")
        are_new = pc.is_in(keys, new["key"].cast(pa.string()))
    see(connection, _named_by(rows, are_new, connection.now_micros()), import_id)


def _named_by(rows: pa.Table, are_new: pa.Array, now: int) -> pa.Table:
    """The forms that events with a source name, in the columns of `_TOLD_COLUMNS`. Where several names
    come together, the latest event's is the last."""
    key = ("shop_key", "form_id", "source", "source_id", "form_name", "is_new")
    placed = rows.append_column("is_new", are_new).append_column(
        "place", pa.array(range(len(rows)))
    )
    counted = placed.group_by(list(key)).aggregate(
        [
            *(("occurred_at", "min"), ("occurred_at", "max"), ("place", "min")),
            (ON_OWN_PAGE.name, "max"),
        ]
    )
    forms: dict[tuple[int, str], dict[str, Any]] = {}
    last_names: dict[tuple[int, str], tuple[bool, int, str]] = {}
    for row in counted.to_pylist():
        own_key = row["shop_key"], row["form_id"]
        seen = forms.setdefault(own_key, row | _NOT_SEEN)
        seen["first_event_at"] = min(seen["first_event_at"], row["occurred_at_min"])
        seen["seen_at"] = min(seen["seen_at"], now + row["place_min"])
        seen["on_own_page"] = max(seen["on_own_page"], row["on_own_page_max"])
        if row["form_name"]:
            named = row["is_new"], row["occurred_at_max"], row["form_name"]
            last_names[own_key] = max(named, last_names.get(own_key, named))
    for own_key, seen in forms.items():
        is_new, _, name = last_names.get(own_key, (False, 0, ""))
        seen["name"] = name or seen["source_id"] or seen["form_id"]
        seen["named_at"] = 0 if not name else now if is_new else _REPEATED
    return pa.Table.from_pylist(list(forms.values()), schema_of(form_seen, _TOLD_COLUMNS))


def see(connection: ArrowConnection, forms: pa.Table, import_id: int) -> None:
    """Store what is new about these forms (columns `_TOLD_COLUMNS`), and that it came with this import. The
    caller commits."""
    connection.stage(_STAGED, forms)
    connection.execute(
        f"INSERT INTO form_seen ({names(_TOLD_COLUMNS)}, import_id) SELECT {names(_TOLD_COLUMNS)}, $1 "
        f"FROM {_STAGED} WHERE true ON CONFLICT (shop_key, form_id, import_id) DO UPDATE SET "
        "source = excluded.source, source_id = excluded.source_id, "
        f"name = CASE WHEN {_LATER_SEEN} THEN excluded.name ELSE form_seen.name END, "
        f"named_at = CASE WHEN {_LATER_SEEN} THEN excluded.named_at ELSE form_seen.named_at END, "
        "first_event_at = CASE WHEN excluded.first_event_at < form_seen.first_event_at "
        "THEN excluded.first_event_at ELSE form_seen.first_event_at END, on_own_page = "
        "CASE WHEN excluded.on_own_page = 1 THEN 1 ELSE form_seen.on_own_page END",
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
    """List the forms that would be known if events of an import had never named any. The caller commits."""
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
    """Forget the forms of a shop that only deleted events have named, which are staged as `removed_event`.
    The caller keeps imports from writing, has locked the shop, and commits.

    All stays as it is where RAW_DAYS took events: those that are left do not tell of them.
    """
    if connection.value("SELECT 1 FROM kept_facts WHERE shop_key = $1 LIMIT 1", shop_key):
        return
    removed = "form_id IN (SELECT form_id FROM removed_event)"
    is_lost = (
        f"shop_key = $1 AND {removed} AND form_id NOT IN "
        f"(SELECT form_id FROM raw_event WHERE shop_key = $1 AND {removed})"
    )
    rows = connection.rows_of(
        form_seen, f"SELECT DISTINCT shop_key, form_id FROM form_seen WHERE {is_lost}", shop_key
    )
    if rows.num_rows:
        connection.execute(f"DELETE FROM form_seen WHERE {is_lost}", shop_key)
        _tell_anew(connection, rows)


def _tell_anew(connection: ArrowConnection, rows: pa.Table) -> None:
    """Write forms (`shop_key`, `form_id`) as `form_seen` has them now, under the names that members gave
    them."""
    named = (
        f"EXISTS (SELECT 1 FROM {connection.stage(_STAGED, rows)} s "
        "WHERE s.shop_key = form.shop_key AND s.form_id = form.form_id)"
    )
    renamed = connection.rows_of(
        form, f"SELECT shop_key, form_id, name FROM form WHERE named_at = {BY_MEMBER} AND {named}"
    )
    connection.execute(f"DELETE FROM form WHERE {IS_ONLY_SEEN} AND {named}")
    connection.execute(
        f"UPDATE form SET source = '', source_id = '', first_event_at = {NEVER}, "
        f"named_at = CASE WHEN named_at < {NEVER} THEN 0 ELSE {NEVER} END WHERE {named}"
    )
    for shop_key in rows["shop_key"].unique().to_pylist():
        see_again(connection, shop_key)
    if renamed.num_rows:
        connection.execute(
            f"UPDATE form SET name = s.name, named_at = {BY_MEMBER} "
            f"FROM {connection.stage(_STAGED, renamed)} s WHERE s.shop_key = form.shop_key "
            f"AND s.form_id = form.form_id AND form.named_at < {NEVER}"
        )


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
    """Merge what expired imports (a subquery) told into version 0, shop by shop. Commits."""
    columns = names(_TOLD_COLUMNS)
    shops = connection.table(
        f"SELECT DISTINCT shop_key FROM form_seen WHERE import_id IN ({expired}) ORDER BY shop_key"
    )["shop_key"]
    connection.commit()
    for shop_key in shops.to_pylist():
        of_old = f"shop_key = {shop_key} AND (import_id = {NO_IMPORT} OR import_id IN ({expired}))"
        connection.lock_shops(str(shop_key))
        told = connection.rows_of(form_seen, _TOLD.format(of_old))
        connection.execute(f"DELETE FROM form_seen WHERE {of_old}")
        connection.execute(
            f"INSERT INTO form_seen ({columns}, import_id) SELECT {columns}, {NO_IMPORT} "
            f"FROM {connection.stage(_STAGED, told)}"
        )
        connection.commit()


def _make_known(connection: ArrowConnection, shop_key: int) -> None:
    """Store what is new about the staged forms of a shop: new forms while there are places, and then those to
    which others give way."""
    # Each is counted once: a subquery that names `s` would be for each row.
    taken = " ".join(
        f"WHEN {own} THEN (SELECT COUNT(*) FROM form WHERE shop_key = $1 "
        f"AND first_event_at < {NEVER} AND on_own_page = {own})"
        for own in (0, 1)
    )
    places = f"{FORMS_PER_SHOP.get()} - CASE s.on_own_page {taken} END"
    news = (
        "FROM (SELECT s.*, f.form_id AS known, ROW_NUMBER() OVER "
        "(PARTITION BY f.form_id IS NULL, s.on_own_page ORDER BY s.seen_at, s.form_id) AS position "
        f"FROM {_STAGED} s LEFT JOIN form f ON f.shop_key = s.shop_key AND f.form_id = s.form_id "
        f"WHERE s.shop_key = $1 AND (f.form_id IS NULL OR {_TELLS_MORE})) s "
        f"WHERE known IS NOT NULL OR position <= {places}"
    )
    if connection.value(f"SELECT COUNT(*) {news}", shop_key):
        connection.lock_rows("shop", "shop_key", "shop_key = $1", shop_key)
        _store(connection, shop_key, news)
    is_known = "SELECT 1 FROM form f WHERE f.shop_key = s.shop_key AND f.form_id = s.form_id"
    rest = f"SELECT 1 FROM {_STAGED} s WHERE s.shop_key = $1 AND NOT EXISTS ({is_known}) LIMIT 1"
    if connection.value(rest, shop_key):
        share_out(connection, shop_key)


def share_out(connection: ArrowConnection, shop_key: int) -> None:
    """Give the places of a shop to the forms that are to have them. The caller commits."""
    connection.lock_rows("shop", "shop_key", "shop_key = $1", shop_key)
    moves = form_places.decide(connection, shop_key, FORMS_PER_SHOP.get())
    if not moves.come:
        return
    gone = connection.stage(_CHOSEN, pa.table({"form_id": pa.array(moves.go, pa.string())}))
    connection.execute(
        f"DELETE FROM form WHERE shop_key = $1 AND form_id IN (SELECT form_id FROM {gone})",
        shop_key,
    )
    come = connection.stage(_CHOSEN, pa.table({"form_id": pa.array(moves.come, pa.string())}))
    own = f"shop_key = $1 AND form_id IN (SELECT form_id FROM {come})"
    told = connection.rows_of(form_seen, _TOLD.format(own), shop_key)
    staged = connection.stage(_CHOSEN, told)
    _store(connection, shop_key, f"FROM {staged} s WHERE s.shop_key = $1")


def share_out_again(connection: ArrowConnection) -> None:
    """Give the places of each shop that has none left, as its figures are now. Commits."""
    for shop_key in full_shops(connection):
        share_out(connection, shop_key)
        connection.commit()


def _store(connection: ArrowConnection, shop_key: int, news: str) -> None:
    """Store forms; `news`: FROM and WHERE of them (`s`, columns _COLUMNS)."""
    connection.execute(
        f"INSERT INTO form ({names(_COLUMNS)}, status, created_at, updated_at) "
        f"SELECT {names(_COLUMNS, 's.')}, 'published', s.first_event_at, s.first_event_at {news} "
        "ON CONFLICT (shop_key, form_id) DO UPDATE SET "
        "source = excluded.source, source_id = excluded.source_id, "
        f"name = CASE WHEN {_LATER} THEN excluded.name ELSE form.name END, "
        f"named_at = CASE WHEN {_LATER} THEN excluded.named_at ELSE form.named_at END, "
        f"first_event_at = CASE WHEN {_EARLIER} THEN excluded.first_event_at "
        "ELSE form.first_event_at END, "
        "on_own_page = CASE WHEN excluded.on_own_page = 1 THEN 1 ELSE form.on_own_page END, "
        f"created_at = CASE WHEN {_EARLIER} AND form.named_at < {NEVER} "
        "THEN excluded.first_event_at ELSE form.created_at END, "
        f"updated_at = CASE WHEN {_EARLIER} AND form.named_at < {NEVER} AND form.draft_schema = '' "
        "THEN excluded.first_event_at ELSE form.updated_at END",
        shop_key,
    )
    connection.execute(
        f"UPDATE shop SET {next_version(now_micros())} WHERE shop_key = $1", shop_key
    )


def see_told(connection: ArrowConnection, rows: pa.Table, import_id: int) -> Written:
    """Store rows of kind `forms` with SEEN_FIELDS, the last of each form, and the drafts that people made of
    such forms. The caller holds the lock of the table and commits."""
    now = connection.now_micros()
    last = {(row["shop_key"], row["form_id"]): row for row in rows.to_pylist()}
    told = [row | {"seen_at": now + n, "on_own_page": 0} for n, row in enumerate(last.values())]
    forms = pa.Table.from_pylist(told, schema_of(form_seen, _TOLD_COLUMNS))
    own = connection.stage(_CHOSEN, forms.select(["shop_key", "form_id"]))
    known = f"SELECT COUNT(*) FROM {own} s JOIN form f USING (shop_key, form_id)"
    before = connection.value(known)
    see(connection, forms, import_id)
    new = connection.value(known) - before
    only_seen = f"shop_key = $1 AND form_id = $2 AND {IS_ONLY_SEEN}"
    for key, row in last.items():
        if row["has_draft"]:
            draft = row["draft_schema"]
            connection.execute(
                "UPDATE shop SET form_bytes = form_bytes + $3 WHERE shop_key = $1 "
                f"AND EXISTS (SELECT 1 FROM form WHERE {only_seen})",
                *(*key, len(draft.encode())),
            )
            edited_at = row["first_event_at"] if row["updated_at"] is None else row["updated_at"]
            connection.execute(
                f"UPDATE form SET draft_schema = $3, updated_at = $4 WHERE {only_seen}",
                *(*key, draft, edited_at),
            )
    return Written(new, rows.num_rows - new)
