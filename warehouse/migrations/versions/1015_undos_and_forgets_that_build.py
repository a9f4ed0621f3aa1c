"""undos and forgets that build"""

import sqlalchemy as sa
from alembic import op

revision = "1015"
down_revision = "1014"
branch_labels = None
depends_on = None


def upgrade() -> None:
    for table, name in (
        ("import_file", "rows_gone_at"),
        ("forgotten", "rows_gone_at"),
        ("edition", "outdated_at"),
    ):
        op.add_column(table, sa.Column(name, sa.BigInteger(), server_default="0", nullable=False))
