"""codes of rejects"""

import sqlalchemy as sa
from alembic import op

revision = "1007"
down_revision = "1006"
branch_labels = None
depends_on = None


def upgrade() -> None:
    type = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
    for name in ("code", "field"):
        op.add_column("reject", sa.Column(name, type, server_default="", nullable=False))
    # Counts and causes of differences go by these from now on, also those of the rejects that are there.
    op.execute(
        "UPDATE reject SET field = CASE WHEN reason LIKE 'currency: %' THEN 'currency' ELSE '' END, "
        "code = CASE WHEN reason LIKE 'kept without %' THEN 'kept' WHEN reason LIKE 'not kept: %' "
        "THEN 'not_kept' WHEN reason LIKE '%: missing' THEN 'missing' ELSE '' END"
    )
