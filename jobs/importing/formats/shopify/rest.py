"""Shopify's orders as the REST Admin API answers: a list, `{"orders": [...]}`, or one a line. See
`rest.md`."""

from fractions import Fraction
from typing import Any, ClassVar

from jobs.importing.formats.base import Record, Row, Sample, SourceField, Target
from jobs.importing.formats.shopify.orders import (
    ShopifyOrders,
    first_of,
    inner,
    objects,
    paid_back,
    utm_of,
)
from jobs.importing.values.errors import InvalidValue, quoted
from jobs.importing.values.numbers import decimal


class Shopify(ShopifyOrders):
    name = "shopify"
    list_members: ClassVar = ("orders", "order")
    times = ("created_at", "updated_at", "cancelled_at")
    emails = (("email",), ("contact_email",), ("customer", "email"))
    attributes = ("note_attributes", "name")
    source_fields: ClassVar = (
        SourceField("id", "order_id"),
        SourceField("created_at", "created_at"),
        SourceField("updated_at", "updated_at"),
        SourceField("total_price_set.shop_money.currency_code", "currency"),
        SourceField("currency", "currency"),
        SourceField("total_price_set.shop_money.amount", "total_cents"),
        SourceField("total_price", "total_cents"),
        SourceField("total_discounts_set.shop_money.amount", "discount_cents"),
        SourceField("total_discounts", "discount_cents"),
        SourceField("customer.id", "customer_id"),
        SourceField("email", "email"),
        SourceField("contact_email", "email"),
        SourceField("customer.email", "email"),
        SourceField("note_attributes[].name", "visitor_id"),
        SourceField("note_attributes[].value", "visitor_id"),
        SourceField("discount_codes[].code", "discount_codes"),
        SourceField("discount_codes[].amount", "discount_codes"),
        SourceField("discount_applications[].code", "discount_codes"),
        SourceField("refunds[].id", "refunds"),
        SourceField("refunds[].created_at", "refunds"),
        SourceField("refunds[].transactions[].kind", "refunds"),
        SourceField("refunds[].transactions[].status", "refunds"),
        SourceField("refunds[].transactions[].amount", "refunds"),
        SourceField("refunds[].transactions[].currency", "refunds"),
        SourceField("total_price_set.presentment_money.amount", "refunds"),
        SourceField("total_price_set.presentment_money.currency_code", "refunds"),
        SourceField("cancelled_at", "cancelled_at"),
        SourceField("test", "test"),
        SourceField("landing_site", "utm_*"),
    )

    def matches(self, sample: Sample) -> bool:
        """Whether a record has what all orders have, by Shopify's names."""
        names = {"id", "created_at", "total_price", "currency"}
        return any(names <= record.keys() for record in sample.records)

    def currency(self, record: Record) -> Any:
        stated = inner(record, "total_price_set", "shop_money", "currency_code")
        return first_of((stated, record.get("currency")))

    def total(self, record: Record, currency: Any, target: Target) -> int | None:
        return _amount(record, "total_price", currency, target)

    def discount(self, record: Record, currency: Any, target: Target) -> int | None:
        return _amount(record, "total_discounts", currency, target)

    def codes(self, record: Record, currency: Any, target: Target) -> list[Row]:
        """The codes with their amounts; then those that only an application names."""
        codes = [
            {
                "code": item.get("code"),
                "amount_cents": target.minor("discount_codes.amount", item.get("amount"), currency),
            }
            for item in objects(record.get("discount_codes"))
        ]
        named = {str(item["code"]).upper() for item in codes}
        applied = [item.get("code") for item in objects(record.get("discount_applications"))]
        return codes + [
            {"code": code} for code in applied if code and str(code).upper() not in named
        ]

    def refunded(self, refund: Record, order: Record, currency: Any, target: Target) -> int | None:
        return sum(
            target.minor(
                "refunds.transactions.amount",
                transaction.get("amount"),
                currency,
                _rate(transaction, order, currency),
            )
            or 0
            for transaction in objects(refund.get("transactions"))
            if paid_back(transaction)
        )

    def utm(self, record: Record) -> Row:
        return utm_of(record.get("landing_site"))


def _amount(record: Record, name: str, currency: Any, target: Target) -> int | None:
    """An amount of the order in the shop's currency: that of `NAME_set`, or the plain one of old orders."""
    stated = (inner(record, f"{name}_set", "shop_money", "amount"), record.get(name))
    return target.minor(name, first_of(stated), currency)


def _rate(transaction: Record, order: Record, currency: Any) -> Fraction | None:
    """The value of one unit of a transaction's currency in the shop's; None if they are the same, or the
    amount is 0 in either.

    Transactions are in the currency that the buyer was shown. The order's total is stated in both; at
    its rate a refund of the whole order is the whole order.
    """
    paid_in = transaction.get("currency")
    if paid_in in (None, "", currency) or _is_zero(transaction.get("amount")):
        return None
    shown = inner(order, "total_price_set", "presentment_money") or {}
    total = inner(order, "total_price_set", "shop_money", "amount")
    if paid_in != inner(shown, "currency_code"):
        raise InvalidValue(
            f"refunds.transactions.currency: {quoted(paid_in)} is none of the order's currencies"
        )
    try:
        return Fraction(decimal(total)) / Fraction(decimal(inner(shown, "amount")))
    except (InvalidValue, ZeroDivisionError):
        raise InvalidValue("total_price_set: has no rate for the refund") from None


def _is_zero(amount: Any) -> bool:
    try:
        return decimal(amount) == "0"
    except InvalidValue:  # missing, or no number: `Target.minor` tells them apart
        return False
