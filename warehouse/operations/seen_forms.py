"""The forms that were seen on a shop's pages or in its tracking calls: how a page lists them, and how their
names change. Whether their events count: `form_rules.py`."""

from dataclasses import dataclass
from typing import Final

from sqlalchemy import Connection, text

from warehouse.domain.form_rules import LEFT_OUT, counted_as
from warehouse.domain.time import NEVER
from warehouse.editions.editions import next_version
from warehouse.operations import form_rules
from warehouse.operations.form_sightings import FINDING

BY_MEMBER: Final = NEVER - 1
"""`named_at` of a form that a member named: after every name that an event gave, and before those of forms
that are imported or created here."""

_SEEN: Final = text(f"""
SELECT k.form_id, f.named_at, COALESCE(f.name, '') AS name, COALESCE(g.name, '') AS told,
  COALESCE(g.path, '') AS path, COALESCE(g.seen_at, 0) AS seen_at,
  COALESCE((SELECT MAX(s.seen_at) FROM form_seen s
    WHERE s.shop_key = :shop_key AND s.form_id = k.form_id), 0) AS came_at
FROM (SELECT form_id FROM form WHERE shop_key = :shop_key AND first_event_at < {NEVER}
  UNION SELECT form_id FROM form_sighting
    WHERE shop_key = :shop_key AND form_id NOT LIKE '{FINDING}%') k
LEFT JOIN form f ON f.shop_key = :shop_key AND f.form_id = k.form_id
LEFT JOIN form_sighting g ON g.shop_key = :shop_key AND g.form_id = k.form_id
""")
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


@dataclass(frozen=True)
class SeenForm:
    """A form that was seen.

    - `name`: as its events or a member call it, else its id; `is_known`: an event of it is imported
    - `path`: of the page on which it was seen last, "" where that is not known
    - `seen_at`: the instant, 0 where only the import knows it
    - `rule`: what a member made of it: the other form's id, "" where it is left out, None for nothing
    - `counts_for`: the id under which its events count in the end, "" for none
    - `is_renamed`: a member named it
    """

    form_id: str
    name: str
    is_known: bool
    path: str
    seen_at: int
    rule: str | None
    counts_for: str
    is_renamed: bool

    @property
    def is_left_out(self) -> bool:
        return self.counts_for == LEFT_OUT


def list_seen(connection: Connection, shop_key: int) -> list[SeenForm]:
    """The forms of a shop that were seen, the last one first."""
    rules = form_rules.read(connection, shop_key)
    found = [
        SeenForm(
            row.form_id,
            row.name or row.told or row.form_id,
            row.named_at is not None,
            row.path,
            int(row.seen_at or row.came_at),
            rules.get(row.form_id),
            counted_as(rules, row.form_id),
            row.named_at == BY_MEMBER,
        )
        for row in connection.execute(_SEEN, {"shop_key": shop_key})
    ]
    return sorted(found, key=lambda form: (-form.seen_at, form.name, form.form_id))


def rename(connection: Connection, shop_key: int, form_id: str, name: str, now: int) -> None:
    """Call a form so; no later event does otherwise. "": as its events call it again."""
    own = {"shop_key": shop_key, "form_id": form_id}
    if name:
        connection.execute(text(_RENAME), {**own, "name": name, "member": BY_MEMBER})
    else:
        # A form that was created here may have been seen before its first event is imported.
        told = connection.execute(_TOLD, own).one_or_none()
        if told:
            connection.execute(_NAME_AS_TOLD, {**own, "name": told.name, "named_at": told.named_at})
    connection.execute(text(f"UPDATE shop SET {next_version(now)} WHERE shop_key = :shop_key"), own)
