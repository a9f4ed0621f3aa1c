"""Shopify's orders of the GraphQL Admin API: as a bulk operation writes them, an object a line, the parts of
an order on lines of their own; or as it answers a query, with the parts in the order. See `bulk.md`."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, ClassVar, Final

from jobs.importing.files.chunk import CHUNK_ROWS, BrokenLine
from jobs.importing.files.json import json_values
from jobs.importing.formats.base import (
    Record,
    Records,
    Row,
    Sample,
    SourceField,
    Target,
    kept_record,
)
from jobs.importing.formats.shopify.orders import ShopifyOrders, in_snake_case, objects
from jobs.importing.formats.shopify.parent_child_join import Lines, ParentChildJoin
from jobs.importing.values.errors import InvalidValue, quoted
from jobs.importing.values.notation import AS_SHOWN, Reading

_ALLOCATIONS: Final = "lineItems[].discountAllocations[]"
_UTM: Final = ("source", "medium", "campaign", "term", "content")
_PARENT: Final = "__parentId"
_ORDER: Final = "gid://shopify/Order/"
_REFUND: Final = "gid://shopify/Refund/"
_RETURN: Final = "gid://shopify/Return/"
_CODE: Final = "DiscountCodeApplication"
# All that such an application can have. A line of shipping has a code, too, but also a title or an id.
_OF_A_CODE: Final = frozenset(
    (
        *("allocationMethod", "code", "index", "targetSelection", "targetType", "value"),
        *("__typename", _PARENT),
    )
)
_ORPHAN: Final = "its order is not in the file"
_ORDERS_PER_CHUNK: Final = 5_000


class ShopifyBulk(ShopifyOrders):
    name = "shopify-bulk"
    title = "Shopify's orders, from a bulk operation"
    list_members = ("data", "order", "orders", "edges", "node", "nodes")
    says: ClassVar = {
        "total_price": "totalPriceSet",
        "current_total_price": "currentTotalPriceSet",
        "total_discounts": "totalDiscountsSet",
        "total_refunded_set": "totalRefundedSet",
        "refunds.transactions.amount": "amountSet",
        "allocated_amount_set": "allocatedAmountSet",
    }
    refund_total = "total_refunded_set"
    source_fields = (
        SourceField("id", "order_id"),
        SourceField("processedAt", "created_at"),
        SourceField("createdAt", "created_at"),
        SourceField("updatedAt", "updated_at"),
        SourceField("totalPriceSet.shopMoney.currencyCode", "currency"),
        SourceField("totalPriceSet.shopMoney.amount", "total_cents"),
        SourceField("totalDiscountsSet.shopMoney.amount", "discount_cents"),
        SourceField("customer.id", "customer_id"),
        SourceField("email", "email"),
        SourceField("customer.email", "email"),
        SourceField("customer.defaultEmailAddress.emailAddress", "email"),
        SourceField("customAttributes[].key", "visitor_id"),
        SourceField("customAttributes[].value", "visitor_id"),
        SourceField("discountCodes", "discount_codes"),
        SourceField("discountApplications[].code", "discount_codes"),
        SourceField(f"{_ALLOCATIONS}.allocatedAmountSet.shopMoney.amount", "discount_codes"),
        SourceField(f"{_ALLOCATIONS}.discountApplication.code", "discount_codes"),
        SourceField("refunds[].id", "refunds"),
        SourceField("refunds[].createdAt", "refunds"),
        SourceField("refunds[].totalRefundedSet.shopMoney.amount", "refunds"),
        SourceField("refunds[].transactions[].kind", "refunds"),
        SourceField("refunds[].transactions[].status", "refunds"),
        SourceField("refunds[].transactions[].amountSet.shopMoney.amount", "refunds"),
        SourceField("currentTotalPriceSet.shopMoney.amount", "refunds"),
        SourceField("returns[].id", "refunds"),
        SourceField("cancelledAt", "cancelled_at"),
        SourceField("test", "test"),
        SourceField("customerJourneySummary.lastVisit.landingPage", "utm_*"),
        *(
            SourceField(f"customerJourneySummary.lastVisit.utmParameters.{name}", f"utm_{name}")
            for name in _UTM
        ),
    )

    def matches(self, sample: Sample) -> bool:
        """Whether records are orders by their global ids, or parts of orders."""
        return any(
            str(record.get(name, "")).startswith(_ORDER)
            for record in sample.records
            for name in ("id", _PARENT)
        )

    def records(self, path: Path, reading: Reading = AS_SHOWN) -> Iterator[Records]:
        """The orders, each with its parts, wherever in the file they are; once all of it is read."""
        part = Records([])
        for found, part.position in self._orders(path):
            if isinstance(found, BrokenLine):
                part.broken.append(found)
            else:
                part.numbered.append(found)
            if len(part.broken) >= CHUNK_ROWS or len(part.numbered) >= _ORDERS_PER_CHUNK:
                yield part
                part = Records([], position=part.position)
        yield part

    def _orders(self, path: Path) -> Iterator[tuple[tuple[int, Record] | BrokenLine, int]]:
        """Each broken line, order and part without an order, with the bytes of the file read so far."""
        position = 0
        with ParentChildJoin() as join:
            for number, record, position, _ in json_values(path, self.list_members):
                if isinstance(record, BrokenLine):
                    yield record, position
                elif (piece := _piece(record)) is not None:
                    own, parent = (str(record.get(name) or "") for name in ("id", _PARENT))
                    join.add(number, own, parent, self.kept_text(piece))
            for line, order_id, text, lines in join.parents():
                yield (line, _whole(join, order_id, text, lines)), position
            for line in join.orphans():
                yield BrokenLine(line, _ORPHAN), position

    def row(self, record: Record, target: Target) -> Row:
        if not str(record.get("id", "")).startswith(_ORDER):
            raise InvalidValue(f"id: {quoted(record.get('id'))} is not the id of an order")
        return super().row(in_snake_case(record), target)


def _listed(member: Any) -> Any:
    """A connection (`{"edges": [{"node": ...}]}`, `{"nodes": [...]}`) as a list; other values as they are."""
    if not isinstance(member, dict):
        return member
    if isinstance(member.get("nodes"), list):
        return member["nodes"]
    if isinstance(member.get("edges"), list):
        return [edge.get("node") for edge in objects(member["edges"])]
    return member


def _piece(value: Record) -> Record | None:
    """The object of a line as an order, or as the part of one; None if it is neither. In it connections are
    lists, and lines of shipping are lines like the others."""
    value = {name: _listed(member) for name, member in value.items()}
    shipping = objects(value.pop("shippingLines", None))
    if shipping:
        value["lineItems"] = [*objects(value.get("lineItems")), *shipping]
    for refund in objects(value.get("refunds")):
        refund["transactions"] = _listed(refund.get("transactions"))
    parent, own = str(value.get(_PARENT) or ""), str(value.get("id") or "")
    if not parent:
        return value
    if parent.startswith(_REFUND) and "amountSet" in value:
        return {"refunds": [{"transactions": [value]}]}
    if own.startswith(_REFUND) and parent.startswith((_ORDER, _RETURN)):
        return {"refunds": [value]}
    if not parent.startswith(_ORDER):
        return None
    if own.startswith(_RETURN):
        return {"returns": [value]}
    if value.get("discountAllocations"):
        return {"lineItems": [value]}
    is_code = value.keys() <= _OF_A_CODE and value.get("__typename", _CODE) == _CODE
    if value.get("code") and is_code:
        return {"discountApplications": [value]}
    return None


def _whole(join: ParentChildJoin, order_id: str, text: str, lines: Lines) -> Record:
    """An order with its parts, which are on these lines, in the lists that they belong to."""
    order = kept_record(text) or {}
    _add(order, join.children(order_id, lines))
    for of_order in objects(order.get("returns")):
        _add(order, join.children(str(of_order.get("id")), lines))
    # A refund can be both the order's and its return's, with other members in each place.
    refunds: dict[str, Record] = {}
    for refund in objects(order.get("refunds")):
        refund_id = str(refund.get("id"))
        refunds[refund_id] = refund | refunds.get(refund_id, {})
    order["refunds"] = list(refunds.values())
    for refund in order["refunds"]:
        parts = [kept_record(part) or {} for part in join.children(str(refund.get("id")), lines)]
        if parts:
            refund["transactions"] = [
                transaction
                for part in parts
                for item in part["refunds"]
                for transaction in item["transactions"]
            ]
    return order


def _add(order: Record, parts: Iterable[str]) -> None:
    """Add parts to the lists of an order."""
    added: dict[str, list[Any]] = {}
    for part in parts:
        for name, items in (kept_record(part) or {}).items():
            added.setdefault(name, objects(order.get(name))).extend(items)
    order.update(added)
