"""The first schema."""

from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

NEVER = 4611686018427387904
CODE_POINTS = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")


def text(name: str) -> sa.Column[str]:
    return sa.Column(name, CODE_POINTS, nullable=False, server_default="")


def text_key(name: str) -> sa.Column[str]:
    return sa.Column(name, CODE_POINTS, nullable=False)


def whole(name: str, default: int = 0) -> sa.Column[int]:
    return sa.Column(name, sa.BigInteger(), nullable=False, server_default=str(default))


def small(name: str) -> sa.Column[int]:
    return sa.Column(name, sa.SmallInteger(), nullable=False, server_default="0")


def key(name: str) -> sa.Column[int]:
    return sa.Column(name, sa.BigInteger(), autoincrement=False, nullable=False)


def serial(name: str) -> sa.Column[int]:
    kind: Any = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
    return sa.Column(name, kind, autoincrement=True, nullable=False)


def cells() -> sa.Column[bytes]:
    return sa.Column("cells", sa.LargeBinary(), nullable=False)


def keep_cells_plain(*tables: str) -> None:
    """PostgreSQL compresses what is longer than 2 kB, and unpacking it took longer than all else that
    it does to read a range of days."""
    if op.get_context().dialect.name == "postgresql":
        for table in tables:
            op.execute(f"ALTER TABLE {table} ALTER COLUMN cells SET STORAGE EXTERNAL")


def upgrade() -> None:
    op.create_table(
        "ad_account",
        key("shop_key"),
        text_key("provider"),
        text_key("account_id"),
        text("status"),
        whole("synced_at"),
        text("message"),
        sa.PrimaryKeyConstraint("shop_key", "provider", "account_id", name="pk_ad_account"),
    )
    op.create_table(
        "ad_spend",
        key("shop_key"),
        text_key("provider"),
        text_key("account_id"),
        text_key("campaign_id"),
        key("day"),
        text_key("segment"),
        text("campaign_name"),
        text("currency"),
        text("spend"),
        whole("impressions"),
        whole("clicks"),
        sa.PrimaryKeyConstraint(
            "shop_key",
            "provider",
            "account_id",
            "campaign_id",
            "day",
            "segment",
            name="pk_ad_spend",
        ),
    )
    op.create_index(
        "ix_ad_spend_shop_key_provider_campaign_id_currency_day",
        "ad_spend",
        ["shop_key", "provider", "campaign_id", "currency", "day"],
    )
    op.create_table(
        "api_key",
        text_key("credential_id"),
        whole("shop_key"),
        text("key_hash"),
        text("hint"),
        text("name"),
        text("scopes"),
        text("created_by"),
        whole("created_at"),
        whole("expires_at", NEVER),
        whole("revoked_at", NEVER),
        whole("last_used_at"),
        text("replaced_by"),
        sa.UniqueConstraint("key_hash", name="uq_api_key_key_hash"),
        sa.PrimaryKeyConstraint("credential_id", name="pk_api_key"),
    )
    op.create_index("ix_api_key_shop_key", "api_key", ["shop_key"])
    op.create_table(
        "daily_activity",
        key("edition"),
        key("day"),
        cells(),
        sa.PrimaryKeyConstraint("edition", "day", name="pk_daily_activity"),
    )
    op.create_table(
        "daily_all_forms",
        key("edition"),
        key("day"),
        cells(),
        sa.PrimaryKeyConstraint("edition", "day", name="pk_daily_all_forms"),
    )
    op.create_table(
        "daily_attribution",
        key("edition"),
        key("day"),
        key("type"),
        whole("orders"),
        whole("gross"),
        whole("refunded"),
        sa.PrimaryKeyConstraint("edition", "day", "type", name="pk_daily_attribution"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "daily_credit",
        key("edition"),
        key("form"),
        key("day"),
        whole("orders"),
        whole("gross"),
        whole("refunded"),
        sa.PrimaryKeyConstraint("edition", "form", "day", name="pk_daily_credit"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "daily_cross_field",
        key("edition"),
        key("form"),
        key("field_a"),
        key("field_b"),
        key("day"),
        cells(),
        sa.PrimaryKeyConstraint(
            "edition", "form", "field_a", "field_b", "day", name="pk_daily_cross_field"
        ),
    )
    op.create_table(
        "daily_device",
        key("edition"),
        key("form"),
        key("day"),
        key("device"),
        whole("views"),
        whole("starts"),
        whole("subscriptions"),
        whole("completions"),
        whole("submissions"),
        whole("converted"),
        whole("orders"),
        whole("gross"),
        whole("refunded"),
        sa.PrimaryKeyConstraint("edition", "form", "day", "device", name="pk_daily_device"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "daily_discount",
        key("edition"),
        key("day"),
        cells(),
        sa.PrimaryKeyConstraint("edition", "day", name="pk_daily_discount"),
    )
    op.create_table(
        "daily_funnel",
        key("edition"),
        key("form"),
        key("day"),
        whole("views"),
        whole("starts"),
        whole("subscriptions"),
        whole("completions"),
        whole("submissions"),
        whole("converted"),
        whole("orders"),
        whole("gross"),
        whole("refunded"),
        sa.PrimaryKeyConstraint("edition", "form", "day", name="pk_daily_funnel"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "daily_ltv_form",
        key("edition"),
        key("day"),
        cells(),
        sa.PrimaryKeyConstraint("edition", "day", name="pk_daily_ltv_form"),
    )
    op.create_table(
        "daily_ltv_segment",
        key("edition"),
        key("day"),
        cells(),
        sa.PrimaryKeyConstraint("edition", "day", name="pk_daily_ltv_segment"),
    )
    op.create_table(
        "daily_response",
        key("edition"),
        key("form"),
        key("day"),
        cells(),
        sa.PrimaryKeyConstraint("edition", "form", "day", name="pk_daily_response"),
    )
    op.create_table(
        "daily_step",
        key("edition"),
        key("form"),
        key("day"),
        key("step"),
        whole("views"),
        whole("completions"),
        whole("dropoffs"),
        sa.PrimaryKeyConstraint("edition", "form", "day", "step", name="pk_daily_step"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "daily_time_to_complete",
        key("edition"),
        key("form"),
        key("day"),
        cells(),
        sa.PrimaryKeyConstraint("edition", "form", "day", name="pk_daily_time_to_complete"),
    )
    op.create_table(
        "daily_utm_order",
        key("edition"),
        key("day"),
        cells(),
        sa.PrimaryKeyConstraint("edition", "day", name="pk_daily_utm_order"),
    )
    op.create_table(
        "daily_utm_submission",
        key("edition"),
        key("day"),
        cells(),
        sa.PrimaryKeyConstraint("edition", "day", name="pk_daily_utm_submission"),
    )
    op.create_table(
        "daily_visitor",
        key("edition"),
        key("form"),
        key("day"),
        key("kind"),
        key("previous"),
        whole("visitors"),
        sa.PrimaryKeyConstraint(
            "edition", "form", "day", "kind", "previous", name="pk_daily_visitor"
        ),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "dim_code",
        key("edition"),
        key("code"),
        whole("discount"),
        sa.PrimaryKeyConstraint("edition", "code", name="pk_dim_code"),
        sqlite_with_rowid=False,
    )
    op.create_index(
        "ix_dim_code_edition_discount_code", "dim_code", ["edition", "discount", "code"]
    )
    op.create_table(
        "dim_step",
        key("edition"),
        key("form"),
        key("step"),
        whole("index_at"),
        text("index_event"),
        whole("step_index"),
        whole("name_at"),
        text("name_event"),
        text("step_name"),
        sa.PrimaryKeyConstraint("edition", "form", "step", name="pk_dim_step"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "dim_text",
        key("edition"),
        key("id"),
        text("text"),
        sa.PrimaryKeyConstraint("edition", "id", name="pk_dim_text"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "dim_utm",
        key("edition"),
        key("utm"),
        text("utm_source"),
        text("utm_medium"),
        text("utm_campaign"),
        text("utm_term"),
        text("utm_content"),
        text("utm_id"),
        sa.PrimaryKeyConstraint("edition", "utm", name="pk_dim_utm"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "edition",
        serial("edition"),
        whole("shop_key"),
        text("timezone"),
        whole("window_days"),
        whole("logic_version"),
        text("state"),
        text("lease_owner"),
        whole("lease_until"),
        whole("next_session", 1),
        whole("rolled_up_at"),
        whole("taken_to"),
        sa.PrimaryKeyConstraint("edition", name="pk_edition"),
    )
    op.create_index("ix_edition_shop_key", "edition", ["shop_key"])
    op.create_index(
        "uq_edition_building",
        "edition",
        ["shop_key"],
        unique=True,
        sqlite_where=sa.text("state = 'building'"),
        postgresql_where=sa.text("state = 'building'"),
    )
    op.create_table(
        "edition_batch",
        key("edition"),
        key("batch_id"),
        sa.PrimaryKeyConstraint("edition", "batch_id", name="pk_edition_batch"),
    )
    op.create_table(
        "exchange_rate",
        text_key("base"),
        text_key("quote"),
        key("day"),
        text("rate"),
        sa.PrimaryKeyConstraint("base", "quote", "day", name="pk_exchange_rate"),
    )
    op.create_table(
        "fact_answer",
        key("edition"),
        key("session"),
        key("field"),
        whole("answered_at"),
        text("answer_event"),
        text("value"),
        sa.PrimaryKeyConstraint("edition", "session", "field", name="pk_fact_answer"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "fact_code",
        key("edition"),
        key("code"),
        text_key("discount_id"),
        key("form"),
        whole("mentions"),
        whole("submissions"),
        sa.PrimaryKeyConstraint("edition", "code", "discount_id", "form", name="pk_fact_code"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "fact_email",
        key("edition"),
        key("email"),
        whole("seen_at"),
        text("customer_id"),
        whole("customer"),
        sa.PrimaryKeyConstraint("edition", "email", name="pk_fact_email"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "fact_form_session",
        key("edition"),
        key("session"),
        whole("natural"),
        whole("form"),
        text("form_session_id"),
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
        whole("customer_own"),
        whole("email_at"),
        text("email_event"),
        whole("email"),
        whole("submitted_at", NEVER),
        whole("customer"),
        whole("fresh"),
        whole("orders"),
        whole("gross"),
        whole("refunded"),
        sa.PrimaryKeyConstraint("edition", "session", name="pk_fact_form_session"),
        sqlite_with_rowid=False,
    )
    op.create_index(
        "ix_fact_form_session_edition_customer",
        "fact_form_session",
        ["edition", "customer"],
        sqlite_where=sa.text("customer <> 0"),
        postgresql_where=sa.text("customer <> 0"),
    )
    op.create_index(
        "ix_fact_form_session_edition_email",
        "fact_form_session",
        ["edition", "email"],
        sqlite_where=sa.text("email <> 0"),
        postgresql_where=sa.text("email <> 0"),
    )
    op.create_index(
        "ix_fact_form_session_edition_natural", "fact_form_session", ["edition", "natural"]
    )
    op.create_index(
        "ix_fact_form_session_edition_visitor_form",
        "fact_form_session",
        ["edition", "visitor", "form"],
    )
    op.create_table(
        "fact_issue",
        key("edition"),
        key("session"),
        key("code"),
        text_key("discount_id"),
        whole("submitted_at", NEVER),
        whole("discount"),
        sa.PrimaryKeyConstraint("edition", "session", "code", "discount_id", name="pk_fact_issue"),
        sqlite_with_rowid=False,
    )
    op.create_index(
        "ix_fact_issue_edition_code_submitted_at",
        "fact_issue",
        ["edition", "code", "submitted_at"],
    )
    op.create_table(
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
        whole("customer"),
        whole("type"),
        whole("session"),
        whole("form"),
        whole("utm"),
        sa.PrimaryKeyConstraint("edition", "order", name="pk_fact_order"),
        sqlite_with_rowid=False,
    )
    op.create_index("ix_fact_order_edition_created_at", "fact_order", ["edition", "created_at"])
    op.create_index(
        "ix_fact_order_edition_customer",
        "fact_order",
        ["edition", "customer"],
        sqlite_where=sa.text("customer <> 0"),
        postgresql_where=sa.text("customer <> 0"),
    )
    op.create_index(
        "ix_fact_order_edition_email",
        "fact_order",
        ["edition", "email"],
        sqlite_where=sa.text("email <> 0"),
        postgresql_where=sa.text("email <> 0"),
    )
    op.create_index(
        "ix_fact_order_edition_session",
        "fact_order",
        ["edition", "session"],
        sqlite_where=sa.text("session <> 0"),
        postgresql_where=sa.text("session <> 0"),
    )
    op.create_index(
        "ix_fact_order_edition_visitor",
        "fact_order",
        ["edition", "visitor"],
        sqlite_where=sa.text("visitor <> 0"),
        postgresql_where=sa.text("visitor <> 0"),
    )
    op.create_table(
        "fact_order_code",
        key("edition"),
        key("order"),
        key("code"),
        text("discount_id"),
        whole("created_at"),
        whole("discounted"),
        whole("discount"),
        sa.PrimaryKeyConstraint("edition", "order", "code", name="pk_fact_order_code"),
        sqlite_with_rowid=False,
    )
    op.create_index(
        "ix_fact_order_code_edition_code_created_at",
        "fact_order_code",
        ["edition", "code", "created_at"],
    )
    op.create_table(
        "fact_step",
        key("edition"),
        key("session"),
        key("step"),
        text("step_id"),
        whole("viewed_at", NEVER),
        whole("step_index"),
        whole("completed_at", NEVER),
        sa.PrimaryKeyConstraint("edition", "session", "step", name="pk_fact_step"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "failed_batch",
        key("edition"),
        key("batch_id"),
        whole("tries"),
        whole("failed_at"),
        whole("retry_at"),
        text("error"),
        sa.PrimaryKeyConstraint("edition", "batch_id", name="pk_failed_batch"),
    )
    op.create_table(
        "form",
        key("shop_key"),
        text_key("form_id"),
        text("name"),
        text("status"),
        text("schema"),
        text("draft_schema"),
        whole("created_at"),
        whole("updated_at"),
        sa.PrimaryKeyConstraint("shop_key", "form_id", name="pk_form"),
    )
    op.create_index(
        "ix_form_shop_key_created_at_form_id", "form", ["shop_key", "created_at", "form_id"]
    )
    op.create_table(
        "form_creation",
        text_key("credential_id"),
        text_key("idempotency_key"),
        text("content"),
        text("form_id"),
        whole("created_at"),
        sa.PrimaryKeyConstraint("credential_id", "idempotency_key", name="pk_form_creation"),
    )
    op.create_index("ix_form_creation_created_at", "form_creation", ["created_at"])
    op.create_table(
        "import_batch",
        serial("batch_id"),
        whole("shop_key"),
        text("kind"),
        whole("rows"),
        whole("imported_at"),
        sa.PrimaryKeyConstraint("batch_id", name="pk_import_batch"),
    )
    op.create_index("ix_import_batch_shop_key_batch_id", "import_batch", ["shop_key", "batch_id"])
    op.create_table(
        "job_lease",
        text_key("job"),
        text("owner"),
        whole("until"),
        sa.PrimaryKeyConstraint("job", name="pk_job_lease"),
    )
    op.create_table(
        "raw_event",
        whole("shop_key"),
        text("event_id"),
        whole("batch_id"),
        text("form_id"),
        text("form_session_id"),
        text("visitor_id"),
        small("type"),
        whole("occurred_at"),
        small("device"),
        text("step_id"),
        whole("step_index"),
        text("step_name"),
        text("field_id"),
        text("field_type"),
        text("value"),
        text("customer_id"),
        text("email_sha256"),
        text("discount_id"),
        text("discount_code"),
        text("utm_source"),
        text("utm_medium"),
        text("utm_campaign"),
        text("utm_term"),
        text("utm_content"),
        text("utm_id"),
        sa.UniqueConstraint("shop_key", "event_id", name="uq_raw_event_shop_key_event_id"),
    )
    op.create_index("ix_raw_event_batch_id", "raw_event", ["batch_id"])
    op.create_table(
        "raw_order",
        whole("shop_key"),
        text("order_id"),
        whole("updated_at"),
        text("content"),
        whole("batch_id"),
        whole("created_at"),
        whole("gross"),
        whole("refunded"),
        whole("discounted"),
        text("customer_id"),
        text("email_sha256"),
        text("visitor_id"),
        text("codes"),
        small("test"),
        small("cancelled"),
        text("utm_source"),
        text("utm_medium"),
        text("utm_campaign"),
        text("utm_term"),
        text("utm_content"),
        text("utm_id"),
        sa.UniqueConstraint(
            "shop_key",
            "order_id",
            "updated_at",
            "content",
            name="uq_raw_order_shop_key_order_id_updated_at_content",
        ),
    )
    op.create_index("ix_raw_order_batch_id", "raw_order", ["batch_id"])
    op.create_table(
        "reject",
        serial("reject_id"),
        text("kind"),
        text("format"),
        text("shop_id"),
        text("file"),
        whole("line"),
        text("reason"),
        text("text"),
        whole("rejected_at"),
        sa.PrimaryKeyConstraint("reject_id", name="pk_reject"),
    )
    op.create_index("ix_reject_file_line", "reject", ["file", "line"])
    op.create_index("ix_reject_rejected_at", "reject", ["rejected_at"])
    op.create_table(
        "run",
        serial("run_id"),
        text("job"),
        text("words"),
        text("owner"),
        whole("started_at"),
        whole("seen_at"),
        whole("ended_at"),
        text("state"),
        whole("shops"),
        whole("batches"),
        whole("rows"),
        text("phases"),
        text("error"),
        sa.PrimaryKeyConstraint("run_id", name="pk_run"),
    )
    op.create_index("ix_run_job_run_id", "run", ["job", "run_id"])
    op.create_index("ix_run_started_at", "run", ["started_at"])
    op.create_table(
        "shop",
        serial("shop_key"),
        text("shop_id"),
        text("name"),
        text("currency"),
        text("timezone"),
        whole("edition"),
        whole("data_version"),
        whole("moved_at"),
        sa.UniqueConstraint("shop_id", name="uq_shop_shop_id"),
        sa.PrimaryKeyConstraint("shop_key", name="pk_shop"),
    )
    op.create_table(
        "audit_event",
        serial("audit_id"),
        whole("shop_key"),
        whole("at"),
        text("who"),
        text("place"),
        text("action"),
        text("what"),
        sa.PrimaryKeyConstraint("audit_id", name="pk_audit_event"),
    )
    op.create_index("ix_audit_event_shop_key_audit_id", "audit_event", ["shop_key", "audit_id"])
    op.create_table(
        "member",
        serial("member_key"),
        text("email"),
        text("password_hash"),
        whole("created_at"),
        sa.UniqueConstraint("email", name="uq_member_email"),
        sa.PrimaryKeyConstraint("member_key", name="pk_member"),
    )
    op.create_table(
        "membership",
        key("shop_key"),
        key("member_key"),
        text("permissions"),
        whole("created_at"),
        whole("disabled_at", NEVER),
        sa.PrimaryKeyConstraint("shop_key", "member_key", name="pk_membership"),
    )
    op.create_index("ix_membership_member_key", "membership", ["member_key"])
    op.create_table(
        "password_link",
        text_key("token_hash"),
        whole("member_key"),
        whole("expires_at"),
        sa.PrimaryKeyConstraint("token_hash", name="pk_password_link"),
    )
    op.create_index("ix_password_link_member_key", "password_link", ["member_key"])
    op.create_table(
        "secret",
        text_key("name"),
        text("value"),
        sa.PrimaryKeyConstraint("name", name="pk_secret"),
    )
    op.create_table(
        "sign_in",
        text_key("token_hash"),
        whole("member_key"),
        whole("shop_key"),
        whole("started_at"),
        whole("seen_at"),
        sa.PrimaryKeyConstraint("token_hash", name="pk_sign_in"),
    )
    op.create_index("ix_sign_in_member_key", "sign_in", ["member_key"])
    op.create_index("ix_sign_in_started_at", "sign_in", ["started_at"])
    op.create_table(
        "allowance",
        text_key("subject"),
        whole("whole_at"),
        sa.PrimaryKeyConstraint("subject", name="pk_allowance"),
    )
    op.create_index("ix_allowance_whole_at", "allowance", ["whole_at"])
    keep_cells_plain(
        "daily_activity",
        "daily_all_forms",
        "daily_cross_field",
        "daily_discount",
        "daily_ltv_form",
        "daily_ltv_segment",
        "daily_response",
        "daily_time_to_complete",
        "daily_utm_order",
        "daily_utm_submission",
    )


def downgrade() -> None:
    for table in (
        "shop",
        "sign_in",
        "secret",
        "run",
        "reject",
        "raw_order",
        "raw_event",
        "password_link",
        "membership",
        "member",
        "job_lease",
        "import_batch",
        "form_creation",
        "form",
        "failed_batch",
        "fact_step",
        "fact_order_code",
        "fact_order",
        "fact_issue",
        "fact_form_session",
        "fact_email",
        "fact_code",
        "fact_answer",
        "exchange_rate",
        "edition_batch",
        "edition",
        "dim_utm",
        "dim_text",
        "dim_step",
        "dim_code",
        "daily_visitor",
        "daily_utm_submission",
        "daily_utm_order",
        "daily_time_to_complete",
        "daily_step",
        "daily_response",
        "daily_ltv_segment",
        "daily_ltv_form",
        "daily_funnel",
        "daily_discount",
        "daily_device",
        "daily_cross_field",
        "daily_credit",
        "daily_attribution",
        "daily_all_forms",
        "daily_activity",
        "audit_event",
        "api_key",
        "allowance",
        "ad_spend",
        "ad_account",
    ):
        op.drop_table(table)
