"""The first schema: a record of what `warehouse/tables` declared, which no later change touches."""

from collections.abc import Iterable
from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

metadata = sa.MetaData(
    naming_convention={
        "pk": "pk_%(table_name)s",
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
    }
)

Parts = list[Any]
TEXT = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
SERIAL = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
NEVER = 4611686018427387904
UTM_FIELDS = "utm_source utm_medium utm_campaign utm_term utm_content utm_id"


def upgrade() -> None:
    metadata.create_all(op.get_bind())


def downgrade() -> None:
    metadata.drop_all(op.get_bind())


def table(
    name: str, *parts: Iterable[Any], clustered: bool = False, keys_return: bool = True
) -> None:
    """Declare a table; `clustered` has SQLite, too, keep its rows in the order of the primary key. Unless
    `keys_return`, SQLite never gives the key of a deleted row to another one."""
    flat = [part for group in parts for part in group]
    options: Any = {"sqlite_with_rowid": not clustered, "sqlite_autoincrement": not keys_return}
    sa.Table(name, metadata, *flat, **options)


def keys(names: str) -> Parts:
    return [
        sa.Column(name, sa.BigInteger(), primary_key=True, autoincrement=False)
        for name in names.split()
    ]


def text_keys(names: str) -> Parts:
    return [sa.Column(name, TEXT, primary_key=True) for name in names.split()]


def serial(name: str) -> Parts:
    return [sa.Column(name, SERIAL, primary_key=True, autoincrement=True)]


def texts(names: str) -> Parts:
    return [sa.Column(name, TEXT, nullable=False, server_default="") for name in names.split()]


def integers(names: str, default: int = 0, kind: Any = sa.BigInteger) -> Parts:
    return [
        sa.Column(name, kind(), nullable=False, server_default=str(default))
        for name in names.split()
    ]


def small_integers(names: str) -> Parts:
    return integers(names, kind=sa.SmallInteger)


def instants(names: str) -> Parts:
    return integers(names, NEVER)


def binary(name: str) -> Parts:
    return [sa.Column(name, sa.LargeBinary(), nullable=False)]


def unique(names: str) -> Parts:
    return [sa.UniqueConstraint(*names.split())]


def index(names: str, where: str = "", unique: bool = False, name: str | None = None) -> Parts:
    condition = sa.text(where) if where else None
    options: Any = {"sqlite_where": condition, "postgresql_where": condition}
    return [sa.Index(name, *names.split(), unique=unique, **options)]


table(
    "ad_spend",
    keys("shop_key"),
    text_keys("provider account_id campaign_id"),
    keys("day"),
    text_keys("segment"),
    texts("campaign_name currency spend"),
    integers("impressions clicks"),
    texts("reported_conversions reported_value"),
    index("shop_key provider campaign_id currency day"),
)
table(
    "ad_account",
    keys("shop_key"),
    text_keys("provider account_id"),
    texts("status"),
    integers("synced_at"),
    texts("message"),
)
table("exchange_rate", text_keys("base quote"), keys("day"), texts("rate"))
table("daily_events", keys("edition day"), binary("packed_dims"))
table(
    "daily_funnel",
    keys("edition form day"),
    integers("views starts subscriptions completions submissions"),
    clustered=True,
)
table("daily_all_forms", keys("edition day"), binary("packed_dims"))
table(
    "daily_device",
    keys("edition form day device"),
    integers("views starts subscriptions completions submissions"),
    clustered=True,
)
table("daily_outcome", keys("edition form day"), binary("packed_dims"))
table(
    "daily_form_orders",
    keys("edition form day submitted"),
    integers("orders gross refunded"),
    clustered=True,
)
table(
    "daily_step",
    keys("edition form day step"),
    integers("views completions dropoffs"),
    clustered=True,
)
table("daily_time_to_complete", keys("edition form day"), binary("packed_dims"))
table(
    "daily_visitor",
    keys("edition form day kind previous delay"),
    integers("visitors"),
    clustered=True,
)
table("daily_cross_field", keys("edition form field_a field_b day"), binary("packed_dims"))
table("daily_response", keys("edition form day"), binary("packed_dims"))
table("daily_response_outcome", keys("edition form day"), binary("packed_dims"))
table(
    "daily_attribution", keys("edition day type"), integers("orders gross refunded"), clustered=True
)
table("daily_utm_submission", keys("edition day"), binary("packed_dims"))
table("daily_utm_outcome", keys("edition day"), binary("packed_dims"))
table("daily_utm_order", keys("edition day"), binary("packed_dims"))
table("daily_discount", keys("edition day"), binary("packed_dims"))
table("daily_ltv_form", keys("edition day"), binary("packed_dims"))
table("daily_ltv_segment", keys("edition day"), binary("packed_dims"))
table("dim_text", keys("edition id"), texts("text"), clustered=True)
table(
    "dim_utm",
    keys("edition utm"),
    texts(UTM_FIELDS),
    clustered=True,
)
table(
    "dim_step",
    keys("edition form step"),
    integers("index_at"),
    texts("index_event"),
    integers("step_index name_at"),
    texts("name_event step_name"),
    clustered=True,
)
table(
    "dim_discount_code",
    keys("edition code"),
    integers("discount"),
    index("edition discount code"),
    clustered=True,
)
table(
    "fact_form_session",
    keys("edition session"),
    integers("session_hash form"),
    texts("form_session_id"),
    instants("first_at"),
    texts("first_event"),
    integers("visitor"),
    instants("viewed_at started_at subscribed_at completed_at device_at"),
    texts("device_event"),
    integers("device"),
    instants("utm_at"),
    texts("utm_event"),
    integers("utm customer_at"),
    texts("customer_event"),
    integers("customer_seen email_at"),
    texts("email_event"),
    integers("email"),
    instants("submitted_at"),
    integers("customer is_first_session orders gross refunded"),
    index("edition customer", where="customer <> 0"),
    index("edition email", where="email <> 0"),
    index(
        "edition form",
        where=" AND ".join(
            f"{instant}_at = {NEVER}"
            for instant in ("viewed", "started", "subscribed", "completed")
        ),
    ),
    index("edition session_hash"),
    index("edition visitor form"),
    clustered=True,
)
table(
    "fact_step",
    keys("edition session step"),
    texts("step_id"),
    instants("viewed_at"),
    integers("step_index"),
    instants("completed_at"),
    clustered=True,
)
table(
    "fact_answer",
    keys("edition session field"),
    integers("answered_at"),
    texts("answer_event value"),
    clustered=True,
)
table(
    "fact_code_issued",
    keys("edition session code"),
    text_keys("discount_id"),
    instants("submitted_at"),
    integers("discount"),
    index("edition code submitted_at"),
    clustered=True,
)
table(
    "fact_order",
    keys("edition order"),
    texts("order_id"),
    integers("created_at gross refunded"),
    texts("customer_id"),
    integers("customer_seen email visitor order_utm customer type session form utm"),
    index("edition created_at"),
    index("edition customer", where="customer <> 0"),
    index("edition email", where="email <> 0"),
    index("edition session", where="session <> 0"),
    index("edition visitor", where="visitor <> 0"),
    clustered=True,
)
table(
    "fact_order_code",
    keys("edition order code"),
    texts("discount_id"),
    integers("created_at discounted discount"),
    index("edition code created_at"),
    clustered=True,
)
table(
    "fact_email",
    keys("edition email"),
    integers("seen_at"),
    texts("customer_id"),
    integers("customer"),
    clustered=True,
)
table(
    "code_usage",
    keys("edition code"),
    text_keys("discount_id"),
    keys("form"),
    integers("mentions submissions"),
    clustered=True,
)
table(
    "member",
    serial("member_key"),
    texts("email password_hash"),
    integers("adds_shops created_at"),
    unique("email"),
)
table(
    "membership",
    keys("shop_key member_key"),
    texts("permissions"),
    integers("created_at"),
    instants("disabled_at"),
    index("member_key"),
)
table(
    "sign_in",
    text_keys("token_hash"),
    integers("member_key shop_key started_at seen_at is_persistent"),
    texts("address browser"),
    index("member_key"),
    index("started_at"),
)
table(
    "one_time_link",
    text_keys("token_hash"),
    texts("purpose"),
    integers("member_key shop_key expires_at"),
    index("member_key"),
)
table("rate_bucket", text_keys("subject"), integers("full_at"), index("full_at"))
table(
    "audit_event",
    serial("audit_id"),
    integers("shop_key at"),
    texts("actor source_ip action detail"),
    integers("times", 1),
    index("shop_key audit_id"),
    index("shop_key action at"),
)
table("secret", text_keys("name"), texts("value"))
table(
    "job_run",
    serial("run_id"),
    texts("job arguments owner"),
    integers("started_at seen_at ended_at"),
    texts("state"),
    integers("shops batches rows"),
    texts("phases error"),
    index("job run_id"),
    index("started_at"),
)
table("job_lease", text_keys("job"), texts("owner"), integers("until"))
table(
    "scheduler",
    text_keys("owner"),
    integers("started_at seen_at due_at"),
    texts("schedule landing_folder"),
    integers("landed_files landed_since"),
)
table(
    "pull",
    serial("pull_id"),
    integers("shop_key"),
    texts("source name config credentials schedule"),
    integers("set_up_at lookback_days"),
    texts("state"),
    integers("ran_at"),
    texts("status message"),
    integers("rows bytes"),
    index("shop_key"),
    unique("name"),
)
table(
    "import_batch",
    serial("batch_id"),
    integers("shop_key"),
    texts("kind"),
    integers("rows purged imported_at import_id"),
    index("import_id"),
    index("shop_key batch_id"),
)
table(
    "import_file",
    serial("import_id"),
    integers("shop_key"),
    texts("kind file state"),
    integers("run_id started_at ended_at"),
    integers("rows_read rows_new rows_duplicate rows_replaced rows_rejected"),
    index("shop_key import_id"),
    index("started_at"),
)
table(
    "repeated_event",
    keys("shop_key"),
    text_keys("event_id"),
    keys("import_id"),
    index("import_id"),
    clustered=True,
)
table(
    "repeated_order",
    keys("shop_key"),
    text_keys("order_id"),
    keys("updated_at"),
    text_keys("content"),
    keys("import_id"),
    index("import_id"),
    clustered=True,
)
table(
    "shop_version",
    text_keys("shop_id"),
    keys("import_id"),
    integers("written_at"),
    texts("name currency timezone"),
    texts("repeated_by"),
    index("import_id"),
)
table(
    "ad_spend_version",
    keys("shop_key"),
    text_keys("provider account_id campaign_id"),
    keys("day"),
    text_keys("segment"),
    keys("import_id"),
    integers("written_at"),
    texts("campaign_name currency spend"),
    integers("impressions clicks"),
    texts("reported_conversions reported_value"),
    texts("repeated_by"),
    index("import_id"),
)
table(
    "ad_account_version",
    keys("shop_key"),
    text_keys("provider account_id"),
    keys("import_id"),
    integers("written_at"),
    texts("status"),
    integers("synced_at"),
    texts("message"),
    texts("repeated_by"),
    index("import_id"),
)
table(
    "exchange_rate_version",
    text_keys("base quote"),
    keys("day import_id"),
    integers("written_at"),
    texts("rate"),
    texts("repeated_by"),
    index("import_id"),
)
table(
    "form_version",
    keys("shop_key"),
    text_keys("form_id"),
    keys("import_id"),
    integers("written_at"),
    texts("name status schema draft_schema"),
    integers("created_at updated_at stood_at"),
    index("import_id"),
)
table(
    "form_seen",
    keys("shop_key"),
    text_keys("form_id"),
    keys("import_id"),
    texts("name source source_id"),
    instants("first_event_at"),
    integers("named_at seen_at"),
    index("import_id"),
)
table(
    "edition",
    serial("edition"),
    integers("shop_key"),
    texts("timezone"),
    integers("window_days logic_version"),
    texts("state lease_owner"),
    integers("lease_until"),
    integers("next_session", default=1),
    integers("rolled_up_at verified_at differing_rows applied_through deaths"),
    index("shop_key"),
    index("shop_key", where="state = 'building'", unique=True, name="uq_edition_building"),
)
table("difference", keys("edition"), text_keys("table_name"), keys("day"), integers("rows"))
table(
    "edition_batch",
    keys("edition batch_id"),
    integers("attempts failed_at retry_at"),
    texts("error"),
    index("edition batch_id", where="attempts > 0", name="ix_edition_batch_failed"),
)
table(
    "reject",
    serial("reject_id"),
    texts("kind format shop_id"),
    integers("shop_key"),
    texts("file"),
    integers("line"),
    texts("reason text"),
    small_integers("is_textual"),
    integers("rejected_at import_id"),
    index("file line"),
    index("rejected_at"),
    index("shop_key rejected_at"),
)
table(
    "forgotten",
    keys("shop_key"),
    text_keys("identifier_hash"),
    integers("asked_at removed_at events orders"),
)
table("reject_retry", keys("shop_key"), integers("asked_at tried_at tried_through accepted"))
table(
    "raw_event",
    integers("shop_key"),
    texts("event_id"),
    integers("batch_id"),
    texts("form_id form_session_id visitor_id"),
    small_integers("type"),
    integers("occurred_at"),
    small_integers("device"),
    texts("step_id"),
    integers("step_index"),
    texts("step_name field_id field_type value customer_id email_sha256 discount_id discount_code"),
    texts("variant"),
    texts(UTM_FIELDS),
    unique("shop_key event_id"),
    index("batch_id"),
)
table(
    "kept_facts",
    keys("batch_id"),
    integers("shop_key first_at last_at"),
    binary("content"),
    index("shop_key last_at"),
)
table(
    "raw_order",
    integers("shop_key"),
    texts("order_id"),
    integers("updated_at"),
    texts("precedence content"),
    integers("batch_id created_at gross refunded discounted"),
    texts("customer_id email_sha256 visitor_id refunds codes"),
    small_integers("test cancelled"),
    texts(UTM_FIELDS),
    unique("shop_key order_id updated_at content"),
    index("batch_id"),
)
table(
    "shop",
    serial("shop_key"),
    texts("shop_id name currency timezone"),
    integers("edition data_version data_changed_at form_count form_bytes"),
    unique("shop_id"),
    keys_return=False,
)
table("deleted_shop", keys("shop_key"), texts("shop_id"), integers("deleted_at"))
table(
    "form",
    keys("shop_key"),
    text_keys("form_id"),
    texts("name status schema draft_schema"),
    integers("created_at updated_at"),
    texts("source source_id"),
    instants("first_event_at named_at"),
    index("shop_key created_at form_id"),
)
table(
    "form_creation",
    text_keys("credential_id idempotency_key"),
    texts("content form_id"),
    integers("created_at"),
    index("created_at"),
)
table(
    "api_key",
    text_keys("credential_id"),
    integers("shop_key"),
    texts("key_hash hint name scopes created_by"),
    integers("created_at"),
    instants("expires_at revoked_at"),
    integers("last_used_at"),
    texts("replaced_by"),
    unique("key_hash"),
    index("shop_key"),
)
table(
    "uncollected",
    keys("shop_key"),
    text_keys("reason"),
    integers("day calls"),
)
table(
    "write_key",
    text_keys("write_key"),
    integers("shop_key"),
    texts("name origins created_by"),
    integers("created_at"),
    instants("revoked_at"),
    index("shop_key"),
)
