"""An order of Shopify as a row: one mapping for both APIs. Names are those of REST; GraphQL has the same ones
in camelCase (`in_snake_case`), and some of its own."""

import re
from contextlib import suppress
from fractions import Fraction
from functools import lru_cache, partial
from typing import Any, ClassVar, Final
from urllib.parse import parse_qsl, urlsplit

from jobs.importing.formats.base import ROUNDED, Format, Record, Row, Target
from jobs.importing.values.errors import InvalidValue, quoted
from jobs.importing.values.numbers import decimal
from jobs.importing.values.times import any_instant, recent_instant
from warehouse.domain.time import from_micros
from warehouse.domain.vocabulary import UTM_FIELDS

# Attributes of an order in which a shop's theme can leave the visitor's id. The checkout does not show
# those with an underscore in front.
VISITOR_ATTRIBUTES: Final = ("visitor_id", "_visitor_id")
# The id of the refund that stands for lines which were removed without one.
REMOVED: Final = "removed"
# Times as Shopify writes them.
_WHOLE_SECOND: Final = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(Z|[+-]\d\d:\d\d)")
_CAPITAL: Final = re.compile(r"[A-Z]")


class ShopifyOrders(Format):
    """Orders of one of the APIs."""

    kind = "orders"
    counts = (ROUNDED,)
    # The name of a place of money in a reject, where that is not REST's name.
    says: ClassVar[dict[str, str]] = {}
    # The amount of a refund without transactions; without it, such a refund is of nothing.
    refund_total = ""

    def row(self, record: Record, target: Target) -> Row:
        shop_money = "total_price_set.shop_money.currency_code"
        currency = first(record, shop_money, "currency")

        def money(name: str, amount: Any, rate: Fraction | None = None) -> int | None:
            return target.minor(self.says.get(name, name), amount, currency, rate)

        def stated(name: str) -> Any:
            return first(record, f"{name}_set.shop_money.amount", name)

        def refund_row(refund: Record) -> Row:
            dated = {"refund": refund} | record
            return {
                "refund_id": last_part(refund.get("id")),
                "created_at": first(dated, "refund.created_at", "updated_at", "created_at"),
                "amount_cents": self._refunded(refund, record, currency, money),
            }

        price, current = stated("total_price"), stated("current_total_price")
        gross = money("total_price", price)
        # Most orders have lost nothing: nearly half of the time goes into the reading of amounts.
        left = gross
        if current != price:
            left = target.if_usable("refunds", lambda: money("current_total_price", current))
        refunds = [
            row
            for refund in _members(record, "refunds", target)
            if (row := target.if_usable("refunds", partial(refund_row, refund)))
        ]
        removal = None if left == gross else _removal(record, gross, left, refunds)
        refunds += [removal] if removal else []
        placed = _placed(record)
        is_read_otherwise = removal or placed != record.get("created_at")
        return {
            "order_id": last_part(record.get("id")),
            "created_at": placed,
            "updated_at": _later(record) if is_read_otherwise else record.get("updated_at"),
            "currency": currency,
            "total_cents": gross,
            "discount_cents": target.if_usable(
                "discount_cents", lambda: money("total_discounts", stated("total_discounts"))
            ),
            "customer_id": last_part(at(record, "customer.id")),
            "email": first(
                record,
                "email",
                "contact_email",
                "customer.email",
                "customer.default_email_address.email_address",
            ),
            "visitor_id": _visitor(record),
            "discount_codes": _codes(record, money, target),
            "refunds": refunds,
            "cancelled_at": record.get("cancelled_at"),
            "test": record.get("test"),
            **_utm(record),
        }

    def _refunded(self, refund: Record, order: Record, currency: Any, money: Any) -> int | None:
        """The amount of a refund: what its transactions have moved."""
        transactions = objects(refund.get("transactions"))
        if self.refund_total and not transactions:
            stated = at(refund, f"{self.refund_total}.shop_money.amount")
            units: int | None = money(self.refund_total, stated)
            return units
        total = 0
        for transaction in transactions:
            kind, status = (str(transaction.get(name)).lower() for name in ("kind", "status"))
            if (kind, status) == ("refund", "success"):
                amount = first(transaction, "amount_set.shop_money.amount", "amount")
                rate = _rate(amount, transaction, order, currency)
                total += money("refunds.transactions.amount", amount, rate) or 0
        return total


def _placed(order: Record) -> Any:
    """The instant at which an order was placed, as it is written. One that was brought over from another
    system was created later."""
    created, processed = order.get("created_at"), order.get("processed_at")
    if processed in (None, "", created):
        return created
    try:
        at = recent_instant(processed)
    except InvalidValue:  # of an optional field: it does not cost the order
        return created
    return created if at == _instant(created) else processed


def _removal(order: Record, gross: int | None, left: int | None, refunds: list[Row]) -> Row | None:
    """The amount that an order has lost beyond its refunds, as one more refund: lines that were removed
    before they were paid, or exchanged. The last record of a refund without money dates it."""
    if gross is None or left is None:
        return None
    paid = {str(refund["refund_id"]): max(0, refund["amount_cents"] or 0) for refund in refunds}
    amount = gross - left - sum(paid.values())
    if amount <= 0:
        return None
    unpaid = (refund["created_at"] for refund in refunds if not refund["amount_cents"])
    dated = max((at for at in unpaid if _instant(at)), key=_instant, default=None)
    at = dated or first(order, "updated_at", "created_at")
    return {"refund_id": REMOVED, "created_at": at, "amount_cents": amount}


def _later(order: Record) -> Any:
    """The version of an order that releases up to 0.1 read otherwise, later by a microsecond: what they have
    stored of the same version must not stand over it. Shopify's versions are seconds apart."""
    stated = first(order, "updated_at", "created_at")
    if isinstance(stated, str) and _WHOLE_SECOND.fullmatch(stated):
        return f"{stated[:19]}.000001{stated[19:]}"
    at = _instant(stated)
    return from_micros(at + 1).isoformat() if at else stated


def _instant(written: Any) -> int:
    """A time as an instant, 0 for what is none."""
    try:
        return any_instant(written)
    except InvalidValue:
        return 0


def _visitor(order: Record) -> Any:
    attributes = [*objects(order.get("note_attributes")), *objects(order.get("custom_attributes"))]
    pairs = [(first(item, "name", "key"), item.get("value")) for item in attributes]
    values = (value for name in VISITOR_ATTRIBUTES for key, value in pairs if key == name)
    return next((value for value in values if value not in (None, "")), None)


def _codes(order: Record, money: Any, target: Target) -> list[Row]:
    """The codes with their amounts, as REST states them; then those that are only named, each with what it
    took off the order's lines, if the export has that."""

    def amount_of(name: str, amount: Any) -> int | None:
        units: int | None = target.if_usable("discount_codes", lambda: money(name, amount))
        return units

    stated = order.get("discount_codes")
    rows = [
        {
            "code": item.get("code"),
            "amount_cents": amount_of("discount_codes.amount", item.get("amount")),
        }
        for item in _members(order, "discount_codes", target)
    ]
    by_code = {str(row["code"]).upper(): row for row in rows}

    def named(code: Any) -> Row:
        if (key := str(code).upper()) not in by_code:
            by_code[key] = {"code": code}
            rows.append(by_code[key])
        return by_code[key]

    names = (
        [item for item in stated if not isinstance(item, dict)] if isinstance(stated, list) else []
    )
    names += [item.get("code") for item in objects(order.get("discount_applications"))]
    for code in filter(None, names):
        named(code)
    for line in objects(order.get("line_items")):
        for allocation in objects(line.get("discount_allocations")):
            code = at(allocation, "discount_application.code")
            amount = amount_of(
                "allocated_amount_set", at(allocation, "allocated_amount_set.shop_money.amount")
            )
            if code and amount is not None:
                row = named(code)
                row["amount_cents"] = (row.get("amount_cents") or 0) + amount
    return rows


def _members(order: Record, name: str, target: Target) -> list[Record]:
    """The objects in a list of the order. Anything else than a list is left out."""
    value = order.get(name)
    if value not in (None, "") and not isinstance(value, list):
        target.left_out.append((name, f"{quoted(value)} is not a list"))
    return objects(value)


def _rate(amount: Any, transaction: Record, order: Record, currency: Any) -> Fraction | None:
    """The value of one unit of a transaction's currency in the shop's; None if they are the same, or the
    amount is 0 in either.

    Transactions of REST are in the currency that the buyer was shown. The order's total is stated in both; at
    its rate a refund of the whole order is the whole order.
    """
    paid_in = transaction.get("currency")
    if paid_in in (None, "", currency):
        return None
    with suppress(InvalidValue):  # missing, or no number: `Target.minor` tells them apart
        if decimal(amount) == "0":
            return None
    if paid_in != at(order, "total_price_set.presentment_money.currency_code"):
        raise InvalidValue(
            f"refunds.transactions.currency: {quoted(paid_in)} is none of the order's currencies"
        )
    total, shown = (
        at(order, f"total_price_set.{money}.amount")
        for money in ("shop_money", "presentment_money")
    )
    try:
        return Fraction(decimal(total)) / Fraction(decimal(shown))
    except (InvalidValue, ZeroDivisionError):
        raise InvalidValue("total_price_set: has no rate for the refund") from None


def _utm(order: Record) -> Row:
    """The UTM parameters of the page on which the visit began, or else those that Shopify read."""
    visit = at(order, "customer_journey_summary.last_visit")
    page = first(order, "landing_site", "customer_journey_summary.last_visit.landing_page")
    row: Row = {}
    if isinstance(page, str) and "utm_" in page:
        with suppress(ValueError):  # text with brackets that is no address
            # Addresses in ads have long parameters of the ads' own, too.
            parts = urlsplit(page).query.split("&")
            tags = "&".join(part for part in parts if part.startswith("utm_"))
            # The first of repeated ones that is not empty.
            for name, value in parse_qsl(tags):
                if name in UTM_FIELDS:
                    row.setdefault(name, value.replace("\0", ""))
    if row or not isinstance(visit, dict):
        return row
    return {name: at(visit, name.replace("utm_", "utm_parameters.")) for name in UTM_FIELDS}


def last_part(gid: Any) -> Any:
    """The number of a global id (`gid://shopify/Order/1`); other values as they are."""
    if not isinstance(gid, str) or not gid.startswith("gid://"):
        return gid
    return gid.rpartition("/")[2].partition("?")[0]


def objects(value: Any) -> list[Record]:
    """The objects in a list; none if it is no list."""
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def at(record: Any, place: str) -> Any:
    """The value at a place (`customer.id`); None if an object on the way is missing."""
    for name in place.split("."):
        record = record.get(name) if isinstance(record, dict) else None
    return record


def first(record: Record, *places: str) -> Any:
    """The first value at some places that is not missing."""
    for place in places:
        if (value := at(record, place)) not in (None, ""):
            return value
    return None


def in_snake_case(value: Any) -> Any:
    """A value with the names of GraphQL as REST spells them."""
    if isinstance(value, list):
        return [in_snake_case(item) for item in value]
    if not isinstance(value, dict):
        return value
    return {_snake_case(name): in_snake_case(member) for name, member in value.items()}


@lru_cache(maxsize=1 << 10)
def _snake_case(name: str) -> str:
    return _CAPITAL.sub(lambda match: f"_{match[0].lower()}", name)
