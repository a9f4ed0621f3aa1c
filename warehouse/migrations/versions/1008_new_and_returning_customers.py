"""new and returning customers"""

import sqlalchemy as sa
from alembic import op

revision = "1008"
down_revision = "1007"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "daily_new_returning",
        sa.Column("edition", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("day", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("customer_type", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("orders", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("gross", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("refunded", sa.BigInteger(), server_default="0", nullable=False),
        sa.PrimaryKeyConstraint(
            "edition", "day", "customer_type", name=op.f("pk_daily_new_returning")
        ),
        sqlite_with_rowid=False,
    )
    with op.batch_alter_table("fact_order", schema=None) as batch_op:
        batch_op.add_column(
            sa.Column("cancelled", sa.BigInteger(), server_default="0", nullable=False)
        )
        batch_op.add_column(
            sa.Column("customer_type", sa.BigInteger(), server_default="0", nullable=False)
        )
