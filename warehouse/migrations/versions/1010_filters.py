"""filters"""

import sqlalchemy as sa
from alembic import op

revision = "1010"
down_revision = "1009"
branch_labels = None
depends_on = None

_TABLES = (
    "daily_crossed_session",
    "daily_crossed_outcome",
    "daily_crossed_orders",
    "daily_crossed_step",
    "daily_crossed_time",
    "daily_crossed_response",
    "daily_crossed_response_outcome",
)


def upgrade() -> None:
    for table in _TABLES:
        op.create_table(
            table,
            sa.Column("edition", sa.BigInteger(), autoincrement=False, nullable=False),
            sa.Column("form", sa.BigInteger(), autoincrement=False, nullable=False),
            sa.Column("day", sa.BigInteger(), autoincrement=False, nullable=False),
            sa.Column("packed_dims", sa.LargeBinary(), nullable=False),
            sa.PrimaryKeyConstraint("edition", "form", "day", name=op.f(f"pk_{table}")),
        )
        if op.get_bind().dialect.name == "postgresql":
            op.execute(f"ALTER TABLE {table} ALTER packed_dims SET STORAGE EXTERNAL")
    with op.batch_alter_table("fact_form_session", schema=None) as batch_op:
        batch_op.add_column(
            sa.Column("variant", sa.BigInteger(), server_default="0", nullable=False)
        )
        batch_op.add_column(
            sa.Column(
                "quarters",
                sa.Text().with_variant(sa.Text(collation="C"), "postgresql"),
                server_default="",
                nullable=False,
            )
        )
