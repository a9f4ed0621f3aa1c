"""Shops: one row per `shop_id`, as it was imported last."""

from dataclasses import replace
from typing import ClassVar, Final

import numpy as np
import pyarrow as pa

from jobs.importing.kinds.replace_last import (
    STAGED,
    ReplaceLast,
    TakenBack,
    Upsert,
    take_back,
)
from jobs.importing.values.columns import ChunkColumns
from jobs.importing.values.errors import quoted
from jobs.importing.values.fields import CURRENCY, ID, NAME, TIMEZONE, Field
from warehouse.connections.arrow import ArrowConnection
from warehouse.tables import shop

_STATED: Final = "stated_shops"
_OTHER_CURRENCY: Final = (
    f"FROM {_STATED} k CROSS JOIN shop s WHERE s.shop_id = k.shop_id AND s.currency <> k.currency"
)
_HAS_MONEY: Final = " OR ".join(
    f"EXISTS (SELECT 1 FROM {table} t WHERE t.shop_key = s.shop_key)"
    for table in ("raw_order", "ad_spend")
)


class ShopsKind(ReplaceLast):
    """Shops. The next rollup rebuilds a shop whose timezone has changed. Its currency stays while it has
    orders, whose amounts are in it, or ad spend."""

    name = "shops"
    needs_shop = False
    fields: ClassVar = (
        Field("shop_id", ID, "a domain such as example.myshopify.com", required=True),
        Field("name", NAME, "for people"),
        Field("currency", CURRENCY, "of all its orders", required=True),
        Field(
            "timezone", replace(TIMEZONE, missing="UTC"), "of its days; default: UTC", decides=True
        ),
    )
    upsert = Upsert(
        shop,
        tuple(field.name for field in fields),
        keys=1,
        touched=f"shop_id IN (SELECT shop_id FROM {STAGED})",
    )

    def take_back(self, connection: ArrowConnection, import_id: int) -> TakenBack:
        """Undo an import. A shop stays when the only import that named it is undone: its other rows may be
        there. It keeps the currency of its money."""
        connection.lock_table(shop.name)
        connection.lock_table("raw_order")
        may_stand = f"(s.currency = v.currency OR NOT ({_HAS_MONEY}))"
        return take_back(connection, self.upsert, import_id, may_go=False, may_stand=may_stand)

    def refuse_stored(
        self, connection: ArrowConnection, columns: ChunkColumns, rows: pa.Table
    ) -> bool:
        """Refuse another currency than that of a shop that has orders or ad spend."""
        connection.lock_table(shop.name)
        stated = rows.select(["shop_id", "currency"])
        connection.stage(_STATED, stated.append_column("place", pa.array(np.arange(len(stated)))))
        if connection.value(f"SELECT COUNT(*) {_OTHER_CURRENCY}"):
            # An import of orders ends before this, or sees the currency that is written here.
            connection.lock_table("raw_order")
        refused = connection.table(
            f"SELECT k.place, k.currency, s.currency AS own {_OTHER_CURRENCY} AND ({_HAS_MONEY})"
        )
        for row in refused.to_pylist():
            columns.refuse(
                [row["place"]],
                "currency",
                f"{quoted(row['currency'])} is not the shop's currency ({row['own']}), which "
                "cannot change while it has orders or ad spend",
            )
        return True
