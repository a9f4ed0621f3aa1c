"""Which submission an order is credited to: contract section 3."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import timedelta

from tests.support.oracle.orders import Order
from tests.support.oracle.sessions import Session

TYPES = ("discount_code", "customer", "visitor", "unattributed")

Key = Callable[[Session | Order], str | None]


@dataclass(frozen=True)
class Credit:
    type: str
    session: Session | None


def credit(order: Order, submissions: Iterable[Session], key: Key, window_days: int) -> Credit:
    """Section 3: "Each order is credited to at most one submission of the same shop: one with
    submission time <= the order's `created_at` and no more than `ATTRIBUTION_WINDOW_DAYS` x 24 h
    before it. First type that has a candidate wins"."""
    window = timedelta(hours=24 * window_days)
    in_time = [
        session
        for session in submissions
        if session.submitted_at and order.at - window <= session.submitted_at <= order.at
    ]

    def same_customer(session: Session) -> bool:
        return key(order) is not None and key(session) == key(order)

    def same_visitor(session: Session) -> bool:
        return order.visitor is not None and session.visitor == order.visitor

    def kinship(session: Session) -> int:
        return 2 if same_customer(session) else 1 if same_visitor(session) else 0

    by_code = [session for session in in_time if session.codes & order.codes.keys()]
    if by_code:
        closest = max(map(kinship, by_code))
        return Credit("discount_code", latest(s for s in by_code if kinship(s) == closest))
    for type, related in (("customer", same_customer), ("visitor", same_visitor)):
        candidates = [session for session in in_time if related(session)]
        if candidates:
            return Credit(type, latest(candidates))
    return Credit("unattributed", None)


def latest(candidates: Iterable[Session]) -> Session:
    """Section 3: "the latest submission time wins (ties: the greater `form_session_id`, then the smaller
    `form_id`)"."""
    by_form = sorted(candidates, key=lambda session: session.form_id)
    # `max` takes the first of equal ones.
    return max(by_form, key=lambda session: (session.submitted_at, session.id))


def effective_utm(order: Order, credit: Credit) -> tuple[str, ...]:
    """Section 3: "its submission's UTM where it is attributed and the submission has any, else
    its own"."""
    if credit.session and any(credit.session.utm):
        return credit.session.utm
    return order.utm
