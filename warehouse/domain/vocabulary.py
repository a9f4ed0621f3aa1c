"""The contract's closed word lists and the small integers that stand for them in the tables.

A word's code is its index in its tuple. The order is part of the stored data: append, never reorder.
"""

from typing import Final

EVENT_TYPES: Final = (
    "",
    "view",
    "start",
    "step_view",
    "step_complete",
    "answer",
    "subscribe",
    "complete",
)
VIEW, START, STEP_VIEW, STEP_COMPLETE, ANSWER, SUBSCRIBE, COMPLETE = range(1, 8)

# Code 0: an event without a device. A form session always has one of the others.
DEVICES: Final = ("", "desktop", "mobile", "tablet", "other")
OTHER_DEVICE: Final = DEVICES.index("other")

AGGREGATABLE_FIELD_TYPES: Final = ("choice", "multi_choice", "scale", "boolean")

# Anyone can send answers to a shop, and a session's pairs of choices grow with their square. So the
# choices of an answer and the questions of a session have a bound, and those that count in pairs a lower one.
MOST_CHOICES: Final = 100
MOST_QUESTIONS: Final = 199
PAIRED_QUESTIONS: Final = 20
PAIRED_CHOICES_OF_AN_ANSWER: Final = 20
PAIRED_CHOICES: Final = 100

# In the order of precedence, which is also the order of the answers (contract 3 and 4).
ATTRIBUTION_TYPES: Final = ("discount_code", "customer", "visitor", "unattributed")
BY_CODE, BY_CUSTOMER, BY_VISITOR, UNATTRIBUTED = range(4)

# Whether an order is the first of its customer key (contract 4, 22), in the order of the answers.
CUSTOMER_TYPES: Final = ("new", "returning", "unknown")
NEW_CUSTOMER, RETURNING_CUSTOMER, UNKNOWN_CUSTOMER = range(3)

VISITOR_TYPES: Final = ("all", "new", "returning")
VISITOR_LEVELS: Final = ("visitors", "submitters", "purchasers")

UTM_FIELDS: Final = (
    "utm_source",
    "utm_medium",
    "utm_campaign",
    "utm_term",
    "utm_content",
    "utm_id",
)

LTV_HORIZONS: Final = (30, 60, 90, 180, 365)

SCOPES: Final = ("analytics:read", "customers:read", "forms:write", "discounts:read")

PERMISSIONS: Final = ("forms:edit", "discounts:view", "connections:manage", "customers:view")
# The permission that a member needs to grant a scope; any member can grant the other scopes.
SCOPE_NEEDS: Final = {"forms:write": "forms:edit", "discounts:read": "discounts:view"}

# The contract's utm_source values of each provider, in lower case. The only source of a provider
# that is not listed is its own name.
PROVIDER_SOURCES: Final = {
    "meta": ("meta", "facebook", "fb", "instagram", "ig"),
    "google": ("google", "adwords", "googleads", "youtube"),
    "tiktok": ("tiktok",),
    "microsoft": ("microsoft", "bing"),
    "pinterest": ("pinterest",),
    "snapchat": ("snapchat",),
}


def visitor_kind(visitor_type: int, level: int) -> int:
    """The code of one (visitor type, level) pair in `daily_visitor`."""
    return visitor_type * len(VISITOR_LEVELS) + level


# The hours for which a repeated `Idempotency-Key` returns the form that it created.
IDEMPOTENCY_HOURS: Final = 24

# The kind of an import batch that no import brought: the facts that RAW_DAYS kept of raw events.
KEPT_FACTS: Final = "kept-facts"
