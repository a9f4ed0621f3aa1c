"""Forms that the collector has just seen on a shop's pages: for the page on which a person sets the shop up,
which tells of a visit before its events are imported. In no figure.

Anyone can send calls to a shop. So a shop has at most MOST_FORMS sightings of pages that its write keys name,
and as many others: the one seen longest ago gives way to a new one. All go after KEPT_DAYS, and with a person
whom they name (`jobs/pipeline/forgetting.py`).
"""

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from sqlalchemy import Connection, text

MOST_FORMS: Final = 200
KEPT_DAYS: Final = 7

FINDING: Final = "finding:"
"""Before the kind of what the line for pages saw and cannot count: the id of its sighting. Its `name` is the
frame's host or the element's name."""

_OWN: Final = "WHERE shop_key = :shop_key AND form_id = :form_id"
_SEE_AGAIN: Final = text(f"""
UPDATE form_sighting SET
  seen_at = CASE WHEN :seen_at > seen_at THEN CAST(:seen_at AS BIGINT) ELSE seen_at END,
  name = CASE WHEN :name <> '' THEN CAST(:name AS TEXT) ELSE name END,
  path = CASE WHEN :path <> '' THEN CAST(:path AS TEXT) ELSE path END,
  on_own_page = CASE WHEN :on_own_page = 1 THEN 1 ELSE on_own_page END
{_OWN}
""")
_ADD: Final = text("""
INSERT INTO form_sighting (shop_key, form_id, name, path, seen_at, on_own_page)
SELECT shop_key, CAST(:form_id AS TEXT), CAST(:name AS TEXT), CAST(:path AS TEXT),
  CAST(:seen_at AS BIGINT), CAST(:on_own_page AS SMALLINT)
FROM shop WHERE shop_key = :shop_key
ON CONFLICT (shop_key, form_id) DO NOTHING
""")
# The collector's role deletes nothing.
_REPLACE_OLDEST: Final = text("""
UPDATE form_sighting SET form_id = :form_id, name = :name, path = :path, seen_at = :seen_at
WHERE shop_key = :shop_key AND form_id = (SELECT s.form_id FROM form_sighting s
  WHERE s.shop_key = :shop_key AND s.on_own_page = :on_own_page ORDER BY s.seen_at, s.form_id LIMIT 1)
""")
_COUNT: Final = text(
    "SELECT COUNT(*) FROM form_sighting WHERE shop_key = :shop_key AND on_own_page = :on_own_page"
)

_FINDINGS: Final = text(f"""
SELECT form_id, name, path, seen_at FROM form_sighting
WHERE shop_key = :shop_key AND form_id LIKE '{FINDING}%' ORDER BY form_id DESC -- the line without a key first
""")


class Sighting(NamedTuple):
    """A form on a page: what its call says of its name and the first part of the page's path ("": nothing),
    the instant, and whether the write key names the page's origin."""

    name: str
    path: str
    seen_at: int
    on_own_page: bool = False


def see(connection: Connection, seen: Mapping[tuple[int, str], Sighting]) -> None:
    """Store sightings, by shop and form. The caller commits."""
    latest = sorted(seen, key=lambda key: seen[key].seen_at, reverse=True)
    kept: dict[tuple[int, bool], list[dict[str, Any]]] = {}
    for shop_key, form_id in latest:
        sighting = seen[shop_key, form_id]
        of_shop = kept.setdefault((shop_key, sighting.on_own_page), [])
        if len(of_shop) < MOST_FORMS:
            row = {"shop_key": shop_key, "form_id": form_id} | sighting._asdict()
            of_shop.append(row | {"on_own_page": int(sighting.on_own_page)})
    for _, rows in sorted(kept.items()):
        # Two processes change rows in one order.
        for row in sorted(rows, key=lambda row: row["form_id"]):
            if not connection.execute(_SEE_AGAIN, row).rowcount:
                has_place = connection.execute(_COUNT, row).scalar_one() < MOST_FORMS
                connection.execute(_ADD if has_place else _REPLACE_OLDEST, row)


def findings(connection: Connection, shop_key: int) -> dict[str, Sighting]:
    """The latest things on a shop's pages that the line saw and cannot count, by kind."""
    rows = connection.execute(_FINDINGS, {"shop_key": shop_key})
    return {
        row.form_id.removeprefix(FINDING): Sighting(row.name, row.path, row.seen_at) for row in rows
    }
