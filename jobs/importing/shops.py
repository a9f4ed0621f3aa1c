"""The shops that rows can belong to."""

from dataclasses import dataclass

from warehouse import tables
from warehouse.bulk import Bulk


@dataclass(frozen=True)
class Shops:
    """`keys`: shop id -> shop key. `currencies`: shop key -> ISO 4217."""

    keys: dict[str, int]
    currencies: dict[int, str]


def load_shops(bulk: Bulk) -> Shops:
    """All shops of the warehouse. Commits, so that the next transaction can begin with a write."""
    rows = bulk.rows_of(tables.shop, "SELECT shop_key, shop_id, currency FROM shop").to_pylist()
    bulk.commit()
    return Shops(
        {row["shop_id"]: row["shop_key"] for row in rows},
        {row["shop_key"]: row["currency"] for row in rows},
    )
