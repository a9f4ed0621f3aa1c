"""People and things of a random world: the small pools from which everything is drawn."""

from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta, timezone
from hashlib import sha256
from random import Random
from typing import Any
from zoneinfo import ZoneInfo

Row = dict[str, Any]

VISITORS = ("v1", "v2", "v3", "V3", "v4")
CUSTOMERS = ("c1", "c2", "C2", "c10")
# Broken scripts send this in the place of an id: the same for everybody, and a missing value.
NOBODY = "undefined"
EMAILS = ("ann@mail.example", "bob@mail.example", "çem@mail.example")
CODES = ("SAVE10", "save10", "Spring", "SPRING", "once-1", "once-2", "once-3", "Été")
DISCOUNT_IDS = ("d1", "d2", "D3")
UTM_SETS: tuple[Row, ...] = (
    {"utm_source": "facebook", "utm_medium": "cpc", "utm_campaign": "summer", "utm_id": "c-100"},
    {"utm_source": "FB", "utm_campaign": "SUMMER"},
    {"utm_source": "ig", "utm_campaign": "c-300", "utm_term": "a", "utm_content": "b"},
    {"utm_source": "google", "utm_medium": "cpc", "utm_campaign": "c-100"},
    {"utm_source": "google", "utm_campaign": "nobody knows"},
    {"utm_source": "Letters", "utm_medium": "email", "utm_campaign": "été"},
    {"utm_source": "", "utm_campaign": "summer"},
    {"utm_medium": "only"},
    {"utm_source": "zeta", "utm_campaign": None, "utm_id": "c-100"},
)
FIELDS: dict[str, tuple[tuple[str, Any], ...]] = {
    "colour": (("choice", "red"), ("choice", "Red"), ("choice", "🎨 blue"), ("choice", "red")),
    "tags": (
        ("multi_choice", ["a", "b", "a"]),
        ("multi_choice", ["b"]),
        ("multi_choice", ["b", "c", "é"]),
        ("multi_choice", []),
        ("multi_choice", "a"),
    ),
    "scale": (("scale", 3), ("scale", 3.0), ("scale", "3"), ("scale", 2.5), ("scale", 10)),
    "news": (("boolean", True), ("boolean", False), ("choice", "true"), ("boolean", True)),
    "mixed": (("choice", "red"), ("text", "free words"), ("scale", 1), ("choice", ["red", True])),
    "note": (("text", "dear all"), ("email", "ann@mail.example"), ("rating-2027", 4)),
}
"""Field id -> the (field_type, value) pairs that answers to it draw from."""


@dataclass(frozen=True)
class Cast:
    """One shop, and the instants at which things happen to it."""

    shop_id: str
    timezone: ZoneInfo
    currency: str
    forms: list[str]
    unknown_form: str
    """Has events, and is in no forms table."""
    foreign_form: str
    """Has events here, and is the other shop's form."""
    moments: list[datetime]
    days: list[date]
    now: datetime


def chance(rng: Random, share: float) -> bool:
    return rng.random() < share


def written(rng: Random, at: datetime) -> str:
    """An instant in one of the ways that producers write it."""
    match rng.randrange(4):
        case 0:
            return at.astimezone(UTC).isoformat().replace("+00:00", "Z")
        case 1:
            return at.astimezone(UTC).replace(tzinfo=None).isoformat()
        case 2:
            return at.astimezone(timezone(timedelta(hours=5, minutes=30))).isoformat()
        case _:
            return at.astimezone(timezone(timedelta(hours=-4))).isoformat()


def email_fields(rng: Random) -> Row:
    """A person's address, clear in some spelling or hashed, or both (then the clear one counts)."""
    email = rng.choice(EMAILS)
    hashed = sha256(email.encode()).hexdigest()
    match rng.randrange(4):
        case 0:
            return {"email": email}
        case 1:
            return {"email": f"  {email.upper()}\t"}
        case 2:
            return {"email_sha256": hashed, "email": rng.choice(("", None))}
        case _:
            return {"email": email, "email_sha256": sha256(b"another").hexdigest()}
