"""The closed word lists of the contract and of ISO 4217, and the integers that stand for words in tables.

A word's code is its index in its tuple. The order is part of the stored data: append, never reorder.
"""

import re
from typing import Final, NamedTuple

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

# The hours for which a repeated `Idempotency-Key` returns the form that it created.
IDEMPOTENCY_HOURS: Final = 24

# The kind of an import batch that no import brought: the facts that RAW_DAYS kept of raw events.
KEPT_FACTS: Final = "kept-facts"

# The states of an import whose rows are to go, and have gone from the figures, too.
UNDOING: Final = "undoing"
UNDONE: Final = "undone"

# The codes of rejects, by which programs decide; "" is every other reason. Beside rows that were refused,
# rejects are rows that were taken without a field that could not be used.
KEPT: Final = "kept"
"""The row was taken without a field."""
MISSING: Final = "missing"
NOT_KEPT: Final = "not_kept"
"""It is no row: it counts the rejects of its file that are not kept."""

IS_KEPT: Final = f"code = '{KEPT}'"
"""The SQL condition that the row of a reject was taken."""

# How the words of KEPT begin.
KEPT_WITHOUT: Final = "kept without "

# The value in a reason, as `jobs/importing/values/errors.py` quotes it.
_QUOTED: Final = re.compile(r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|(?<=: )[-+.\dE]+(?= )""")

# ISO 4217: the currencies in use, by the number of decimals of their minor unit.
_CURRENCIES: Final = {
    0: "BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF",
    2: "AED AFN ALL AMD AOA ARS AUD AWG AZN BAM BBD BDT BGN BMD BND BOB BOV BRL BSD BTN BWP BYN BZD "
    "CAD CDF CHE CHF CHW CNY COP COU CRC CUP CVE CZK DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL "
    "GHS GIP GMD GTQ GYD HKD HNL HTG HUF IDR ILS INR IRR JMD KES KGS KHR KPW KYD KZT LAK LBP LKR "
    "LRD LSL MAD MDL MGA MKD MMK MNT MOP MRU MUR MVR MWK MXN MXV MYR MZN NAD NGN NIO NOK NPR NZD "
    "PAB PEN PGK PHP PKR PLN QAR RON RSD RUB SAR SBD SCR SDG SEK SGD SHP SLE SOS SRD SSP STN SVC "
    "SYP SZL THB TJS TMT TOP TRY TTD TWD TZS UAH USD USN UYU UZS VED VES WST XCD XCG YER ZAR ZMW "
    "ZWG",
    3: "BHD IQD JOD KWD LYD OMR TND",
    4: "CLF UYW",
}

DECIMALS: Final = {
    code: decimals for decimals, codes in _CURRENCIES.items() for code in codes.split()
}


class Reason(NamedTuple):
    """The reason why a row is a reject. `words` are for people alone. `field`: the one field whose value they
    may quote, "" where it is not one."""

    words: str
    code: str = ""
    field: str = ""


def without_values(words: str) -> str:
    """The words of a reason without its values: `currency: 'USD' is not the shop's currency (EUR)` as
    `currency: … is not the shop's ...`."""
    return _QUOTED.sub("…", words)


def visitor_kind(visitor_type: int, level: int) -> int:
    """The code of one (visitor type, level) pair in `daily_visitor`."""
    return visitor_type * len(VISITOR_LEVELS) + level


def minor_units(currency: str) -> int:
    """The number of minor units of one unit of a currency; 100 for a code that ISO 4217 no longer lists."""
    return int(10 ** DECIMALS.get(currency, 2))
