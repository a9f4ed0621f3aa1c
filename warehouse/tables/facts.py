"""Facts: one row per form session and per order, with what hangs on them."""

from typing import Final

from warehouse.columns import Index, Table, key, text, text_key, whole
from warehouse.days import NEVER

fact_form_session: Final = Table(
    "fact_form_session",
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
    # The id of the customer that an event named; `customer` is what it resolves to.
    whole("customer_own"),
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
    Index("edition", "natural"),
    Index("edition", "visitor", "form"),
    Index(
        "edition",
        "customer",
        where="customer <> 0",
    ),
    Index("edition", "email", where="email <> 0"),
    clustered=True,
)

fact_step: Final = Table(
    "fact_step",
    key("edition"),
    key("session"),
    key("step"),
    # The step's own text, which decides between steps viewed last at one instant.
    text("step_id"),
    whole("viewed_at", NEVER),
    whole("step_index"),
    whole("completed_at", NEVER),
    clustered=True,
)

fact_answer: Final = Table(
    "fact_answer",
    key("edition"),
    key("session"),
    key("field"),
    whole("answered_at"),
    text("answer_event"),
    text("value"),
    clustered=True,
)

# A code (or, where there is none, a discount id) that a session was issued.
fact_issue: Final = Table(
    "fact_issue",
    key("edition"),
    key("session"),
    key("code"),
    text_key("discount_id"),
    # Of the session, so that the submission next to an instant is found among any number of them.
    whole("submitted_at", NEVER),
    whole("discount"),
    Index("edition", "code", "submitted_at"),
    clustered=True,
)

fact_order: Final = Table(
    "fact_order",
    key("edition"),
    key("order"),
    text("order_id"),
    whole("created_at"),
    whole("gross"),
    whole("refunded"),
    text("customer_id"),
    whole("customer_own"),
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
        "edition",
        "visitor",
        where="visitor <> 0",
    ),
    Index(
        "edition",
        "customer",
        where="customer <> 0",
    ),
    Index("edition", "email", where="email <> 0"),
    Index(
        "edition",
        "session",
        where="session <> 0",
    ),
    Index("edition", "created_at"),
    clustered=True,
)

fact_order_code: Final = Table(
    "fact_order_code",
    key("edition"),
    key("order"),
    key("code"),
    text("discount_id"),
    # Of the order, so that the orders of some minutes are found among all that used the code.
    whole("created_at"),
    whole("discounted"),
    whole("discount"),
    Index("edition", "code", "created_at"),
    clustered=True,
)

# The customer last seen together with an e-mail on an event (orders are asked themselves).
fact_email: Final = Table(
    "fact_email",
    key("edition"),
    key("email"),
    whole("seen_at"),
    text("customer_id"),
    whole("customer"),
    clustered=True,
)

# How many facts name a code together with a discount id, and how many submissions were issued it
# by which form: what decides which discount a code belongs to. It adds up like a summary.
fact_code: Final = Table(
    "fact_code",
    key("edition"),
    key("code"),
    text_key("discount_id"),
    key("form"),
    whole("mentions"),
    whole("submissions"),
    clustered=True,
)
