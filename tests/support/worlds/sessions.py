"""The events of one random form session."""

from datetime import datetime, timedelta
from random import Random

from tests.support.worlds.cast import (
    CODES,
    CUSTOMERS,
    DISCOUNT_IDS,
    FIELDS,
    NOBODY,
    UTM_SETS,
    VISITORS,
    Cast,
    Row,
    chance,
    email_fields,
    written,
)

GAPS = (
    timedelta(),
    timedelta(),
    timedelta(microseconds=1),
    timedelta(seconds=1, milliseconds=500),
    timedelta(seconds=37),
    timedelta(minutes=20),
    timedelta(hours=5),
    timedelta(hours=26),
)
STEPS = (("st-a", 0, "Hello"), ("st-b", 1, "E-mail"), ("st-c", 1, None), ("st-b", 2, None))
DEVICES = ("desktop", "Mobile", "MOBILE", "tablet", "smart-fridge", "", None)


def session_events(rng: Random, cast: Cast, number: int) -> list[Row]:
    """Events of one session, in no order, still without `event_id`.

    Ids of sessions recur between forms, and the visitor, the device and everything else can
    change within a session.
    """
    # Every pair is met at most once by chance alone; meeting twice merely makes a longer session.
    forms = [*cast.forms, *cast.forms, cast.unknown_form, cast.foreign_form]
    form_id, session_id = rng.choice(forms), f"s{number * 7 % 11}"
    visitor = rng.choice(VISITORS)
    at = rng.choice(cast.moments[::5] if chance(rng, 0.5) else cast.moments)
    rows = []
    for what in happenings(rng):
        moment = min(cast.now, rng.choice(cast.moments) if chance(rng, 0.05) else at)
        rows.append(
            {
                "shop_id": cast.shop_id,
                "form_id": form_id.upper() if chance(rng, 0.1) else form_id,
                "form_session_id": session_id,
                "visitor_id": rng.choice(VISITORS) if chance(rng, 0.1) else visitor,
                "occurred_at": written(rng, moment),
                "variant": rng.choice((None, "a", "b")),
                **what,
                **extras(rng),
            }
        )
        at = after(rng, at)
    rng.shuffle(rows)
    return rows


def after(rng: Random, at: datetime) -> datetime:
    return at + rng.choice(GAPS)


def happenings(rng: Random) -> list[Row]:
    """The events of a session, about in the order of a real one; anything can be missing or
    come twice."""
    if chance(rng, 0.3):
        # Submitted at the very moment from which others start, too.
        return [answer(rng), {"type": rng.choice(("subscribe", "complete"))}][rng.randrange(2) :]
    found: list[Row] = []
    for type, share in (("view", 0.85), ("start", 0.6), ("view", 0.2)):
        if chance(rng, share):
            found.append({"type": type})
    for step_id, index, name in STEPS:
        step = {"step_id": step_id, "step_index": index, "step_name": name}
        if chance(rng, 0.35):
            found.append({"type": "step_view", **step})
        if chance(rng, 0.2):
            found.append({"type": "step_complete", **step})
    found += [answer(rng) for _ in range(rng.randrange(5))]
    for type, share in (
        ("subscribe", 0.5),
        ("complete", 0.5),
        ("subscribe", 0.1),
        ("complete", 0.1),
    ):
        if chance(rng, share):
            found.append({"type": type})
    if chance(rng, 0.15):
        rng.shuffle(found)
    return found or [{"type": "view"}]


def answer(rng: Random) -> Row:
    field = rng.choice(list(FIELDS))
    field_type, value = rng.choice(FIELDS[field])
    # An answer may say where it was given; that is no view of the step.
    seen = {"step_id": "st-b", "step_index": 9, "step_name": "Never"} if chance(rng, 0.2) else {}
    return {"type": "answer", "field_id": field, "field_type": field_type, "value": value, **seen}


def extras(rng: Random) -> Row:
    """The fields that any event can carry besides."""
    found: Row = {}
    if chance(rng, 0.4):
        found["device_type"] = rng.choice(DEVICES)
    if chance(rng, 0.25):
        found.update(rng.choice(UTM_SETS))
    if chance(rng, 0.15):
        found["customer_id"] = rng.choice((*CUSTOMERS, NOBODY))
    if chance(rng, 0.2):
        found.update(email_fields(rng))
    if chance(rng, 0.2):
        found["discount_code"] = rng.choice(CODES)
    if chance(rng, 0.12):
        found["discount_id"] = rng.choice(DISCOUNT_IDS)
    return found
