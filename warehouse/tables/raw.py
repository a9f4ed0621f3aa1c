"""Raw events and orders, as imported: rows are added, and only taken back (`jobs/pipeline/removal.py`).

Events older than RAW_DAYS leave their facts (`jobs/pipeline/raw_days.py`)."""

from typing import Final

from sqlalchemy import Table, UniqueConstraint

from warehouse.domain.time import NEVER
from warehouse.domain.vocabulary import UTM_FIELDS
from warehouse.tables.base import binary, index, integer, key, metadata, small_integer, text

raw_event: Final = Table(
    "raw_event",
    metadata,
    integer("shop_key"),
    text("event_id"),
    integer("batch_id"),
    text("form_id"),
    text("form_session_id"),
    text("visitor_id"),
    small_integer("type"),
    integer("occurred_at"),
    small_integer("device"),
    text("step_id"),
    integer("step_index"),
    text("step_name"),
    # An answer. `field_id` is "" for an event that is no answer (an empty list). `value` is JSON, a
    # text or a list of distinct texts; "" for a type that cannot be aggregated.
    text("field_id"),
    text("field_type"),
    text("value"),
    text("customer_id"),
    text("email_sha256"),
    text("discount_id"),
    text("discount_code"),
    # The arm of an experiment that the session saw.
    text("variant"),
    # The path of the page on which it happened: a form may be split by it.
    text("page_path"),
    *(text(name) for name in UTM_FIELDS),
    index("batch_id"),
    # The index begins with the session: SQLite, which has no statistics, would take one that begins
    # with the shop for every statement that names a shop.
    index("form_session_id", "shop_key"),
    UniqueConstraint("shop_key", "event_id"),
)

raw_order: Final = Table(
    "raw_order",
    metadata,
    integer("shop_key"),
    text("order_id"),
    # The version with the greatest (updated_at, precedence, content) counts, in any order of arrival:
    # `jobs/importing/kinds/order_versions.py`. Where that is the time of the file, `exported_at` is the same,
    # and else NEVER.
    integer("updated_at"),
    text("precedence"),
    text("content"),
    integer("batch_id"),
    integer("created_at"),
    integer("gross"),
    integer("refunded"),
    integer("discounted"),
    text("customer_id"),
    text("email_sha256"),
    text("visitor_id"),
    # JSON: [[refund_id, created_at, amount in minor units], ...] by time, one entry per refund. Figures
    # read their sum, `refunded`, which is at most `gross` and all of it for a cancelled order.
    text("refunds"),
    # JSON: [[code in upper case, amount in minor units, discount_id], ...], one entry per code.
    text("codes"),
    small_integer("test"),
    small_integer("cancelled"),
    *(text(name) for name in UTM_FIELDS),
    integer("exported_at", NEVER),
    index("batch_id"),
    UniqueConstraint("shop_key", "order_id", "updated_at", "content"),
)

# Facts of raw events that are gone, as an import batch of their own (`jobs/facts/kept_facts.py`).
kept_facts: Final = Table(
    "kept_facts",
    metadata,
    key("batch_id"),
    integer("shop_key"),
    # The instants of the first and the last of the events.
    integer("first_at"),
    integer("last_at"),
    binary("content"),
    index("shop_key", "last_at"),
)

# The cells of `kept_facts` that have something of a form session or an e-mail address: a late event of it is
# read with them alone.
kept_key: Final = Table(
    "kept_key",
    metadata,
    # Hashes of shop and session, without the form: another one may count as its. Or of shop and address.
    key("key_hash"),
    key("batch_id"),
    integer("shop_key"),
    index("batch_id"),
    sqlite_with_rowid=False,
)
