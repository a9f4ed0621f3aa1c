"""forms that were forgotten"""

import sqlalchemy as sa
from alembic import op

revision = "1013"
down_revision = "1012"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "form_forgotten",
        sa.Column("shop_key", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column(
            "form_id",
            sa.Text().with_variant(sa.Text(collation="C"), "postgresql"),
            nullable=False,
        ),
        sa.PrimaryKeyConstraint("shop_key", "form_id", name=op.f("pk_form_forgotten")),
    )
