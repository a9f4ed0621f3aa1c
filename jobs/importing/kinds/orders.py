"""Orders: every version of each, as it was imported."""

from collections.abc import Iterable
from dataclasses import replace
from typing import ClassVar, Final

import numpy as np
import orjson
import pyarrow as pa

from jobs.importing.kinds.append_only import insert_wanted
from jobs.importing.kinds.base import Kind, Written
from jobs.importing.kinds.events import BUYER_FIELDS, UTM_FIELD_LIST, keyed_hashes, read_emails
from jobs.importing.kinds.order_versions import with_identity
from jobs.importing.shops import SHOP_ID, ImportedShops
from jobs.importing.values.columns import ChunkColumns
from jobs.importing.values.errors import quoted
from jobs.importing.values.fields import CURRENCY, FLAG, INSTANT, SENT_ID, WHOLE, Field, FieldType
from jobs.importing.values.order_lists import discount_codes, from_json, refunded_cents, refunds
from jobs.run.errors import CommandFailed
from warehouse import tables
from warehouse.connections.arrow import ArrowConnection
from warehouse.domain.time import NEVER

CODES: Final = FieldType(
    "list of {code, amount_cents?, discount_id?}",
    discount_codes,
    "[]",
    read_text=lambda value, **how: discount_codes(from_json(value), **how),
    has_ids_inside=True,
)
REFUNDS: Final = FieldType(
    "list of {refund_id, created_at, amount_cents}",
    refunds,
    "[]",
    read_text=lambda value, **how: refunds(from_json(value), **how),
    has_ids_inside=True,
)


class OrdersKind(Kind):
    name = "orders"
    fields: ClassVar = (
        Field("order_id", SENT_ID, "unique in the shop", required=True),
        SHOP_ID,
        Field("created_at", INSTANT, "when it was placed", required=True),
        Field("updated_at", INSTANT, "the version with the latest stands"),
        Field(
            "exported_at",
            INSTANT,
            "when the file was written; in place of updated_at; default: created_at",
        ),
        Field("currency", CURRENCY, "the shop's; default: the shop's", decides=True),
        Field(
            "total_cents", WHOLE, "gross, in minor units; refunds do not change it", required=True
        ),
        Field("discount_cents", WHOLE, "all discounts, in minor units"),
        *BUYER_FIELDS,
        Field("visitor_id", SENT_ID, "the browser or device, as events have it"),
        Field(
            "discount_codes",
            CODES,
            "the codes used; a sole code without an amount has the order's discount_cents",
        ),
        Field("refunds", REFUNDS, "all refunds so far; a refund_id counts once"),
        Field("cancelled_at", INSTANT, "a cancelled order counts as refunded"),
        Field("test", FLAG, "a test order is in no figure"),
        *UTM_FIELD_LIST,
    )

    def check(self, columns: ChunkColumns, shops: ImportedShops) -> pa.Table:
        """The columns of raw_order but batch_id; and the currency of each row's shop."""
        own = (field for field in self.fields if field.name not in _READ_TOGETHER)
        shop = columns.read(shops.key_field())
        read = columns.read_all(own)
        # Orders in another currency than their shop's are refused.
        pairs = zip(read.pop("currency").to_pylist(), shop.to_pylist(), strict=True)
        allowed = {("", key) for key in (0, *shops.currencies)}
        allowed |= {(currency, key) for key, currency in shops.currencies.items()}
        for row, (currency, key) in enumerate(pairs):
            if (currency, key) not in allowed:
                own_currency = shops.currencies.get(key, "")
                why = f"{quoted(currency)} is not the shop's currency ({own_currency})"
                columns.refuse([row], "currency", why)
        created = read["created_at"].to_numpy()
        exported = read.pop("exported_at").to_numpy()
        updated = read["updated_at"].to_numpy()
        # The time of the file says nothing of an order that states its version.
        exported = np.where(updated == NEVER, exported, NEVER)
        updated = np.where(updated == NEVER, exported, updated)
        gross = read.pop("total_cents").to_numpy()
        cancelled = read.pop("cancelled_at").to_numpy() != NEVER
        discount = read.pop("discount_cents")
        # Nearly all orders have no refunds.
        refunds = read["refunds"].to_pylist()
        refunded = np.array([0 if text == "[]" else refunded_cents(text) for text in refunds])
        refunded = np.minimum(refunded, gross)
        emails = read_emails(columns)
        rows = pa.table(
            {
                "shop_key": shop,
                **read,
                "updated_at": np.where(updated == NEVER, created, updated),
                "exported_at": exported,
                "gross": gross,
                "refunded": np.where(cancelled, gross, refunded),
                "discounted": discount,
                "email_sha256": keyed_hashes(emails, columns.hasher),
                "cancelled": cancelled.astype(np.int16),
            }
        ).drop_columns(["discount_codes"])
        # A code without an amount has the order's discount.
        codes = read["discount_codes"].to_pylist()
        for row, text in enumerate(codes):
            if ",null," in text:
                items = [
                    [code, discount[row].as_py() if amount is None else amount, discount_id]
                    for code, amount, discount_id in orjson.loads(text)
                ]
                codes[row] = orjson.dumps(items).decode()
        rows = rows.append_column("codes", pa.array(codes, pa.string()))
        rows = with_identity(rows, emails, columns.is_incomplete())
        currencies = [shops.currencies.get(key) for key in shop.to_pylist()]
        return rows.append_column(_CURRENCY, pa.array(currencies, pa.string()))

    def write(self, connection: ArrowConnection, rows: pa.Table, import_id: int) -> Written:
        """Add the versions that are new. A version that stands in place of an earlier import counts as
        replaced; one that does not is kept, and counts as duplicate. Raises CommandFailed if an import of
        shops has changed a currency since the rows were checked (see `ShopsKind`)."""
        checked = rows.select(["shop_key", _CURRENCY])
        rows = rows.drop_columns([_CURRENCY])
        inserted = insert_wanted(connection, self.name, tables.raw_order, rows, import_id)
        # An amount would count in another currency. From now on an import of shops waits for this one.
        pairs = checked.group_by(checked.column_names).aggregate([]).to_pydict()
        was = dict(zip(pairs["shop_key"], pairs[_CURRENCY], strict=True))
        now = connection.table(
            "SELECT shop_key, shop_id, currency FROM shop "
            f"WHERE shop_key IN ({', '.join(map(str, was))})"
        )
        for row in now.to_pylist():
            if row["currency"] != was[row["shop_key"]]:
                raise CommandFailed(
                    f"the currency of shop {row['shop_id']!r} has become {row['currency']} while its orders "
                    "were imported: import the file again"
                )
        if not inserted.new:
            return Written(duplicate=inserted.rows.num_rows, more=inserted.counts)
        standing = _versions_before(connection, inserted.batches)
        return replace(_count_versions(inserted.rows, standing), more=inserted.counts)


_CURRENCY: Final = "shop_currency"
_READ_TOGETHER: Final = {SHOP_ID.name, "email", "email_sha256"}

# A version, by what decides which one stands; None before the first.
Version = tuple[int, str, str] | None


def _versions_before(
    connection: ArrowConnection, batches: Iterable[int]
) -> dict[tuple[int, str], Version]:
    """The version of each order in these batches, by shop and order, that stood before them."""
    listed = ", ".join(map(str, batches))
    # Subqueries for each order: for a join PostgreSQL would read the whole table.
    latest = (
        "(SELECT r.{} FROM raw_order r WHERE r.shop_key = n.shop_key AND r.order_id = n.order_id "
        f"AND r.batch_id NOT IN ({listed}) "
        f"ORDER BY {', '.join(f'r.{name} DESC' for name in _VERSION)} LIMIT 1)"
    )
    before = ", ".join(f"{latest.format(name)} AS {name}" for name in _VERSION)
    rows = connection.table(
        f"SELECT shop_key, order_id, {before} FROM (SELECT DISTINCT shop_key, order_id "
        f"FROM raw_order WHERE batch_id IN ({listed})) n"
    )
    columns = (rows[name].to_pylist() for name in (*_ORDER, *_VERSION))
    return {
        (shop, order_id): None if content is None else (updated_at, precedence, content)
        for shop, order_id, updated_at, precedence, content in zip(*columns, strict=True)
    }


def _count_versions(rows: pa.Table, standing: dict[tuple[int, str], Version]) -> Written:
    """Count the rows one after the other, so that any portions give the same counts. `standing`: the
    versions before them; an order that is not in it has no new version. A later export that says what the
    standing one says counts as duplicate."""
    written = Written()
    columns = (rows[name].to_pylist() for name in (*_ORDER, *_VERSION))
    for shop, order_id, updated_at, precedence, content in zip(*columns, strict=True):
        version = updated_at, precedence, content
        before = standing.get((shop, order_id), _NO_NEW_VERSION)
        if before is None:
            written.new += 1
        elif version <= before:
            written.duplicate += 1
            continue
        elif content == before[-1]:
            written.duplicate += 1
        else:
            written.replaced += 1
        standing[shop, order_id] = version
    return written


_ORDER: Final = ("shop_key", "order_id")
_VERSION: Final = ("updated_at", "precedence", "content")
# Greater than any version.
_NO_NEW_VERSION: Final = (NEVER, "", "")
