"""Forms that events in files of other systems name: they become known with their first event.

A form stands under the id that `form_id_of` makes of its id there. Its name is that of the latest event that
has one, else its id; a row of kind `forms` with our id stands above both. Anyone can send events to a shop,
so only the first FORMS_PER_SHOP of its forms become known, by the instants of their first events. Which ones
does not depend on the order in which events and rows come. A form that had to wait for an earlier event is
called by names that came since.
"""

from dataclasses import replace
from typing import Any, Final

import pyarrow as pa

from jobs.importing.values.columns import ChunkColumns
from jobs.importing.values.fields import ID, NAME, UUID, Field
from jobs.run.clock import now_micros
from warehouse.connections.arrow import ArrowConnection, names, schema_of
from warehouse.domain.form_ids import form_id_of, is_uuid
from warehouse.domain.time import NEVER
from warehouse.editions.data_version import next_version
from warehouse.settings import FORMS_PER_SHOP
from warehouse.tables import form

FORM_ID: Final = Field("form_id", UUID, "the form", required=True)
_FORM_NAME: Final = Field("form_name", NAME, "the form's name in the other system")
# Besides the columns of events.
_MORE: Final = ("source", "source_id", "form_name")

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
_EARLIER: Final = "excluded.first_event_at < form.first_event_at"
# Nobody has created, imported or edited it.
IS_ONLY_SEEN: Final = f"named_at < {NEVER} AND draft_schema = ''"


def read_form_ids(columns: ChunkColumns) -> dict[str, pa.Array]:
    """The forms of a chunk's events: `form_id`; of another system's file also `source`, `source_id` and
    `form_name`, the first two empty where the id is ours already."""
    chunk = columns.chunk
    if not chunk.format:
        return {FORM_ID.name: columns.read(FORM_ID)}
    stated = columns.read(replace(FORM_ID, type=ID)).dictionary_encode()
    ids = stated.dictionary.to_pylist()
    is_ours = [not id or is_uuid(id.lower()) for id in ids]
    ours = [id and form_id_of(chunk.shop_id, chunk.format, id) for id in ids]
    foreign = ["" if own else id for own, id in zip(is_ours, ids, strict=True)]
    sources = ["" if own else chunk.format for own in is_ours]
    by_name = {FORM_ID.name: ours, "source": sources, "source_id": foreign}
    read = {
        name: pa.array(texts, pa.string()).take(stated.indices) for name, texts in by_name.items()
    }
    return read | {_FORM_NAME.name: columns.read(_FORM_NAME)}


def split(rows: pa.Table) -> tuple[pa.Table, pa.Table | None]:
    """Events as they are stored, and the forms that they name: one row each in the columns of `form`, None
    for a file of ours. The events of another system's file are all of one shop."""
    if _MORE[0] not in rows.column_names:
        return rows, None
    key = ("shop_key", "form_id", *_MORE)
    counted = rows.group_by(list(key)).aggregate([("occurred_at", "min"), ("occurred_at", "max")])
    forms: dict[str, dict[str, Any]] = {}
    for row in counted.to_pylist():
        form_id = row["form_id"]
        seen = forms.setdefault(form_id, row | {"first_event_at": NEVER, "named_at": 0, "name": ""})
        seen["first_event_at"] = min(seen["first_event_at"], row["occurred_at_min"])
        if row["form_name"]:
            name = (row["occurred_at_max"], row["form_name"])
            seen["named_at"], seen["name"] = max((seen["named_at"], seen["name"]), name)
    for seen in forms.values():
        seen["name"] = seen["name"] or seen["source_id"] or seen["form_id"]
    table = pa.Table.from_pylist(list(forms.values()), schema_of(form, _COLUMNS))
    return rows.drop_columns(list(_MORE)), table


def make_known(connection: ArrowConnection, forms: pa.Table) -> None:
    """Store what these forms of one shop (`split`) tell that is not stored. The caller commits."""
    shop_key, most = forms["shop_key"][0].as_py(), FORMS_PER_SHOP.get()
    connection.stage(_STAGED, forms)
    news = (
        f"FROM {_STAGED} s "
        "LEFT JOIN form f ON f.shop_key = s.shop_key AND f.form_id = s.form_id "
        f"LEFT JOIN (SELECT first_event_at, form_id {_RANKED} LIMIT 1 OFFSET {most - 1}) last "
        "ON true WHERE CASE WHEN f.form_id IS NOT NULL "
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
        f"DELETE {_SEEN} AND {IS_ONLY_SEEN} "
        f"AND form_id NOT IN (SELECT form_id {_RANKED} LIMIT {most})",
        shop_key,
    )
    connection.execute(
        f"UPDATE shop SET {next_version(now_micros())}, "
        "form_count = (SELECT COUNT(*) FROM form WHERE shop_key = $1) WHERE shop_key = $1",
        shop_key,
    )
