"""Shopify's orders as a bulk operation of the GraphQL Admin API writes them: an object a line, and
what an order has several of on lines of its own. See `shopify-bulk.md`."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar, Final

from jobs.importing.cells import Malformed
from jobs.importing.formats.format import ROUNDED, Format, Row, Taken, Target
from jobs.importing.formats.keeping import kept_text
from jobs.importing.formats.records import Record, Records, Sample
from jobs.importing.formats.shopify_children import ORDER, PARENT, whole_orders
from jobs.importing.formats.shopify_orders import (
    first_of,
    inner,
    last_part,
    minor,
    objects,
    paid_back,
    utm_of,
    visitor_of,
)

_ALLOCATIONS: Final = "lineItems[].discountAllocations[]"
_UTM: Final = ("source", "medium", "campaign", "term", "content")
_MONEY: Final = "shopMoney"


class ShopifyBulk(Format):
    name = "shopify-bulk"
    kind = "orders"
    counts: ClassVar = (ROUNDED,)
    takes: ClassVar = (
        Taken("id", "order_id"),
        Taken("createdAt", "created_at"),
        Taken("updatedAt", "updated_at"),
        Taken("totalPriceSet.shopMoney.currencyCode", "currency"),
        Taken("totalPriceSet.shopMoney.amount", "total_cents"),
        Taken("totalDiscountsSet.shopMoney.amount", "discount_cents"),
        Taken("customer.id", "customer_id"),
        Taken("email", "email"),
        Taken("customer.email", "email"),
        Taken("customer.defaultEmailAddress.emailAddress", "email"),
        Taken("customAttributes[].key", "visitor_id"),
        Taken("customAttributes[].value", "visitor_id"),
        Taken("discountCodes", "discount_codes"),
        Taken("discountApplications[].code", "discount_codes"),
        Taken(f"{_ALLOCATIONS}.allocatedAmountSet.shopMoney.amount", "discount_codes"),
        Taken(f"{_ALLOCATIONS}.discountApplication.code", "discount_codes"),
        Taken("refunds[].id", "refunds"),
        Taken("refunds[].createdAt", "refunds"),
        Taken("refunds[].totalRefundedSet.shopMoney.amount", "refunds"),
        Taken("refunds[].transactions[].kind", "refunds"),
        Taken("refunds[].transactions[].status", "refunds"),
        Taken("refunds[].transactions[].amountSet.shopMoney.amount", "refunds"),
        Taken("cancelledAt", "cancelled_at"),
        Taken("test", "test"),
        Taken("customerJourneySummary.lastVisit.landingPage", "utm_*"),
        *(
            Taken(f"customerJourneySummary.lastVisit.utmParameters.{name}", f"utm_{name}")
            for name in _UTM
        ),
    )

    def seems(self, sample: Sample) -> bool:
        """Whether they are orders by their global ids, or children of such."""
        return any(
            str(record.get(name, "")).startswith(ORDER)
            for record in sample.records
            for name in ("id", PARENT)
        )

    def records(self, path: Path) -> Iterator[Records]:
        """The orders, each with its children, wherever in the file they are: by the file's end."""
        return whole_orders(path, lambda record: kept_text(self, record))

    def row(self, record: Record, target: Target) -> Row:
        if not str(record.get("id", "")).startswith(ORDER):
            raise Malformed("id: not an order's")
        currency = inner(record, "totalPriceSet", _MONEY, "currencyCode")
        addresses = (
            record.get("email"),
            inner(record, "customer", "email"),
            inner(record, "customer", "defaultEmailAddress", "emailAddress"),
        )
        return {
            "order_id": last_part(record["id"]),
            "created_at": record.get("createdAt"),
            "updated_at": record.get("updatedAt"),
            "currency": currency,
            "total_cents": _amount(record, "totalPriceSet", currency, target),
            "discount_cents": _amount(record, "totalDiscountsSet", currency, target),
            "customer_id": last_part(inner(record, "customer", "id")),
            "email": first_of(addresses),
            "visitor_id": visitor_of(record.get("customAttributes"), "key"),
            "discount_codes": _codes(record, currency, target),
            "refunds": [
                {
                    "refund_id": last_part(refund.get("id")),
                    "created_at": refund.get("createdAt"),
                    "amount_cents": _refunded(refund, currency, target),
                }
                for refund in objects(record.get("refunds"))
            ],
            "cancelled_at": record.get("cancelledAt"),
            "test": record.get("test"),
            **_utm(inner(record, "customerJourneySummary", "lastVisit")),
        }


def _amount(record: Record, name: str, currency: Any, target: Target) -> int | None:
    return minor(target, name, inner(record, name, _MONEY, "amount"), currency)


def _refunded(refund: Record, currency: Any, target: Target) -> int | None:
    """What was given back: the sum of the transactions that did so, where they are exported."""
    transactions = objects(refund.get("transactions"))
    if not transactions:
        return _amount(refund, "totalRefundedSet", currency, target)
    return sum(
        _amount(one, "amountSet", currency, target) or 0 for one in transactions if paid_back(one)
    )


def _codes(record: Record, currency: Any, target: Target) -> list[Row]:
    """The codes, each with what it took off the order's lines, where the export tells."""
    listed = record.get("discountCodes")
    named = [*(listed if isinstance(listed, list) else ())]
    named += [one.get("code") for one in objects(record.get("discountApplications"))]
    found: dict[str, Row] = {}
    for code in filter(None, named):
        found.setdefault(str(code).upper(), {"code": code})
    for item in objects(record.get("lineItems")):
        for part in objects(item.get("discountAllocations")):
            code = inner(part, "discountApplication", "code")
            amount = _amount(part, "allocatedAmountSet", currency, target)
            if code and amount is not None:
                row = found.setdefault(str(code).upper(), {"code": code})
                row["amount_cents"] = row.get("amount_cents", 0) + amount
    return list(found.values())


def _utm(visit: Any) -> Row:
    """The UTM parameters of the page on which the visit began, else those that Shopify read."""
    found = utm_of(inner(visit, "landingPage"))
    if found:
        return found
    return {f"utm_{name}": inner(visit, "utmParameters", name) for name in _UTM}
