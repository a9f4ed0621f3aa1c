"""Every table, by the way that data goes: shop → raw → facts → dimensions → daily rows.

All but the shop-wide raw tables are keyed by `edition`: one complete set of facts and summaries of
one shop, built under recorded settings (see `editions.py`). A rebuild fills a new edition beside the
one that is read, then takes its place in one step.
"""

from typing import Final

from sqlalchemy import (
    Column,
    Index,
    Table,
    Text,
    UniqueConstraint,
    text as sql,
)

from warehouse.catalogue import SUMMARIES
from warehouse.columns import blob, key, metadata, serial, small, text, whole
from warehouse.days import NEVER
from warehouse.vocabulary import UTM_FIELDS

# --- shops, forms, keys: served as they are -------------------------------------------------------

shop: Final = Table(
    "shop",
    metadata,
    serial("shop_key"),
    text("shop_id", unique=True),
    text("name"),
    text("currency"),
    text("timezone"),
    # The edition that answers are read from; 0 before the first rollup.
    whole("edition"),
    # Moves with everything that can change an answer of the shop.
    whole("data_version"),
)

form: Final = Table(
    "form",
    metadata,
    key("shop_key"),
    Column("form_id", Text(), primary_key=True, nullable=False),
    text("name"),
    text("status"),
    text("schema"),
    text("draft_schema"),
    whole("created_at"),
    whole("updated_at"),
    Index(None, "shop_key", "created_at", "form_id"),
)

api_key: Final = Table(
    "api_key",
    metadata,
    Column("credential_id", Text(), primary_key=True, nullable=False),
    key("shop_key"),
    text("key_hash", unique=True),
    # The first characters of the key, by which its owner recognises it.
    text("hint"),
    text("name"),
    text("scopes"),
    text("created_by"),
    whole("created_at"),
    whole("expires_at", NEVER),
    whole("revoked_at", NEVER),
    whole("last_used_at"),
)

# --- the queue: what was imported, and which edition has taken it in ------------------------------

import_batch: Final = Table(
    "import_batch",
    metadata,
    serial("batch_id"),
    whole("shop_key", index=True),
    text("kind"),
    whole("rows"),
    whole("imported_at"),
)

edition: Final = Table(
    "edition",
    metadata,
    serial("edition"),
    whole("shop_key", index=True),
    text("timezone"),
    whole("window_days"),
    whole("logic_version"),
    text("state"),
    text("lease_owner"),
    whole("lease_until"),
    # The next session id to give away.
    whole("next_session", 1),
    whole("rolled_up_at"),
    # Two rollups at once must not build the same shop anew twice.
    Index("uq_edition_building", "shop_key", unique=True,
          sqlite_where=sql("state = 'building'"), postgresql_where=sql("state = 'building'")),
)

edition_batch: Final = Table("edition_batch", metadata, key("edition"), key("batch_id"))

reject: Final = Table(
    "reject",
    metadata,
    serial("reject_id"),
    text("kind"),
    text("file"),
    whole("line"),
    text("reason"),
    text("text"),
    whole("rejected_at"),
    Index(None, "rejected_at"),
    Index(None, "file", "line"),
)

# --- raw: append-only, as imported ----------------------------------------------------------------

raw_event: Final = Table(
    "raw_event",
    metadata,
    whole("shop_key"),
    text("event_id"),
    whole("batch_id", index=True),
    text("form_id"),
    text("form_session_id"),
    text("visitor_id"),
    small("type"),
    whole("occurred_at"),
    small("device"),
    text("step_id"),
    whole("step_index"),
    text("step_name"),
    # Of an answer: field_id is "" where the event is no answer (an empty list); value is JSON, a
    # text or a list of distinct texts, and "" where the type cannot be aggregated.
    text("field_id"),
    text("field_type"),
    text("value"),
    text("customer_id"),
    text("email_sha256"),
    text("discount_id"),
    text("discount_code"),
    *(text(name) for name in UTM_FIELDS),
    UniqueConstraint("shop_key", "event_id"),
)

raw_order: Final = Table(
    "raw_order",
    metadata,
    whole("shop_key"),
    text("order_id"),
    # The version stands that has the greatest (updated_at, content): `content` is the SHA-256 of
    # the normalised row, so ties fall the same way whatever came first.
    whole("updated_at"),
    text("content"),
    whole("batch_id", index=True),
    whole("created_at"),
    whole("gross"),
    whole("refunded"),
    whole("discounted"),
    text("customer_id"),
    text("email_sha256"),
    text("visitor_id"),
    # JSON: [[code in upper case, amount in minor units, discount_id], ...], one entry a code.
    text("codes"),
    small("test"),
    small("cancelled"),
    *(text(name) for name in UTM_FIELDS),
    UniqueConstraint("shop_key", "order_id", "updated_at", "content"),
)

ad_spend: Final = Table(
    "ad_spend",
    metadata,
    key("shop_key"),
    Column("provider", Text(), primary_key=True, nullable=False),
    Column("account_id", Text(), primary_key=True, nullable=False),
    Column("campaign_id", Text(), primary_key=True, nullable=False),
    key("day"),
    Column("segment", Text(), primary_key=True, nullable=False),
    text("campaign_name"),
    text("currency"),
    # Decimal major units; text on SQLite, so that no digit is lost.
    text("spend"),
    whole("impressions"),
    whole("clicks"),
    Index(None, "shop_key", "day"),
)

ad_account: Final = Table(
    "ad_account",
    metadata,
    key("shop_key"),
    Column("provider", Text(), primary_key=True, nullable=False),
    Column("account_id", Text(), primary_key=True, nullable=False),
    text("status"),
    whole("synced_at"),
    text("message"),
)

exchange_rate: Final = Table(
    "exchange_rate",
    metadata,
    Column("base", Text(), primary_key=True, nullable=False),
    Column("quote", Text(), primary_key=True, nullable=False),
    key("day"),
    text("rate"),
)

# --- facts ----------------------------------------------------------------------------------------

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
    Index(None, "edition", "customer", sqlite_where=sql("customer <> 0"),
          postgresql_where=sql("customer <> 0")),
    Index(None, "edition", "email", sqlite_where=sql("email <> 0"),
          postgresql_where=sql("email <> 0")),
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
    Column("discount_id", Text(), primary_key=True, nullable=False),
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
    Index(None, "edition", "visitor", sqlite_where=sql("visitor <> 0"),
          postgresql_where=sql("visitor <> 0")),
    Index(None, "edition", "customer", sqlite_where=sql("customer <> 0"),
          postgresql_where=sql("customer <> 0")),
    Index(None, "edition", "email", sqlite_where=sql("email <> 0"),
          postgresql_where=sql("email <> 0")),
    Index(None, "edition", "session", sqlite_where=sql("session <> 0"),
          postgresql_where=sql("session <> 0")),
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
    Column("discount_id", Text(), primary_key=True, nullable=False),
    key("form"),
    whole("mentions"),
    whole("submissions"),
    sqlite_with_rowid=False,
)

# --- dimensions -----------------------------------------------------------------------------------

dim_text: Final = Table(
    "dim_text", metadata, key("edition"), key("id"), text("text"), sqlite_with_rowid=False
)

dim_utm: Final = Table(
    "dim_utm",
    metadata,
    key("edition"),
    key("utm"),
    *(text(name) for name in UTM_FIELDS),
    sqlite_with_rowid=False,
)

dim_step: Final = Table(
    "dim_step",
    metadata,
    key("edition"),
    key("form"),
    key("step"),
    whole("index_at"),
    text("index_event"),
    whole("step_index"),
    whole("name_at"),
    text("name_event"),
    text("step_name"),
    sqlite_with_rowid=False,
)

dim_code: Final = Table(
    "dim_code",
    metadata,
    key("edition"),
    key("code"),
    whole("discount"),
    Index(None, "edition", "discount"),
    sqlite_with_rowid=False,
)

# --- daily rows -----------------------------------------------------------------------------------


def _daily(summary) -> Table:  # type: ignore[no-untyped-def]
    values = (blob("cells"),) if summary.cells else tuple(map(whole, summary.measures))
    return Table(
        summary.table,
        metadata,
        *map(key, summary.key),
        *values,
        # A row of cells is wide: clustering by key would split pages for each of them.
        **({} if summary.cells else {"sqlite_with_rowid": False}),
    )


DAILY: Final = {summary.name: _daily(summary) for summary in SUMMARIES}

# The tables that one edition owns, daily rows last.
FACTS: Final = (
    fact_form_session, fact_step, fact_answer, fact_issue, fact_order, fact_order_code,
    fact_email, fact_code,
)
DIMENSIONS: Final = (dim_text, dim_utm, dim_step, dim_code)
OWNED: Final = (*FACTS, *DIMENSIONS, *DAILY.values())
