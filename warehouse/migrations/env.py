"""Alembic's entry: the caller's connection and transaction, the tables of the warehouse.

`migrate.py` runs it; for a new revision: `python -m alembic -c alembic.ini` is not needed, see there.
"""

from alembic import context

from warehouse.tables import metadata

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=metadata,
    # SQLite has no ALTER for most changes; Alembic then copies the table.
    render_as_batch=True,
)
context.run_migrations()
