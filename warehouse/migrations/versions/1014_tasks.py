"""tasks

A dropped file had states of its own, and a retry of rejects a table of its own: both are tasks now.
"""

import sqlalchemy as sa
from alembic import op

revision = "1014"
down_revision = "1013"
branch_labels = None
depends_on = None

_TEXT = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
_TEXTS = ("kind", "item", "payload", "result")
_NUMBERS = ("asked_at", "due_at", "attempts", "run_id", "rows", "ended_at")
_DAY = 86_400_000_000


def upgrade() -> None:
    op.create_table(
        "task",
        sa.Column("shop_key", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("subject", _TEXT, nullable=False),
        *(sa.Column(name, _TEXT, server_default="", nullable=False) for name in _TEXTS),
        *(
            sa.Column(name, sa.BigInteger(), server_default="0", nullable=False)
            for name in _NUMBERS
        ),
        sa.PrimaryKeyConstraint("shop_key", "subject", name=op.f("pk_task")),
    )
    # A file that waited for the next day waits for the same one.
    op.execute(
        "INSERT INTO task (shop_key, subject, kind, item, payload, asked_at, due_at, attempts, ended_at, "
        "result) SELECT shop_key, 'file', CASE WHEN state = 'postponed' THEN 'land' "
        "WHEN state IN ('landed', 'imported') THEN 'import' ELSE 'look' END, stored, name, dropped_at, "
        f"CASE WHEN state = 'postponed' THEN since - since % {_DAY} + {_DAY} ELSE since END, tries, "
        "CASE WHEN state IN ('received', 'postponed', 'landed') THEN 0 ELSE since END, told FROM dropped_file"
    )
    op.execute(
        "INSERT INTO task (shop_key, subject, kind, payload, asked_at, due_at, rows, ended_at, result) "
        "SELECT shop_key, 'rejects', 'retry', CAST(tried_through AS TEXT), asked_at, asked_at, accepted, "
        "tried_at, '{}' FROM reject_retry"
    )
    op.drop_table("dropped_file")
    op.drop_table("reject_retry")
