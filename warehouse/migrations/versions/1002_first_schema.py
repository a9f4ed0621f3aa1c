"""The first schema, that of 0.1.0: a script for each database."""

from pathlib import Path

from alembic import op

revision = "1002"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    connection = op.get_bind()
    script = Path(__file__).with_name(f"{revision}.{connection.dialect.name}.sql")
    for statement in script.read_text(encoding="utf-8").split(";\n")[:-1]:
        connection.exec_driver_sql(statement)
