"""Facts: one row per form session and per order, with what hangs on them."""

from typing import Final

from sqlalchemy import Index, Table
from sqlalchemy import text as sql

from warehouse.columns import key, metadata, text, text_key, whole
from warehouse.days import NEVER

fact_form_session: Final = Table(
    "fact_form_session",
    metadata,
    key("edition"),
    key("session"),
    # Identity. `natural` is the hash of (form_id, form_session_id).
    whole("natural"),
    whole("form"),
    text("form_session_id"),
    # Merged from events: minima, "earliest that carries one", "latest that carries one", each
    # with the (instant, event) that decides.
    whole("first_at", NEVER),
    text("first_event"),
    whole("visitor"),
    whole("viewed_at", NEVER),
    whole("started_at", NEVER),
    whole("subscribed_at", NEVER),
    whole("completed_at", NEVER),
    whole("device_at", NEVER),
    text("device_event"),
    whole("device"),
    whole("utm_at", NEVER),
    text("utm_event"),
    whole("utm"),
    whole("customer_at"),
    text("customer_event"),
    text("customer_id"),
    whole("email_at"),
    text("email_event"),
    whole("email"),
    # Derived: the earlier of subscribed and completed, and what the shop's other facts make of it.
    whole("submitted_at", NEVER),
    whole("customer"),
    whole("fresh"),
    whole("orders"),
    whole("gross"),
    whole("refunded"),
    Index(None, "edition", "natural"),
    Index(None, "edition", "visitor"),
    Index(
        None,
        "edition",
        "customer",
        sqlite_where=sql("customer <> 0"),
        postgresql_where=sql("customer <> 0"),
    ),
    Index(
        None, "edition", "email", sqlite_where=sql("email <> 0"), postgresql_where=sql("email <> 0")
    ),
    sqlite_with_rowid=False,
)

fact_step: Final = Table(
    "fact_step",
    metadata,
    key("edition"),
    key("session"),
    key("step"),
    # The step's own text, which decides between steps viewed last at one instant.
    text("step_id"),
    whole("viewed_at", NEVER),
    whole("step_index"),
    whole("completed_at", NEVER),
    sqlite_with_rowid=False,
)

fact_answer: Final = Table(
    "fact_answer",
    metadata,
    key("edition"),
    key("session"),
    key("field"),
    whole("answered_at"),
    text("answer_event"),
    text("value"),
    sqlite_with_rowid=False,
)

# A code (or, where there is none, a discount id) that a session was issued.
fact_issue: Final = Table(
    "fact_issue",
    metadata,
    key("edition"),
    key("session"),
    key("code"),
    text_key("discount_id"),
    whole("discount"),
    Index(None, "edition", "code"),
    sqlite_with_rowid=False,
)

fact_order: Final = Table(
    "fact_order",
    metadata,
    key("edition"),
    key("order"),
    text("order_id"),
    whole("created_at"),
    whole("gross"),
    whole("refunded"),
    text("customer_id"),
    whole("email"),
    whole("visitor"),
    whole("own_utm"),
    # Derived.
    whole("customer"),
    whole("type"),
    whole("session"),
    whole("form"),
    whole("utm"),
    Index(
        None,
        "edition",
        "visitor",
        sqlite_where=sql("visitor <> 0"),
        postgresql_where=sql("visitor <> 0"),
    ),
    Index(
        None,
        "edition",
        "customer",
        sqlite_where=sql("customer <> 0"),
        postgresql_where=sql("customer <> 0"),
    ),
    Index(
        None, "edition", "email", sqlite_where=sql("email <> 0"), postgresql_where=sql("email <> 0")
    ),
    Index(
        None,
        "edition",
        "session",
        sqlite_where=sql("session <> 0"),
        postgresql_where=sql("session <> 0"),
    ),
    Index(None, "edition", "created_at"),
    sqlite_with_rowid=False,
)

fact_order_code: Final = Table(
    "fact_order_code",
    metadata,
    key("edition"),
    key("order"),
    key("code"),
    text("discount_id"),
    whole("discounted"),
    whole("discount"),
    Index(None, "edition", "code"),
    sqlite_with_rowid=False,
)

# The customer last seen together with an e-mail on an event (orders are asked themselves).
fact_email: Final = Table(
    "fact_email",
    metadata,
    key("edition"),
    key("email"),
    whole("seen_at"),
    text("customer_id"),
    whole("customer"),
    sqlite_with_rowid=False,
)

# How many facts name a code together with a discount id, and how many submissions were issued it
# by which form: what decides which discount a code belongs to. It adds up like a summary.
fact_code: Final = Table(
    "fact_code",
    metadata,
    key("edition"),
    key("code"),
    text_key("discount_id"),
    key("form"),
    whole("mentions"),
    whole("submissions"),
    sqlite_with_rowid=False,
)
