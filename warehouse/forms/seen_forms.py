"""The forms that were seen on a shop's pages or in its tracking calls: how a page lists them, and how their
names change. Whether their events count: `form_rules.py`."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import Connection, String, bindparam, text

from warehouse.catalogue import SUMMARY
from warehouse.connections.arrow import ArrowConnection
from warehouse.connections.chunks import chunks
from warehouse.daily.reader import DailyRows
from warehouse.domain.form_rules import LEFT_OUT
from warehouse.domain.hash_ids import text_id
from warehouse.domain.time import NEVER
from warehouse.domain.vocabulary import visitor_kind
from warehouse.forms import form_rules
from warehouse.forms.form_rules import BY_MEMBER
from warehouse.forms.form_sightings import FINDING
from warehouse.settings import FORMS_PER_SHOP

# Forms of the shop's own pages first, then the one that was seen last. Those that nobody saw of late come by
# their creation, for which there is an index: a stranger may have named thousands.
_UNSIGHTED: Final = f"""
SELECT * FROM (SELECT form_id, {{own}}, 0, created_at FROM form f WHERE shop_key = :shop_key
  AND first_event_at < {NEVER} AND on_own_page = {{own}} AND NOT EXISTS
    (SELECT 1 FROM form_sighting g WHERE g.shop_key = :shop_key AND g.form_id = f.form_id)
  ORDER BY created_at DESC, form_id DESC LIMIT :last) f{{own}}
"""
_LISTED: Final = f"""
SELECT form_id FROM (
  SELECT form_id, on_own_page AS own, seen_at, 0 AS since FROM form_sighting
  WHERE shop_key = :shop_key AND form_id NOT LIKE '{FINDING}%'
  UNION ALL {_UNSIGHTED.format(own=1)} UNION ALL {_UNSIGHTED.format(own=0)}
) u ORDER BY own DESC, seen_at DESC, since DESC, form_id DESC LIMIT :count OFFSET :first
"""
_ONE: Final = f"""
SELECT form_id FROM form WHERE shop_key = :shop_key AND form_id = :form_id AND first_event_at < {NEVER}
UNION SELECT form_id FROM form_sighting WHERE shop_key = :shop_key AND form_id = :form_id
  AND form_id NOT LIKE '{FINDING}%'
"""
_NUMBER: Final = text(f"""
SELECT (SELECT COUNT(*) FROM form WHERE shop_key = :shop_key AND first_event_at < {NEVER})
  + (SELECT COUNT(*) FROM form_sighting g WHERE g.shop_key = :shop_key AND form_id NOT LIKE '{FINDING}%'
    AND NOT EXISTS (SELECT 1 FROM form f
    WHERE f.shop_key = :shop_key AND f.form_id = g.form_id AND f.first_event_at < {NEVER}))
""")
_SEEN: Final = """
SELECT k.form_id, f.named_at, COALESCE(f.on_own_page, g.on_own_page) AS on_own_page,
  COALESCE(f.name, '') AS name, COALESCE(g.name, '') AS told,
  COALESCE(g.path, '') AS path, COALESCE(g.seen_at, 0) AS seen_at,
  COALESCE((SELECT MAX(s.seen_at) FROM form_seen s
    WHERE s.shop_key = :shop_key AND s.form_id = k.form_id), 0) AS came_at
FROM ({}) k
LEFT JOIN form f ON f.shop_key = :shop_key AND f.form_id = k.form_id
LEFT JOIN form_sighting g ON g.shop_key = :shop_key AND g.form_id = k.form_id
"""
_FORM_IDS: Final = bindparam("form_ids", type_=String(), expanding=True)
_NAMES: Final = text(
    "SELECT form_id, name FROM form WHERE shop_key = :shop_key AND form_id IN :form_ids"
).bindparams(_FORM_IDS)
VISITORS: Final = (
    f"SELECT form, kind, CAST(SUM(visitors) AS BIGINT) AS visitors FROM {SUMMARY['visitor'].table} "
    f"WHERE edition = {{}} AND previous = -1 AND kind IN ({visitor_kind(0, 0)}, {visitor_kind(0, 1)}) "
    "GROUP BY form, kind"
)
"""Distinct visitors of each form, with a view, and with a submission: those without an active day before."""

LAST_DAY: Final = 1 << 31
# The forms that tracking calls named and nobody renamed, edited, imported or created.
_ONLY_SEEN: Final = text(
    "SELECT DISTINCT s.form_id FROM form_seen s LEFT JOIN form f ON f.shop_key = s.shop_key "
    "AND f.form_id = s.form_id WHERE s.shop_key = :shop_key AND (f.form_id IS NULL "
    f"OR f.named_at < {BY_MEMBER} AND f.draft_schema = '')"
)
_AT_ONCE: Final = 500
# So that nobody is asked to import a form that its members want to know nothing of.
_REMEMBER: Final = text(
    "INSERT INTO form_forgotten (shop_key, form_id) VALUES (:shop_key, :form_id) "
    "ON CONFLICT DO NOTHING"
)
_RENAME: Final = (
    "UPDATE form SET name = :name, named_at = CASE WHEN named_at < :member "
    "THEN CAST(:member AS BIGINT) ELSE named_at END WHERE shop_key = :shop_key AND form_id = :form_id"
)
_TOLD: Final = text(
    "SELECT name, named_at FROM form_seen WHERE shop_key = :shop_key AND form_id = :form_id "
    "ORDER BY named_at DESC, name DESC, import_id LIMIT 1"
)
_NAME_AS_TOLD: Final = text(
    "UPDATE form SET name = :name, named_at = :named_at "
    f"WHERE shop_key = :shop_key AND form_id = :form_id AND named_at = {BY_MEMBER}"
)


def full_shops(connection: ArrowConnection) -> list[int]:
    """The shops that have no place left for forms that are only seen (`FORMS_PER_SHOP`). Commits."""
    rows = connection.table(
        f"SELECT DISTINCT shop_key FROM form WHERE first_event_at < {NEVER} "
        "GROUP BY shop_key, on_own_page HAVING COUNT(*) >= $1 ORDER BY shop_key",
        FORMS_PER_SHOP.get(),
    )
    connection.commit()
    return list(rows["shop_key"].to_pylist())


@dataclass(frozen=True)
class SeenForm:
    """A form that was seen.

    - `name`: as its events or a member call it, else its id; `is_known`: an event of it is imported
    - `path`: the first part of that of the page on which it was seen last, "" where that is not known
    - `seen_at`: the instant, 0 where only the import knows it
    - `rule`: what a member made of it: the other form's id, "" where it is left out, None for nothing
    - `counts_for`: the id under which its events count in the end, "" for none
    - `is_renamed`: a member named it
    - `split_from`: the form of whose events on `path` it is made, None where it is a form of its own
    """

    form_id: str
    name: str
    is_known: bool
    path: str
    seen_at: int
    rule: str | None
    counts_for: str
    is_renamed: bool
    split_from: str | None

    @property
    def is_left_out(self) -> bool:
        return self.counts_for == LEFT_OUT


def count_seen(connection: Connection, shop_key: int) -> int:
    """The number of forms of a shop that were seen."""
    return int(connection.execute(_NUMBER, {"shop_key": shop_key}).scalar_one())


def list_seen(
    connection: Connection, shop_key: int, first: int = 0, count: int = 50
) -> list[SeenForm]:
    """So many forms of a shop that were seen, from the place `first` on: those of its own pages before
    others, then the last one first."""
    place = {"first": first, "count": count, "last": first + count}
    return _read(connection, _LISTED, {"shop_key": shop_key, **place})


def find_seen(connection: Connection, shop_key: int, form_id: str) -> SeenForm | None:
    """The form of a shop, if it was seen."""
    return next(iter(_read(connection, _ONE, {"shop_key": shop_key, "form_id": form_id})), None)


def names_of(connection: Connection, shop_key: int, form_ids: Collection[str]) -> dict[str, str]:
    """The names of forms of a shop, by id."""
    rows = connection.execute(_NAMES, {"shop_key": shop_key, "form_ids": list(form_ids)})
    return {row.form_id: row.name for row in rows}


def _read(connection: Connection, ids: str, values: dict[str, Any]) -> list[SeenForm]:
    """The forms with the ids that a query gives."""
    rules = form_rules.read(connection, values["shop_key"])
    parts = {own: place for place, own in rules.pages.items()}
    rows = connection.execute(text(_SEEN.format(ids)), values).all()
    return [
        SeenForm(
            row.form_id,
            row.name or row.told or row.form_id,
            row.named_at is not None,
            parts[row.form_id][1] if row.form_id in parts else row.path,
            int(row.seen_at or row.came_at),
            rules.forms.get(row.form_id),
            rules.counted_as(row.form_id),
            row.named_at == BY_MEMBER,
            parts[row.form_id][0] if row.form_id in parts else None,
        )
        for row in sorted(
            rows, key=lambda row: (-row.on_own_page, -(row.seen_at or row.came_at), row.form_id)
        )
    ]


def visitors_by_form(connection: Connection, edition: int) -> dict[int, int]:
    """The distinct visitors of each form that has events in the figures, by the id of its text."""
    sums = DailyRows(connection, edition, 0, LAST_DAY).sums("all_forms", by=("form",))
    rows = connection.execute(text(VISITORS.format(edition)))
    return most_visitors(sums["form"].tolist(), ((row.form, row.visitors) for row in rows))


def most_visitors(forms: Iterable[int], visitors: Iterable[tuple[int, int]]) -> dict[int, int]:
    """The most visitors of each form, by whichever kind of person they are counted; 0 for one of `forms` that
    has none."""
    found = dict.fromkeys(forms, 0)
    for form, count in visitors:
        found[form] = max(found.get(form, 0), count)
    return found


def forget_few(
    connection: Connection, shop_key: int, visitors: Mapping[int, int], fewer: int, now: int
) -> int:
    """Forget the forms with fewer visitors than `fewer` that only events named and of which no member has
    made anything, until events name them again; returns how many. Their events stay. `visitors`: those in
    the figures, by the id of the form's text: a form that is not there may be new."""
    own = {"shop_key": shop_key}
    form_rules.forms_changed(connection, shop_key, now)
    ruled = form_rules.read(connection, shop_key).named
    few = [
        form_id
        for form_id in connection.execute(_ONLY_SEEN, own).scalars()
        if visitors.get(text_id(form_id), fewer) < fewer and form_id not in ruled
    ]
    for some in chunks(((form_id, 1) for form_id in few), _AT_ONCE):
        connection.execute(_REMEMBER, [own | {"form_id": form_id} for form_id in some])
        values = own | {"form_ids": some}
        for table in ("form_seen", "form_sighting", "form"):
            delete = text(
                f"DELETE FROM {table} WHERE shop_key = :shop_key AND form_id IN :form_ids"
            )
            connection.execute(delete.bindparams(_FORM_IDS), values)
    return len(few)


def rename(connection: Connection, shop_key: int, form_id: str, name: str, now: int) -> None:
    """Give a form a name, which no later event changes. "": the name that its events give it."""
    own = {"shop_key": shop_key, "form_id": form_id}
    if name:
        connection.execute(text(_RENAME), {**own, "name": name, "member": BY_MEMBER})
    else:
        # A form that was created here may have been seen before its first event is imported.
        told = connection.execute(_TOLD, own).one_or_none()
        if told:
            connection.execute(_NAME_AS_TOLD, {**own, "name": told.name, "named_at": told.named_at})
    form_rules.forms_changed(connection, shop_key, now)
