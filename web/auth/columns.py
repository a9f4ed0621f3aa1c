"""Columns as a reader wants them: rows come from SQL as they are used, without a copy."""

from typing import Any

from sqlalchemy import Dialect, Label, Text, TypeDecorator, func, type_coerce

from warehouse.domain.time import NEVER


class Words(TypeDecorator[tuple[str, ...]]):
    """Words with spaces between them, read as a tuple."""

    impl = Text
    cache_ok = True

    def process_result_value(self, value: str | None, dialect: Dialect) -> tuple[str, ...]:
        return tuple((value or "").split())


def words(column: Any) -> Label[Any]:
    """A text as a tuple of its words."""
    return type_coerce(column, Words()).label(column.name)


def happened(column: Any, never: int = NEVER) -> Label[Any]:
    """An instant, None where it has not happened."""
    return func.nullif(column, never).label(column.name)
