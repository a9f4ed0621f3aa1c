"""The discount of a code: contract section 4 (16)."""

from collections.abc import Iterable

from tests.support.oracle.orders import Order
from tests.support.oracle.records import Event
from tests.support.oracle.sessions import Session


def discounts_by_code(
    events: Iterable[Event], orders: Iterable[Order], submissions: Iterable[Session]
) -> dict[str, str]:
    """Every code of the shop (upper-cased) -> its discount.

    "the `discount_id` that comes with it on an order or an event of the shop (several: the
    greatest); else, where exactly one submission was ever issued that code, `form:<form_id>` of
    it; else the upper-cased code itself".
    """
    ids: dict[str, set[str]] = {}
    for event in events:
        if event.code:
            with_it = ids.setdefault(event.code, set())
            if event.discount_id:
                with_it.add(event.discount_id)
    for order in orders:
        for code in order.codes:
            ids.setdefault(code, set())
        for code, discount_id in order.discount_ids:
            ids[code].add(discount_id)
    submissions = list(submissions)
    for session in submissions:
        for code in session.codes:
            ids.setdefault(code, set())
    found = {}
    for code, named in ids.items():
        issued_to = [session for session in submissions if code in session.codes]
        if named:
            found[code] = max(named)
        elif len(issued_to) == 1:
            found[code] = f"form:{issued_to[0].form_id}"
        else:
            found[code] = code
    return found


def issued(session: Session, by_code: dict[str, str]) -> set[str]:
    """The discounts a session was issued: through a code, or by an id alone."""
    return {by_code[code] for code in session.codes} | session.discount_ids


def used(order: Order, by_code: dict[str, str]) -> dict[str, int]:
    """The discounts an order used, each once -> what their codes took off together."""
    amounts: dict[str, int] = {}
    for code, amount in order.codes.items():
        amounts[by_code[code]] = amounts.get(by_code[code], 0) + amount
    return amounts
