"""The shops of the warehouse and their forms: add a shop, change it, list both.

A shop that is added has the row that an import of kind `shops` makes.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Final

from sqlalchemy import Connection, RowMapping, select, text

from warehouse import command
from warehouse.editions.editions import next_version
from warehouse.tables import form, shop

# Version 0 stands for what no import that is known has brought. It is the latest one, whatever clocks say.
_STANDS: Final = text(
    "INSERT INTO shop_version (shop_id, import_id, written_at, name, currency, timezone, repeated_by) "
    "SELECT shop_id, 0, COALESCE((SELECT MAX(v.written_at) + 1 FROM shop_version v "
    "WHERE v.shop_id = shop.shop_id AND v.written_at >= :now), CAST(:now AS BIGINT)), "
    "name, currency, timezone, '' FROM shop "
    "WHERE shop_key = :shop_key ON CONFLICT (shop_id, import_id) DO UPDATE SET "
    "written_at = excluded.written_at, name = excluded.name, currency = excluded.currency, "
    "timezone = excluded.timezone, repeated_by = ''"
)
_ADD: Final = text(
    "INSERT INTO shop (shop_id, name, currency, timezone, data_version, data_changed_at) "
    "VALUES (:shop_id, :name, :currency, :timezone, 1, :now) ON CONFLICT (shop_id) DO NOTHING"
)
_LIST: Final = select(shop.c.shop_id, shop.c.name, shop.c.currency, shop.c.timezone)
_FORMS: Final = (
    select(
        form.c.form_id, shop.c.shop_id, form.c.name, form.c.status, form.c.source, form.c.source_id
    )
    .join(shop, shop.c.shop_key == form.c.shop_key)
    .order_by(shop.c.shop_id, form.c.created_at, form.c.form_id)
)


class ShopDiffers(ValueError):
    """The shop is there, with other settings. The message says which."""

    def __init__(self, shop_id: str, differences: list[str]) -> None:
        super().__init__(
            f"there is a shop {shop_id!r} already, and it differs: {', '.join(differences)}. To change "
            f"it, import it again with `{command('jobs import shops')} FILE`"
        )


@dataclass(frozen=True)
class ShopSettings:
    """The settings of a shop, as they are stored."""

    shop_id: str
    name: str
    currency: str
    timezone: str


def add_shop(
    connection: Connection, shop_id: str, currency: str, timezone: str, name: str | None, now: int
) -> bool:
    """Add a shop whose settings are checked. Returns whether it is new. A shop that is there keeps its name
    if none is stated. Raises ShopDiffers if it has other settings."""
    stated = ShopSettings(shop_id, name or "", currency, timezone)
    if connection.execute(_ADD, asdict(stated) | {"now": now}).rowcount:
        return True
    row = find_shop_settings(connection, shop_id)
    differences = [
        f"its {setting} is {stored!r}, not {value!r}"
        for setting, value in asdict(stated).items()
        if (stored := getattr(row, setting)) != value and (setting != "name" or name is not None)
    ]
    if differences:
        raise ShopDiffers(shop_id, differences)
    return False


def change_shop(connection: Connection, shop_key: int, name: str, timezone: str, now: int) -> None:
    """Change a shop as an import of kind `shops` does: no undo of one takes it back. In another time zone,
    its figures are built anew by the next refresh."""
    statement = text(
        "UPDATE shop SET name = :name, timezone = :timezone, "
        f"{next_version(now)} WHERE shop_key = :shop_key"
    )
    connection.execute(statement, {"shop_key": shop_key, "name": name, "timezone": timezone})
    connection.execute(_STANDS, {"shop_key": shop_key, "now": now})


def find_shop_settings(connection: Connection, shop_id: str) -> ShopSettings:
    """The settings of a shop that is there."""
    return ShopSettings(*connection.execute(_LIST.where(shop.c.shop_id == shop_id)).one())


def list_shops(connection: Connection) -> list[ShopSettings]:
    """All shops, by id."""
    return [ShopSettings(*row) for row in connection.execute(_LIST.order_by(shop.c.shop_id))]


def list_forms(connection: Connection, shop_id: str | None = None) -> Sequence[RowMapping]:
    """The forms of a shop, or of all shops: by shop, the oldest first. `source`, `source_id`: the format in
    which a form's events come and its id there, "" where its id is our own."""
    statement = _FORMS if shop_id is None else _FORMS.where(shop.c.shop_id == shop_id)
    return connection.execute(statement).mappings().all()
