"""packed rows in parts

A packed row was one cell, which grew with what strangers send. The next rollup builds every shop anew, and
cuts them.
"""

import sqlalchemy as sa
from alembic import op

revision = "1012"
down_revision = "1011"
branch_labels = None
depends_on = None

_OF_FORMS = ("form", "day")
_OF_DAYS = ("day",)
# The keys of packed rows besides their edition.
_KEYS = {
    "all_forms": _OF_DAYS,
    "outcome": _OF_FORMS,
    "crossed_session": _OF_FORMS,
    "crossed_outcome": _OF_FORMS,
    "crossed_orders": _OF_FORMS,
    "crossed_step": _OF_FORMS,
    "time_to_complete": _OF_FORMS,
    "crossed_time": _OF_FORMS,
    "cross_field": ("form", "field_a", "field_b", "day"),
    "response": _OF_FORMS,
    "response_outcome": _OF_FORMS,
    "crossed_response": _OF_FORMS,
    "crossed_response_outcome": _OF_FORMS,
    "utm_submission": _OF_DAYS,
    "utm_outcome": _OF_DAYS,
    "utm_order": _OF_DAYS,
    "discount": _OF_DAYS,
    "ltv_form": _OF_DAYS,
    "ltv_segment": _OF_DAYS,
}


def upgrade() -> None:
    for name, key in _KEYS.items():
        table = f"daily_{name}"
        columns = ("edition", *key, "part")
        if op.get_bind().dialect.name == "postgresql":
            # Nothing is copied: the default of a new column is not written.
            op.add_column(
                table, sa.Column("part", sa.BigInteger(), server_default="0", nullable=False)
            )
            op.drop_constraint(f"pk_{table}", table)
            op.create_primary_key(f"pk_{table}", table, list(columns))
            continue
        op.rename_table(table, f"{table}_whole")
        op.create_table(
            table,
            *(
                sa.Column(
                    column,
                    sa.BigInteger(),
                    autoincrement=False,
                    nullable=False,
                    server_default="0" if column == "part" else None,
                )
                for column in columns
            ),
            sa.Column("packed_dims", sa.LargeBinary(), nullable=False),
            sa.PrimaryKeyConstraint(*columns, name=op.f(f"pk_{table}")),
        )
        stored = ", ".join(("edition", *key, "packed_dims"))
        op.execute(f"INSERT INTO {table} ({stored}) SELECT {stored} FROM {table}_whole")
        op.drop_table(f"{table}_whole")
