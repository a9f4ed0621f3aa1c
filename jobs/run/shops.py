"""The shops that a command is about."""

from jobs.run.errors import CommandFailed
from warehouse.connections.arrow import ArrowConnection


def shop_keys(connection: ArrowConnection, shop: str | None) -> list[int]:
    """The keys of all shops, or of the one with this id. Raises CommandFailed if there is none."""
    if shop is None:
        return connection.table("SELECT shop_key FROM shop ORDER BY shop_key").column(0).to_pylist()
    key = connection.value("SELECT shop_key FROM shop WHERE shop_id = $1", shop)
    if key is None:
        raise CommandFailed(f"no shop {shop!r}; import it first (kind shops)")
    return [key]
