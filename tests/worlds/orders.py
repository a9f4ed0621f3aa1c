"""The versions of one random order."""

from datetime import datetime, timedelta
from random import Random

from tests.oracle.times import instant
from tests.worlds.cast import (
    CODES,
    CUSTOMERS,
    DISCOUNT_IDS,
    UTM_SETS,
    VISITORS,
    Cast,
    Row,
    chance,
    email_fields,
    written,
)

WINDOW = timedelta(hours=24 * 30)
TICK = timedelta(microseconds=1)
AFTER_A_SUBMISSION = (
    timedelta(),
    -TICK,
    timedelta(hours=3),
    timedelta(days=5),
    WINDOW,
    WINDOW + TICK,
    WINDOW - timedelta(milliseconds=1),
)


def order_versions(rng: Random, cast: Cast, number: int, events: list[Row]) -> list[Row]:
    """One to three versions of an order, all different in when they were updated."""
    created = created_at(rng, cast, events)
    base: Row = {
        "order_id": f"o{number}",
        "shop_id": cast.shop_id,
        "total_cents": rng.choice((0, 1, 999, 1000, 3333, 12345)),
        "discount_cents": rng.choice((0, 150, None)),
        **identity(rng),
    }
    if chance(rng, 0.5):
        base["currency"] = cast.currency
    if chance(rng, 0.3):
        base.update(rng.choice(UTM_SETS))
    versions = []
    for version in range(rng.choice((1, 1, 1, 2, 2, 3))):
        row = {**base, "created_at": written(rng, created), "test": rng.choice((False, None, ""))}
        if version:
            row["updated_at"] = written(rng, created + timedelta(minutes=version))
            row.update(changes(rng, created))
        if chance(rng, 0.6):
            row["discount_codes"] = codes(rng)
        if chance(rng, 0.08):
            row["test"] = True
        versions.append(row)
    return versions


def created_at(rng: Random, cast: Cast, events: list[Row]) -> datetime:
    """At a moment of the shop, or just so long after a submission that the window matters."""
    ends = [row["occurred_at"] for row in events if row["type"] in ("subscribe", "complete")]
    if ends and chance(rng, 0.75):
        at = instant(rng.choice(ends)) + rng.choice(AFTER_A_SUBMISSION)
        if at <= cast.now:
            return at
    return rng.choice(cast.moments)


def identity(rng: Random) -> Row:
    """Who bought, if that is known at all."""
    found: Row = {}
    if chance(rng, 0.4):
        found["visitor_id"] = rng.choice(VISITORS)
    if chance(rng, 0.3):
        found["customer_id"] = rng.choice(CUSTOMERS)
    if chance(rng, 0.4):
        found.update(email_fields(rng))
    return found


def codes(rng: Random) -> list[Row]:
    """None to three codes; one can come twice, in another case, with or without its amount."""
    found = []
    for code in rng.choices(CODES, k=rng.choice((0, 1, 1, 1, 2, 3))):
        entry: Row = {"code": code}
        if chance(rng, 0.5):
            entry["amount_cents"] = rng.choice((0, 100, 250))
        if chance(rng, 0.15):
            entry["discount_id"] = rng.choice(DISCOUNT_IDS)
        found.append(entry)
    return found


def changes(rng: Random, created: datetime) -> Row:
    """What a later version says differently: refunds, a cancellation, another buyer or amount."""
    found: Row = {}
    if chance(rng, 0.6):
        found["refunds"] = [
            {
                "refund_id": rng.choice(("r1", "r2")),
                "created_at": written(rng, created + timedelta(days=rng.choice((0, 1, 40)))),
                "amount_cents": rng.choice((0, 1, 500, 20000)),
            }
            for _ in range(rng.choice((0, 1, 2, 3)))
        ]
    if chance(rng, 0.2):
        found["cancelled_at"] = written(rng, created + timedelta(days=2))
    if chance(rng, 0.2):
        found.update(identity(rng))
    if chance(rng, 0.2):
        found["total_cents"] = rng.choice((1, 5000))
    return found
