"""time of the file of an order"""

import sqlalchemy as sa
from alembic import op

revision = "1004"
down_revision = "1003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    never = str(2**62)
    op.add_column(
        "raw_order", sa.Column("exported_at", sa.BigInteger(), nullable=False, server_default=never)
    )
