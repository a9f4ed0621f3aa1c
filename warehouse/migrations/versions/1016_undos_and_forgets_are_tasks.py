"""undos and forgets are tasks

The row of an import or of a person said that raw rows are to go, and each refresh looked for such rows.
"""

from alembic import op

revision = "1016"
down_revision = "1015"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute(
        "INSERT INTO task (shop_key, subject, kind, item, result) SELECT shop_key, "
        "'import ' || CAST(import_id AS TEXT), 'undo', CAST(import_id AS TEXT), '{}' "
        "FROM import_file WHERE state = 'undoing' AND rows_gone_at = 0"
    )
    op.execute(
        "INSERT INTO task (shop_key, subject, kind, asked_at, due_at, result) "
        "SELECT shop_key, 'persons', 'forget', MIN(asked_at), MIN(asked_at), '{}' "
        "FROM forgotten WHERE removed_at = 0 AND rows_gone_at = 0 GROUP BY shop_key"
    )
