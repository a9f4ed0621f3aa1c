"""Shops: one row per `shop_id`, as it was imported last."""

from typing import ClassVar, Final

from jobs.importing import cells
from jobs.importing.rows import Field, names_of
from jobs.importing.standing import Standing
from jobs.importing.upserts import STAGED, Upsert
from warehouse.tables import shop

_FIELDS: Final = (
    Field("shop_id", cells.identifier),
    Field("name", cells.name, ""),
    Field("currency", cells.currency),
    Field("timezone", cells.timezone, "UTC"),
)


class Shops(Standing):
    """A shop in another timezone is built anew by the next rollup, which compares the two."""

    name = "shops"
    reads = _FIELDS
    fields: ClassVar = names_of(_FIELDS)
    of_shop = False
    way = Upsert(
        shop,
        names_of(_FIELDS),
        keys=1,
        touched=f"shop_id IN (SELECT shop_id FROM {STAGED})",
    )
