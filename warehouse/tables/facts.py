"""Facts: one row per form session and per order, and what belongs to each."""

from typing import Final

from sqlalchemy import Table

from warehouse.catalogue import MILESTONES
from warehouse.domain.time import NEVER
from warehouse.tables.base import index, integer, key, metadata, text, text_key

NO_MILESTONE: Final = " AND ".join(f"{one.instant} = {NEVER}" for one in MILESTONES)
"""The condition that a form session is in no `daily_funnel`: it has only answers and steps."""

IS_SUBMITTED: Final = f"submitted_at <> {NEVER}"
"""The condition that a form session is a submission."""

fact_form_session: Final = Table(
    "fact_form_session",
    metadata,
    key("edition"),
    key("session"),
    # Identity: the hash of (form_id, form_session_id).
    integer("session_hash"),
    integer("form"),
    text("form_session_id"),
    # From events: the first of each type, and the first or last value of each attribute.
    integer("first_at", NEVER),
    # The quarters of an hour with an event, beside that of `first_at` (`jobs/facts/quarters.py`).
    text("quarters"),
    integer("visitor"),
    integer("viewed_at", NEVER),
    integer("started_at", NEVER),
    integer("subscribed_at", NEVER),
    integer("completed_at", NEVER),
    integer("device"),
    integer("utm"),
    integer("variant"),
    # The customer that an event named; `customer` is the customer after e-mails are resolved.
    integer("customer_seen"),
    integer("email"),
    # Derived: the earlier of subscribed and completed, and what follows from the shop's other facts.
    integer("submitted_at", NEVER),
    integer("customer"),
    integer("is_first_session"),
    integer("orders"),
    integer("gross"),
    integer("refunded"),
    index("edition", "session_hash"),
    # A visitor's first session with a form, and those next to an instant: `jobs/facts/rollup_units.py`.
    index(
        "edition",
        "visitor",
        "form",
        "is_first_session",
        "viewed_at",
        name="ix_fact_form_session_views",
    ),
    index("edition", "visitor", "form", "submitted_at", where=IS_SUBMITTED),
    index("edition", "visitor", "form", where="orders <> 0"),
    # The last submission before an instant.
    index("edition", "visitor", "submitted_at", where=IS_SUBMITTED),
    index(
        "edition",
        "customer",
        "submitted_at",
        where="customer <> 0",
    ),
    index("edition", "email", where="email <> 0"),
    # Few sessions are such. A form that has no others is found by them (`operations/data_checks.py`).
    index("edition", "form", where=NO_MILESTONE),
    sqlite_with_rowid=False,
)

fact_step: Final = Table(
    "fact_step",
    metadata,
    key("edition"),
    key("session"),
    key("step"),
    # The id as text: it decides between steps that were viewed at the same instant.
    text("step_id"),
    integer("viewed_at", NEVER),
    integer("step_index"),
    integer("completed_at", NEVER),
    sqlite_with_rowid=False,
)

fact_answer: Final = Table(
    "fact_answer",
    metadata,
    key("edition"),
    key("session"),
    key("field"),
    text("value"),
    # How many of its choices, the first ones, count in pairs (`jobs/facts/answers.py`).
    integer("paired"),
    sqlite_with_rowid=False,
)

# A code that a session was issued (or a discount id, if it has no code).
fact_code_issued: Final = Table(
    "fact_code_issued",
    metadata,
    key("edition"),
    key("session"),
    key("code"),
    text_key("discount_id"),
    # A copy of the session's: the index finds the submission nearest to an instant by it.
    integer("submitted_at", NEVER),
    integer("discount"),
    index("edition", "code", "submitted_at"),
    sqlite_with_rowid=False,
)

fact_order: Final = Table(
    "fact_order",
    metadata,
    key("edition"),
    key("order"),
    text("order_id"),
    integer("created_at"),
    integer("gross"),
    integer("refunded"),
    integer("cancelled"),
    text("customer_id"),
    integer("customer_seen"),
    integer("email"),
    integer("visitor"),
    integer("order_utm"),
    # Derived.
    integer("customer"),
    # vocabulary.CUSTOMER_TYPES
    integer("customer_type"),
    integer("type"),
    integer("session"),
    integer("form"),
    integer("utm"),
    index(
        "edition",
        "visitor",
        "created_at",
        where="visitor <> 0",
    ),
    index(
        "edition",
        "customer",
        "created_at",
        where="customer <> 0",
    ),
    index("edition", "email", where="email <> 0"),
    index(
        "edition",
        "session",
        where="session <> 0",
    ),
    index("edition", "created_at"),
    sqlite_with_rowid=False,
)

fact_order_code: Final = Table(
    "fact_order_code",
    metadata,
    key("edition"),
    key("order"),
    key("code"),
    text("discount_id"),
    # A copy of the order's: the index finds a code's orders of some minutes by it.
    integer("created_at"),
    integer("discounted"),
    integer("discount"),
    index("edition", "code", "created_at"),
    sqlite_with_rowid=False,
)

# The customer last seen together with an e-mail address on an event. (Orders have their own.)
fact_email: Final = Table(
    "fact_email",
    metadata,
    key("edition"),
    key("email"),
    integer("seen_at"),
    text("customer_id"),
    integer("customer"),
    sqlite_with_rowid=False,
)

# How many facts name a code together with a discount id, and how many submissions of a form were
# issued it: these counts decide which discount a code belongs to. They add up like a summary.
code_usage: Final = Table(
    "code_usage",
    metadata,
    key("edition"),
    key("code"),
    text_key("discount_id"),
    key("form"),
    integer("mentions"),
    integer("submissions"),
    sqlite_with_rowid=False,
)
