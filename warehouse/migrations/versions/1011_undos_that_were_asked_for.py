"""undos that were asked for

A dropped file has no state of its own for an undo any more: its imports are being undone, as all others.
"""

from alembic import op

revision = "1011"
down_revision = "1010"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute(
        "UPDATE import_file SET state = 'undoing' WHERE state NOT IN ('undoing', 'undone') AND EXISTS ("
        "SELECT 1 FROM dropped_file d WHERE d.state = 'undo asked' AND d.shop_key = import_file.shop_key "
        "AND import_file.started_at >= d.dropped_at AND import_file.file LIKE '%/' || d.stored) "
        # An import whose rows are purged cannot be undone.
        "AND NOT EXISTS (SELECT 1 FROM import_batch b WHERE b.import_id = import_file.import_id "
        "AND b.purged > 0)"
    )
    op.execute("UPDATE dropped_file SET state = 'imported' WHERE state = 'undo asked'")
