"""Links to sign in."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

TEXT = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")


def upgrade() -> None:
    op.create_table(
        "sign_in_link",
        sa.Column("token_hash", TEXT, nullable=False),
        sa.Column("member_key", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("shop_key", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("expires_at", sa.BigInteger(), server_default="0", nullable=False),
        sa.PrimaryKeyConstraint("token_hash", name=op.f("pk_sign_in_link")),
    )
    op.create_index(op.f("ix_sign_in_link_member_key"), "sign_in_link", ["member_key"])


def downgrade() -> None:
    op.drop_table("sign_in_link")
