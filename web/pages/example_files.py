"""Example files to download: the example row of a kind, as a row of the member's shop."""

import csv
import io
import json
from typing import Any, Final

from warehouse.domain.example_rows import EXAMPLE_ROWS
from warehouse.operations.shop_registry import ShopSettings

# The kinds that a shop's people import, as they call them.
KINDS: Final = {
    "forms": "Forms",
    "events": "Events",
    "orders": "Orders",
    "ad-spend": "Ad spend",
    "ad-accounts": "Ad accounts",
    "exchange-rates": "Exchange rates",
}


def example_file(kind: str, shop: ShopSettings, ending: str) -> str:
    """A file of one row; `ending` is `ndjson` or `csv`."""
    own = {"shop_id": shop.shop_id, "currency": shop.currency}
    row = {name: own.get(name, value) for name, value in EXAMPLE_ROWS[kind].items()}
    if ending == "ndjson":
        return f"{json.dumps(row)}\n"
    text = io.StringIO()
    csv.writer(text).writerows((row, map(_cell, row.values())))
    return text.getvalue()


def _cell(value: Any) -> Any:
    return json.dumps(value) if isinstance(value, list | dict) else value
