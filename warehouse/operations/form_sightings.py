"""Forms that the collector has just seen on a shop's pages: for the page on which a person sets the shop up,
which tells of a visit before its events are imported. In no figure.

Anyone can send calls to a shop: a shop has at most so many sightings, the first ones.
"""

from collections.abc import Mapping
from typing import Final, NamedTuple

from sqlalchemy import Connection, text

MOST_FORMS: Final = 200

FINDING: Final = "finding:"
"""Before the kind of what the line for pages saw and cannot count: the id of its sighting. Its `name` is the
frame's host or the element's name."""

_SEE: Final = text(f"""
INSERT INTO form_sighting (shop_key, form_id, name, path, seen_at)
SELECT shop_key, CAST(:form_id AS TEXT), CAST(:name AS TEXT), CAST(:path AS TEXT), CAST(:seen_at AS BIGINT)
FROM shop WHERE shop_key = :shop_key AND (
  EXISTS (SELECT 1 FROM form_sighting s WHERE s.shop_key = :shop_key AND s.form_id = :form_id)
  OR (SELECT COUNT(*) FROM form_sighting s WHERE s.shop_key = :shop_key) < {MOST_FORMS})
ON CONFLICT (shop_key, form_id) DO UPDATE SET
  seen_at = CASE WHEN excluded.seen_at > form_sighting.seen_at
    THEN excluded.seen_at ELSE form_sighting.seen_at END,
  name = CASE WHEN excluded.name <> '' THEN excluded.name ELSE form_sighting.name END,
  path = CASE WHEN excluded.path <> '' THEN excluded.path ELSE form_sighting.path END
""")

_FINDINGS: Final = text(f"""
SELECT form_id, name, path, seen_at FROM form_sighting
WHERE shop_key = :shop_key AND form_id LIKE '{FINDING}%' ORDER BY form_id
""")


class Sighting(NamedTuple):
    """A form on a page: what its call says of its name and the page's path ("": nothing), and the instant."""

    name: str
    path: str
    seen_at: int


def see(connection: Connection, seen: Mapping[tuple[int, str], Sighting]) -> None:
    """Store sightings, by shop and form. The caller commits."""
    for (shop_key, form_id), sighting in sorted(seen.items()):
        row = {"shop_key": shop_key, "form_id": form_id} | sighting._asdict()
        connection.execute(_SEE, row)


def findings(connection: Connection, shop_key: int) -> dict[str, Sighting]:
    """What the line saw last on a shop's pages and cannot count, by kind."""
    rows = connection.execute(_FINDINGS, {"shop_key": shop_key})
    return {
        row.form_id.removeprefix(FINDING): Sighting(row.name, row.path, row.seen_at) for row in rows
    }
