"""Shops: one row per `shop_id`, as it was imported last."""

from typing import Final

from jobs.importing import cells
from jobs.importing.rows import Field
from jobs.importing.upserts import Upsert
from warehouse.tables import shop

FIELDS: Final = (
    Field("shop_id", cells.identifier),
    Field("name", cells.name, ""),
    Field("currency", cells.currency),
    Field("timezone", cells.timezone, "UTC"),
)

# A shop in another timezone is built anew by the next rollup, which compares them.
WAY: Final = Upsert(
    shop,
    ("shop_id", "name", "currency", "timezone"),
    keys=1,
    touched="shop_id IN (SELECT shop_id FROM {staged})",
)
