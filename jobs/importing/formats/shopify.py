"""Shopify's orders as the REST Admin API answers: a list, `{"orders": [...]}`, or one a line. See
`shopify.md`."""

from fractions import Fraction
from typing import Any, ClassVar

from jobs.importing.cells import Malformed, decimal
from jobs.importing.formats.format import ROUNDED, Format, Row, Taken, Target
from jobs.importing.formats.records import Record, Sample
from jobs.importing.formats.shopify_orders import (
    first_of,
    inner,
    minor,
    objects,
    paid_back,
    utm_of,
    visitor_of,
)


class Shopify(Format):
    name = "shopify"
    kind = "orders"
    within: ClassVar = ("orders", "order")
    counts: ClassVar = (ROUNDED,)
    takes: ClassVar = (
        Taken("id", "order_id"),
        Taken("created_at", "created_at"),
        Taken("updated_at", "updated_at"),
        Taken("total_price_set.shop_money.currency_code", "currency"),
        Taken("currency", "currency"),
        Taken("total_price_set.shop_money.amount", "total_cents"),
        Taken("total_price", "total_cents"),
        Taken("total_discounts_set.shop_money.amount", "discount_cents"),
        Taken("total_discounts", "discount_cents"),
        Taken("customer.id", "customer_id"),
        Taken("email", "email"),
        Taken("contact_email", "email"),
        Taken("customer.email", "email"),
        Taken("note_attributes[].name", "visitor_id"),
        Taken("note_attributes[].value", "visitor_id"),
        Taken("discount_codes[].code", "discount_codes"),
        Taken("discount_codes[].amount", "discount_codes"),
        Taken("discount_applications[].code", "discount_codes"),
        Taken("refunds[].id", "refunds"),
        Taken("refunds[].created_at", "refunds"),
        Taken("refunds[].transactions[].kind", "refunds"),
        Taken("refunds[].transactions[].status", "refunds"),
        Taken("refunds[].transactions[].amount", "refunds"),
        Taken("refunds[].transactions[].currency", "refunds"),
        Taken("total_price_set.presentment_money.amount", "refunds"),
        Taken("total_price_set.presentment_money.currency_code", "refunds"),
        Taken("cancelled_at", "cancelled_at"),
        Taken("test", "test"),
        Taken("landing_site", "utm_*"),
    )

    def seems(self, sample: Sample) -> bool:
        """Whether they have what all orders have, by Shopify's names."""
        names = {"id", "created_at", "total_price", "currency"}
        return any(names <= record.keys() for record in sample.records)

    def row(self, record: Record, target: Target) -> Row:
        currency = first_of(
            (
                inner(record, "total_price_set", "shop_money", "currency_code"),
                record.get("currency"),
            )
        )
        addresses = (
            record.get("email"),
            record.get("contact_email"),
            inner(record, "customer", "email"),
        )
        refunds = objects(record.get("refunds"))
        return {
            "order_id": record.get("id"),
            "created_at": record.get("created_at"),
            "updated_at": record.get("updated_at"),
            "currency": currency,
            "total_cents": _amount(record, "total_price", currency, target),
            "discount_cents": _amount(record, "total_discounts", currency, target),
            "customer_id": inner(record, "customer", "id"),
            "email": first_of(addresses),
            "visitor_id": visitor_of(record.get("note_attributes"), "name"),
            "discount_codes": _codes(record, currency, target),
            "refunds": [_refund(refund, record, currency, target) for refund in refunds],
            "cancelled_at": record.get("cancelled_at"),
            "test": record.get("test"),
            **utm_of(record.get("landing_site")),
        }


def _amount(record: Record, name: str, currency: Any, target: Target) -> int | None:
    """An amount of the order in the shop's currency, as which `NAME_set` states it; orders of old
    have the plain one alone."""
    given = (inner(record, f"{name}_set", "shop_money", "amount"), record.get(name))
    return minor(target, name, first_of(given), currency)


def _codes(record: Record, currency: Any, target: Target) -> list[Row]:
    """The codes with what each took off; then those that an application alone names."""
    codes = [
        {
            "code": one.get("code"),
            "amount_cents": minor(target, "discount_codes.amount", one.get("amount"), currency),
        }
        for one in objects(record.get("discount_codes"))
    ]
    known = {str(one["code"]).upper() for one in codes}
    applied = [one.get("code") for one in objects(record.get("discount_applications"))]
    return codes + [{"code": code} for code in applied if code and str(code).upper() not in known]


def _refund(refund: Record, order: Record, currency: Any, target: Target) -> Row:
    """What was given back: the sum of its transactions that did so."""
    place = "refunds.transactions.amount"
    paid = [
        minor(target, place, one.get("amount"), currency, _rate(one, order, currency)) or 0
        for one in objects(refund.get("transactions"))
        if paid_back(one)
    ]
    return {
        "refund_id": refund.get("id"),
        "created_at": refund.get("created_at"),
        "amount_cents": sum(paid),
    }


def _rate(transaction: Record, order: Record, currency: Any) -> Fraction | None:
    """What one unit of a transaction's currency is in the shop's; None where they are the same.

    Transactions are in the currency that the buyer was shown. The order's total is there in both:
    at its rate what is given back of the whole order is the whole order.
    """
    given = transaction.get("currency")
    if given in (None, "", currency):
        return None
    shown = inner(order, "total_price_set", "presentment_money") or {}
    paid = inner(order, "total_price_set", "shop_money", "amount")
    if given != inner(shown, "currency_code"):
        raise Malformed(
            f"refunds.transactions.currency: {given!r} is none of the order's currencies"
        )
    try:
        return Fraction(decimal(paid)) / Fraction(decimal(inner(shown, "amount")))
    except (Malformed, ZeroDivisionError):
        raise Malformed("total_price_set: tells no rate for the refund") from None
