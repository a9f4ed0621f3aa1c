"""The campaign-days that imports stated whole, and the rows that were kept without a field."""

import sqlalchemy as sa
from alembic import op

revision = "1003"
down_revision = "1002"
branch_labels = None
depends_on = None

_TEXT = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")


def upgrade() -> None:
    op.create_table(
        "ad_spend_stated",
        sa.Column("shop_key", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("provider", _TEXT, nullable=False),
        sa.Column("account_id", _TEXT, nullable=False),
        sa.Column("campaign_id", _TEXT, nullable=False),
        sa.Column("day", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("import_id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("since", sa.BigInteger(), server_default="0", nullable=False),
        sa.PrimaryKeyConstraint(
            *("shop_key", "provider", "account_id", "campaign_id", "day", "import_id"),
            name=op.f("pk_ad_spend_stated"),
        ),
        sqlite_with_rowid=False,
    )
    op.create_index(op.f("ix_ad_spend_stated_import_id"), "ad_spend_stated", ["import_id"])
    op.add_column(
        "import_file",
        sa.Column("rows_incomplete", sa.BigInteger(), server_default="0", nullable=False),
    )
