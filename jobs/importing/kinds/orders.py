"""Orders: every version of each, as it was imported (contract 2)."""

from hashlib import sha256
from typing import ClassVar

import numpy as np
import orjson
import pyarrow as pa

from jobs.importing.checks import Checks
from jobs.importing.inserting import insert_new
from jobs.importing.kind import Kind, Written
from jobs.importing.lists import discount_codes, refunded
from jobs.importing.shops import Shops
from warehouse import tables
from warehouse.bulk import Bulk
from warehouse.days import NEVER
from warehouse.vocabulary import UTM_FIELDS


class Orders(Kind):
    name = "orders"
    fields: ClassVar = (
        "order_id",
        "shop_id",
        "created_at",
        "updated_at",
        "currency",
        "total_cents",
        "discount_cents",
        "customer_id",
        "email",
        "email_sha256",
        "visitor_id",
        "discount_codes",
        "refunds",
        "cancelled_at",
        "test",
        *UTM_FIELDS,
    )

    def check(self, checks: Checks, shops: Shops) -> pa.Table:
        """The columns of raw_order but batch_id."""
        shop = checks.shop(shops.keys)
        order = checks.text("order_id", required=True)
        created = checks.instant("created_at", required=True)
        updated = checks.instant("updated_at")
        _currency(checks, shop, shops)
        gross, _ = checks.whole("total_cents", required=True)
        discount, _ = checks.whole("discount_cents")
        cancelled = checks.instant("cancelled_at") != NEVER
        back = np.minimum(refunded(checks), gross)
        columns = {
            "shop_key": shop,
            "order_id": order,
            "updated_at": np.where(updated == NEVER, created, updated),
            "created_at": created,
            "gross": gross,
            "refunded": np.where(cancelled, gross, back),
            "discounted": discount,
            "customer_id": checks.text("customer_id"),
            "email_sha256": checks.email_sha256(),
            "visitor_id": checks.text("visitor_id"),
            "codes": discount_codes(checks, discount),
            "test": checks.flag("test").astype(np.int16),
            "cancelled": cancelled.astype(np.int16),
            **{name: checks.text(name, cut=255) for name in UTM_FIELDS},
        }
        rows = pa.table(columns)
        return rows.append_column("content", pa.array(_contents(rows), pa.string()))

    def write(self, bulk: Bulk, rows: pa.Table) -> Written:
        """Add the versions that are not known yet; of a known order such a one counts as replaced,
        whichever of its versions stands."""
        batches = insert_new(bulk, self.name, tables.raw_order, rows)
        added = sum(batches.values())
        if not added:
            return Written(duplicate=rows.num_rows)
        listed = ", ".join(map(str, batches))
        new = bulk.value(
            "SELECT COUNT(*) FROM (SELECT DISTINCT shop_key, order_id FROM raw_order "
            f"WHERE batch_id IN ({listed})) n WHERE NOT EXISTS (SELECT 1 FROM raw_order r "
            "WHERE r.shop_key = n.shop_key AND r.order_id = n.order_id "
            f"AND r.batch_id NOT IN ({listed}))"
        )
        return Written(new, rows.num_rows - added, added - new)


def _currency(checks: Checks, shop: np.ndarray, shops: Shops) -> None:
    given = checks.text("currency").to_pylist()
    if not any(given):
        return
    wrong = [
        bool(text) and text.upper() != shops.currencies.get(key, "")
        for text, key in zip(given, shop.tolist(), strict=True)
    ]
    checks.refuse(np.array(wrong, dtype=bool), "currency: not the shop's")


def _contents(rows: pa.Table) -> list[str]:
    """SHA-256 of each row as it is stored: the same for the same version, however it was written."""
    own = rows.drop_columns(["shop_key"])
    columns = [own[name].to_pylist() for name in sorted(own.column_names)]
    return [sha256(orjson.dumps(row)).hexdigest() for row in zip(*columns, strict=True)]
