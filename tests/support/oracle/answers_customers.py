"""Customer lifetime value: contract section 4, endpoint 19."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from tests.support.oracle.answers_fields import values
from tests.support.oracle.orders import Order
from tests.support.oracle.row_limit import OTHER, Limited
from tests.support.oracle.state import Question, State, answers
from tests.support.oracle.values import cents, divide, money, rate

HORIZONS = (30, 60, 90, 180, 365)

Group = tuple[str, ...]
"""The form id, or the field id and the value."""


@dataclass(frozen=True)
class Acquired:
    """A customer of a group: since when, and all their orders from that submission on."""

    at: datetime
    orders: list[Order]


@answers("/v1/customers/ltv")
def ltv(state: State, question: Question) -> Limited:
    """19: "Counted: customers acquired in the range, with all orders of the same customer key
    from that submission on, to date." "Order: netRevenueCents descending, then the keys." """
    dimension = question.params["dimension"]
    keys = ("formId",) if dimension == "form" else ("fieldId", "value")
    first: dict[Group, dict[str, datetime]] = {}
    for session in state.submissions:
        customer, at = state.customer(session), session.submitted_at
        if customer and at:
            groups = [(session.form_id,)] if dimension == "form" else segments(session)
            for group in groups:
                since = first.setdefault(group, {})
                since[customer] = min(at, since.get(customer, at))
    orders: dict[str | None, list[Order]] = {}
    for order in state.orders:
        orders.setdefault(state.customer(order), []).append(order)
    acquired: dict[Group, list[Acquired]] = {}
    for group, customers in first.items():
        for customer, at in customers.items():
            if state.within(at, question):
                later = [order for order in orders.get(customer, []) if order.at >= at]
                acquired.setdefault(group, []).append(Acquired(at, later))
    ordered = sorted(
        acquired, key=lambda group: (-figures(acquired[group])["netRevenueCents"], group)
    )
    shown, others = ordered[: question.limits.rows], ordered[question.limits.rows :]
    names: dict[Group, str] = {(form_id,): name for form_id, name in state.form_names.items()}
    if others:
        summed = (OTHER,) * len(keys)
        shown.append(summed)
        acquired[summed] = [customer for group in others for customer in acquired[group]]
        names[summed] = OTHER
    rows = []
    for group in shown:
        row: dict[str, Any] = dict(zip(keys, group, strict=True))
        if dimension == "form":
            row["formName"] = names.get(group)
        row |= figures(acquired[group])
        row["horizons"] = [horizon(state, question, acquired[group], days) for days in HORIZONS]
        rows.append(row)
    return Limited({"dimension": dimension, "rows": rows}, len(others))


def segments(session: Any) -> list[Group]:
    """Section 4: "for a segment, of their first submission with that answer"; "Equal field ids
    of different forms are one field"."""
    return [(field, value) for field in session.answers for value in values(session, field)]


def figures(acquired: list[Acquired]) -> dict[str, Any]:
    purchasers = [customer for customer in acquired if customer.orders]
    repeated = [customer for customer in acquired if len(customer.orders) >= 2]
    revenue = money(order for customer in acquired for order in customer.orders)
    return {
        "customers": len(acquired),
        "purchasers": len(purchasers),
        **revenue,
        "ltvCents": cents(revenue["netRevenueCents"], len(acquired)),
        "averageOrderValueCents": cents(revenue["grossRevenueCents"], revenue["orders"]),
        "ordersPerCustomer": divide(revenue["orders"], len(acquired), 2),
        "repeatRate": rate(len(repeated), len(purchasers)),
    }


def horizon(
    state: State, question: Question, acquired: list[Acquired], days: int
) -> dict[str, Any]:
    """Section 4: "counts customers acquired at least that many days before today (acquisition
    day + days <= today), and the net revenue of their orders less than `days` x 24 h after that
    submission"."""
    old_enough = [c for c in acquired if state.day(c.at) + timedelta(days) <= question.today]
    net = sum(
        order.net
        for customer in old_enough
        for order in customer.orders
        if order.at - customer.at < timedelta(hours=24 * days)
    )
    return {
        "days": days,
        "customers": len(old_enough),
        "netRevenueCents": net,
        "ltvCents": cents(net, len(old_enough)),
    }
