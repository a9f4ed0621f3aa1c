"""orders for members, and notes on days"""

import sqlalchemy as sa
from alembic import op

revision = "1009"
down_revision = "1008"
branch_labels = None
depends_on = None

_TEXT = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
_ALL = "forms:edit discounts:view connections:manage"


def upgrade() -> None:
    op.create_table(
        "note",
        sa.Column("note_id", _TEXT, nullable=False),
        sa.Column("shop_key", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("day", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("text", _TEXT, server_default="", nullable=False),
        sa.Column("created_at", sa.BigInteger(), server_default="0", nullable=False),
        sa.PrimaryKeyConstraint("note_id", name=op.f("pk_note")),
    )
    with op.batch_alter_table("note", schema=None) as batch_op:
        batch_op.create_index(
            batch_op.f("ix_note_shop_key_day_note_id"), ["shop_key", "day", "note_id"]
        )
    op.create_table(
        "invitation",
        sa.Column("token_hash", _TEXT, nullable=False),
        sa.Column("shop_key", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("email", _TEXT, server_default="", nullable=False),
        sa.Column("permissions", _TEXT, server_default="", nullable=False),
        sa.Column("expires_at", sa.BigInteger(), server_default="0", nullable=False),
        sa.PrimaryKeyConstraint("token_hash", name=op.f("pk_invitation")),
        sa.UniqueConstraint("shop_key", "email", name=op.f("uq_invitation_shop_key_email")),
    )
    # Members who had all permissions have the new one, too.
    membership = sa.table("membership", sa.column("permissions", sa.Text()))
    op.execute(
        membership.update()
        .where(membership.c.permissions == _ALL)
        .values(permissions=f"{_ALL} customers:view")
    )
