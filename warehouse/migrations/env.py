"""Alembic's entry: the caller's connection and transaction, the tables of the warehouse.

`migrate.py` and `__main__.py` run it.
"""

from alembic import context

from warehouse.tables.base import metadata

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=metadata,
    # SQLite has no ALTER for most changes; Alembic then copies the table.
    render_as_batch=True,
)
context.run_migrations()
