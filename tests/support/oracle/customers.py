"""Customer keys: contract section 1, "customer key"."""

from collections.abc import Iterable
from datetime import datetime

from tests.support.oracle.orders import Order
from tests.support.oracle.records import Event
from tests.support.oracle.sessions import Session


def customers_by_email(events: Iterable[Event], orders: Iterable[Order]) -> dict[str, str]:
    """Section 1: "the `customer_id` last seen together with that `email_sha256` on an event or
    order of the shop (latest `occurred_at` / `created_at`; ties: the greater `customer_id`; of
    an order its standing version, tests aside)"."""
    last_seen: dict[str, tuple[datetime, str]] = {}
    together: list[Event | Order] = [*events, *orders]
    for seen in together:
        if seen.customer and seen.email:
            pair = (seen.at, seen.customer)
            last_seen[seen.email] = max(pair, last_seen.get(seen.email, pair))
    return {email: customer for email, (_, customer) in last_seen.items()}


def customer_key(thing: Session | Order, by_email: dict[str, str]) -> str | None:
    """Section 1: "`customer_id` where there is one, else the `customer_id` last seen together
    with that `email_sha256`, else the `email_sha256`"; None without either."""
    if thing.customer:
        return thing.customer
    if thing.email:
        return by_email.get(thing.email, thing.email)
    return None
