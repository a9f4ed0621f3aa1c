"""A row for any table, where its values do not matter."""

from typing import Any

from sqlalchemy import Table

from warehouse.tables.base import is_text


def any_row(table: Table, text: str, **given: Any) -> dict[str, Any]:
    """The values that a row must have; `given`: those of columns, where the table has them. Texts tell their
    column."""
    row: dict[str, Any] = {}
    for column in table.columns:
        if column.name in given:
            row[column.name] = given[column.name]
        elif is_text(column):
            row[column.name] = f"{text}-{column.name}"
        elif column.primary_key and column.autoincrement is not True:
            row[column.name] = 987_654
        elif not column.server_default and not column.primary_key:
            row[column.name] = b""
    return row
