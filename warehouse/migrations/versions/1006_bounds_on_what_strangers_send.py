"""bounds on what strangers send"""

import sqlalchemy as sa
from alembic import op

revision = "1006"
down_revision = "1005"
branch_labels = None
depends_on = None


def upgrade() -> None:
    # They have paths that may name persons. Forms that are in use are seen again within a minute.
    op.execute("DELETE FROM form_sighting")
    for table, column, type in (
        ("import_batch", "weight", sa.BigInteger()),
        ("fact_answer", "paired", sa.BigInteger()),
        ("form_sighting", "on_own_page", sa.SmallInteger()),
        ("form_seen", "on_own_page", sa.SmallInteger()),
        ("form", "on_own_page", sa.SmallInteger()),
    ):
        with op.batch_alter_table(table, schema=None) as batch_op:
            batch_op.add_column(sa.Column(column, type, server_default="0", nullable=False))
    connection = op.get_bind()
    if connection.dialect.name == "postgresql":
        # The collector's own role reads columns that it was granted one by one.
        readers = sa.text(
            "SELECT DISTINCT grantee FROM information_schema.column_privileges "
            "WHERE table_schema = CURRENT_SCHEMA AND table_name = 'form_sighting' "
            "AND column_name = 'seen_at' AND privilege_type = 'SELECT' AND grantee <> CURRENT_USER"
        )
        quote = connection.dialect.identifier_preparer.quote
        for name in connection.scalars(readers).all():
            op.execute(f"GRANT SELECT (on_own_page) ON form_sighting TO {quote(name)}")
