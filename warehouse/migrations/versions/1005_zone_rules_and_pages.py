"""The rules of time zones, and the pages of events."""

import sqlalchemy as sa
from alembic import op

revision = "1005"
down_revision = "1004"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "zone_rules",
        sa.Column(
            "zone_version",
            sa.Text().with_variant(sa.Text(collation="C"), "postgresql"),
            nullable=False,
        ),
        sa.Column(
            "timezone", sa.Text().with_variant(sa.Text(collation="C"), "postgresql"), nullable=False
        ),
        sa.Column(
            "content",
            sa.Text().with_variant(sa.Text(collation="C"), "postgresql"),
            server_default="",
            nullable=False,
        ),
        sa.PrimaryKeyConstraint("zone_version", "timezone", name=op.f("pk_zone_rules")),
    )
    with op.batch_alter_table("edition", schema=None) as batch_op:
        batch_op.add_column(
            sa.Column(
                "zone_version",
                sa.Text().with_variant(sa.Text(collation="C"), "postgresql"),
                server_default="",
                nullable=False,
            )
        )

    with op.batch_alter_table("raw_event", schema=None) as batch_op:
        batch_op.add_column(
            sa.Column(
                "page_path",
                sa.Text().with_variant(sa.Text(collation="C"), "postgresql"),
                server_default="",
                nullable=False,
            )
        )
