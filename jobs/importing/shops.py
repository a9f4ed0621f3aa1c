"""The shops that rows can belong to."""

from dataclasses import dataclass, replace

import pyarrow as pa

from jobs.importing.files.chunk import UnreadableFile
from jobs.importing.values.errors import InvalidValue, quoted
from jobs.importing.values.fields import ID, Field
from jobs.importing.values.texts import identifier
from warehouse import tables
from warehouse.connections.arrow import ArrowConnection
from warehouse.editions.pending_batches import sql_list

SHOP_ID = Field("shop_id", ID, "the shop that the row belongs to; imported before", required=True)


@dataclass(frozen=True)
class ImportedShops:
    """The shops that rows can belong to."""

    # Shop id -> shop key.
    keys: dict[str, int]
    # Shop key -> ISO 4217.
    currencies: dict[int, str]
    # The id of the one shop that rows may belong to, where the file's folder names it.
    only: str = ""

    def narrowed(self, shop_id: str) -> "ImportedShops":
        """This shop alone, or none where it is not among them. Rows of other shops, and of none, are refused
        alike: nobody learns which shops there are."""
        key = self.keys.get(shop_id)
        return ImportedShops(
            {} if key is None else {shop_id: key},
            {} if key is None else {key: self.currencies[key]},
            shop_id,
        )

    def key_field(self) -> Field:
        """`shop_id`, read as the key of the shop."""
        return replace(
            SHOP_ID, type=replace(ID, read=self._key, missing=0, arrow=pa.int64(), read_clean=None)
        )

    def find(self, value: object) -> int:
        """The key of the shop that a cell of `shop_id` names, 0 if it names none."""
        try:
            return self.keys.get(identifier(value), 0)
        except InvalidValue:
            return 0

    def _key(self, value: object) -> int:
        key = self.keys.get(identifier(value))
        if key is None and self.only:
            raise InvalidValue(f"{quoted(value)} is not the shop of this file")
        if key is None:
            raise InvalidValue(
                f"{quoted(value)} is not an imported shop; import it first (kind shops)"
            )
        return key


class ShopDeleted(UnreadableFile):
    """A shop was deleted while rows of it were imported; nothing of the transaction stays."""

    def __init__(self) -> None:
        super().__init__(
            "a shop of this file was deleted while it was imported; import the file again: the rows of "
            "that shop are rejected then"
        )


def keep_shops(connection: ArrowConnection, rows: pa.Table) -> set[int]:
    """The shops of rows that were just written. They cannot be deleted until the end of the transaction.

    Raises ShopDeleted, after a rollback, if one is no longer there.
    """
    if "shop_key" not in rows.column_names:
        return set()
    keys = rows["shop_key"].unique().to_pylist()
    listed = sql_list(keys)
    connection.keep_shops(listed)
    if connection.value(f"SELECT COUNT(*) FROM shop WHERE shop_key IN ({listed})") < len(keys):
        connection.rollback()
        raise ShopDeleted
    return set(keys)


def load_shops(connection: ArrowConnection) -> ImportedShops:
    """All shops of the warehouse. Commits, so that the next transaction can begin with a write."""
    rows = connection.rows_of(
        tables.shop, "SELECT shop_key, shop_id, currency FROM shop"
    ).to_pylist()
    connection.commit()
    return ImportedShops(
        {row["shop_id"]: row["shop_key"] for row in rows},
        {row["shop_key"]: row["currency"] for row in rows},
    )
