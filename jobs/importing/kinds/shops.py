"""Shops: one row per `shop_id`, as it was imported last."""

from dataclasses import replace
from typing import ClassVar

from jobs.importing.kinds.replace_last import STAGED, ReplaceLast, Upsert
from jobs.importing.values.fields import CURRENCY, ID, NAME, TIMEZONE, Field
from warehouse.tables import shop


class ShopsKind(ReplaceLast):
    """The next rollup rebuilds a shop whose timezone has changed."""

    name = "shops"
    needs_shop = False
    fields: ClassVar = (
        Field("shop_id", ID, "a domain such as example.myshopify.com", required=True),
        Field("name", NAME, "for people"),
        Field("currency", CURRENCY, "of all its orders", required=True),
        Field("timezone", replace(TIMEZONE, missing="UTC"), "of its days; default: UTC"),
    )
    example: ClassVar = {
        "shop_id": "example.myshopify.com",
        "name": "Example",
        "currency": "EUR",
        "timezone": "Europe/Berlin",
    }
    upsert = Upsert(
        shop,
        tuple(field.name for field in fields),
        keys=1,
        touched=f"shop_id IN (SELECT shop_id FROM {STAGED})",
    )
