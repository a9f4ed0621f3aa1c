"""Which shops a command is about."""

from warehouse.bulk import Bulk


class UnknownShop(ValueError):
    """No shop of this name has been imported."""


def shop_keys(bulk: Bulk, shop: str | None) -> list[int]:
    """The keys of all shops, or of the one named; raises UnknownShop."""
    if shop is None:
        return bulk.table("SELECT shop_key FROM shop ORDER BY shop_key").column(0).to_pylist()
    found = bulk.value("SELECT shop_key FROM shop WHERE shop_id = $1", shop)
    if found is None:
        raise UnknownShop(f"no shop {shop!r}; import it first (kind shops)")
    return [found]
