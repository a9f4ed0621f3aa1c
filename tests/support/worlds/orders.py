"""The versions of one random order."""

from datetime import datetime, timedelta
from random import Random

from tests.support.oracle.times import instant
from tests.support.worlds.cast import (
    CODES,
    CUSTOMERS,
    DISCOUNT_IDS,
    NOBODY,
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
    timedelta(days=1),
    timedelta(days=1) - TICK,
    timedelta(days=5),
    timedelta(days=5) - timedelta(milliseconds=1),
    WINDOW,
    WINDOW + TICK,
    WINDOW - timedelta(milliseconds=1),
)


def order_versions(rng: Random, cast: Cast, number: int, events: list[Row]) -> list[Row]:
    """One to three versions of an order, all different in when they were updated."""
    follows = submission(rng, events) if chance(rng, 0.75) else None
    created = created_at(rng, cast, follows)
    base: Row = {
        "order_id": f"o{number}",
        "shop_id": cast.shop_id,
        "total_cents": rng.choice((0, 1, 999, 1000, 3333, 12345)),
        "discount_cents": rng.choice((0, 150, None)),
        **identity(rng, follows),
    }
    if chance(rng, 0.5):
        base["currency"] = cast.currency
    if chance(rng, 0.5):
        base.update(rng.choice(UTM_SETS))
    versions = []
    for version in range(rng.choice((1, 1, 1, 2, 2, 3))):
        row = {**base, "created_at": written(rng, created), "test": rng.choice((False, None, ""))}
        if version:
            # Every third order has times in the files alone; beside `updated_at` they say nothing.
            stamp = "exported_at" if number % 3 == 2 else "updated_at"
            row[stamp] = written(rng, created + timedelta(minutes=version))
            if number % 3 == 1:
                row["exported_at"] = cast.now.isoformat()
            row.update(changes(rng, created, cast.now))
        if chance(rng, 0.6):
            row["discount_codes"] = codes(rng, follows)
        if chance(rng, 0.08):
            row["test"] = True
        versions.append(row)
    return versions


def submission(rng: Random, events: list[Row]) -> Row | None:
    """An event that submits a session, with who and what the session's other events name."""
    submits = [row for row in events if row["type"] in ("subscribe", "complete")]
    if not submits:
        return None
    chosen = rng.choice(submits)
    session = (chosen["form_id"].lower(), chosen["form_session_id"])
    merged: Row = {}
    for row in events:
        if (row["form_id"].lower(), row["form_session_id"]) == session:
            merged.update(row)
    return {**merged, **chosen}


def created_at(rng: Random, cast: Cast, follows: Row | None) -> datetime:
    """At a moment of the shop, or just so long after a submission that the window matters."""
    if follows:
        submitted = instant(follows["occurred_at"])
        at = [submitted + gap for gap in AFTER_A_SUBMISSION if submitted + gap <= cast.now]
        return rng.choice(at)
    return rng.choice(cast.moments)


def identity(rng: Random, follows: Row | None = None) -> Row:
    """The buyer, if one is known at all; often the sender of the event that it follows."""
    found: Row = {}
    if chance(rng, 0.4):
        found["visitor_id"] = rng.choice((*VISITORS, NOBODY))
    if chance(rng, 0.3):
        found["customer_id"] = rng.choice((*CUSTOMERS, NOBODY))
    if chance(rng, 0.4):
        found.update(email_fields(rng))
    if follows and chance(rng, 0.6):
        shared = ("visitor_id", "customer_id", "email", "email_sha256")
        found.update({name: follows[name] for name in shared if name in follows})
    return found


def codes(rng: Random, follows: Row | None) -> list[Row]:
    """None to three codes; one can come twice, in another case, with or without its amount."""
    found = []
    chosen = rng.choices(CODES, k=rng.choice((0, 1, 1, 1, 2, 3)))
    if follows and "discount_code" in follows:
        chosen[:1] = [follows["discount_code"].swapcase()]
    for code in chosen:
        entry: Row = {"code": code}
        if chance(rng, 0.5):
            entry["amount_cents"] = rng.choice((0, 100, 250))
        if chance(rng, 0.15):
            entry["discount_id"] = rng.choice(DISCOUNT_IDS)
        found.append(entry)
    return found


def changes(rng: Random, created: datetime, now: datetime) -> Row:
    """The differences of a later version: refunds, a cancellation, another buyer or amount."""
    found: Row = {}
    if chance(rng, 0.6):
        found["refunds"] = [
            {
                "refund_id": rng.choice(("r1", "r2")),
                "created_at": written(
                    rng, min(created + timedelta(days=rng.choice((0, 1, 40))), now)
                ),
                "amount_cents": rng.choice((0, 1, 500, 20000)),
            }
            for _ in range(rng.choice((0, 1, 2, 3)))
        ]
    if chance(rng, 0.2):
        found["cancelled_at"] = written(rng, min(created + timedelta(days=2), now))
    if chance(rng, 0.2):
        found.update(identity(rng))
    if chance(rng, 0.2):
        found["total_cents"] = rng.choice((1, 5000))
    return found
