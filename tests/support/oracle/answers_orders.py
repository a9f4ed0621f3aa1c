"""The orders behind the figures, and the story of one: contract section 4, endpoints 20 and 21."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

from tests.support.oracle.attribution import TYPES
from tests.support.oracle.discounts import used
from tests.support.oracle.filters import of_session, text
from tests.support.oracle.orders import Order
from tests.support.oracle.records import UTM
from tests.support.oracle.sessions import Session
from tests.support.oracle.state import Question, State, answers
from tests.support.oracle.times import iso

PAGE = 50


@answers("/v1/orders")
def receipts(state: State, question: Question) -> Any:
    """20: "Rows, newest first (`createdAt`, then `orderId`, both descending)"; the first page."""
    limit = int(question.params.get("limit", PAGE))
    return [_receipt(state, order) for order in filtered(state, question)][:limit]


def filtered(state: State, question: Question) -> list[Order]:
    """20: "Filters, each optional, all of them together"."""
    values: dict[str, Callable[[Order], set[str]]] = {
        "type": lambda order: {state.credits[order.id].type},
        "form_id": lambda order: _of_form(state, order),
        "discount_id": lambda order: set(used(order, state.discounts)),
        **{
            name: lambda order, place=place: {state.utm(order)[place]}  # type: ignore[misc]
            for place, name in enumerate(UTM[:5])
        },
        "customer": lambda order: {state.customer_type(order)},
    }
    asked = {name: text(value) for name, value in question.params.items() if name in values}
    of_sessions = any(name in question.params for name in ("device", "visitor", "variant"))
    orders = [
        order
        for order in state.ordered(question)
        if all(value in values[name](order) for name, value in asked.items())
        and (not of_sessions or _is_of_session(state, order, question.params))
    ]
    return sorted(orders, key=lambda order: (order.at, order.id), reverse=True)


def _is_of_session(state: State, order: Order, params: dict[str, str]) -> bool:
    session = state.credits[order.id].session
    return session is not None and of_session(state, session, params)


def _of_form(state: State, order: Order) -> set[str]:
    session = state.credits[order.id].session
    return {session.form_id} if session else set()


def _receipt(state: State, order: Order) -> dict[str, Any]:
    credit, utm = state.credits[order.id], state.utm(order)
    session, codes = credit.session, frozenset[str]()
    if session and credit.type == "discount_code":
        codes = session.codes & order.codes.keys()
    return {
        "orderId": order.id,
        "createdAt": iso(order.at),
        "cancelled": order.cancelled,
        "grossRevenueCents": order.gross,
        "totalRefundedCents": order.refunded,
        "netRevenueCents": order.net,
        "customerType": state.customer_type(order),
        "attributionType": credit.type,
        **_of_session(state, order, session),
        "code": min(codes, default=None),
        "utmSource": utm[0],
        "utmMedium": utm[1],
        "utmCampaign": utm[2],
        "utmTerm": utm[3],
        "utmContent": utm[4],
    }


def _of_session(state: State, order: Order, session: Session | None) -> dict[str, Any]:
    if session is None or session.submitted_at is None:
        return dict.fromkeys(("formId", "formName", "submittedAt", "secondsToOrder"))
    return {
        "formId": session.form_id,
        "formName": state.form_names.get(session.form_id),
        "submittedAt": iso(session.submitted_at),
        "secondsToOrder": (order.at - session.submitted_at) // timedelta(seconds=1),
    }


def story(state: State, order_id: str) -> dict[str, Any]:
    """21: "a row of 20 with `candidates`: every submission of the shop by which the order could be credited
    in the window, or would be in one twice as long"."""
    [order] = [one for one in state.orders if one.id == order_id]
    chosen = state.credits[order.id].session
    window = timedelta(hours=24 * state.window_days)
    found = [
        session
        for session in state.submissions
        if session.submitted_at
        and timedelta() <= order.at - session.submitted_at <= 2 * window
        and _matches(state, order, session)
    ]
    found.sort(key=lambda session: session.form_id)
    found.sort(key=lambda session: (session.submitted_at, session.id), reverse=True)
    found.sort(key=lambda session: session is not chosen)
    rows = []
    for session in found[:100]:
        assert session.submitted_at
        matches = _matches(state, order, session)
        if session is chosen:
            because = "chosen"
        elif order.at - session.submitted_at > window:
            because = "outside_window"
        elif _nearness(matches) < _nearness(_matches(state, order, chosen)):
            because = "weaker_match"
        else:
            assert chosen
            assert chosen.submitted_at
            because = "earlier" if session.submitted_at < chosen.submitted_at else "tie"
        rows.append(
            {
                **_of_session(state, order, session),
                "matches": matches,
                "chosen": session is chosen,
                "because": because,
            }
        )
    return {**_receipt(state, order), "candidates": rows}


def _matches(state: State, order: Order, session: Session | None) -> list[str]:
    """Section 3: "those of discount_code, customer, visitor that hold"."""
    assert session
    customer = state.customer(order)
    holds = (
        bool(session.codes & order.codes.keys()),
        customer is not None and state.customer(session) == customer,
        order.visitor is not None and session.visitor == order.visitor,
    )
    return [type for type, it_holds in zip(TYPES, holds, strict=False) if it_holds]


def _nearness(matches: list[str]) -> tuple[bool, bool, bool]:
    """Section 3: "First type that has a candidate wins"; for a code, the same customer before the same
    visitor before others."""
    by_code = "discount_code" in matches
    by_customer = "customer" in matches
    return by_code, by_customer, by_customer or "visitor" in matches
