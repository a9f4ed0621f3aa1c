"""The parts of which tables are declared: one `metadata`, the column types, and helpers for callers.

No column that figures are made of is ever NULL: a missing text is "", a missing id 0, and the time of
something that has not happened is `time.NEVER`. So minima, joins and columnar reads need no special
case, and the contract treats an empty string as missing anyway.
"""

from functools import cache
from typing import Any, Final

from sqlalchemy import (
    BigInteger,
    Column,
    Dialect,
    Index,
    Integer,
    Label,
    LargeBinary,
    MetaData,
    SmallInteger,
    Table,
    Text,
    TypeDecorator,
    UniqueConstraint,
    event,
    func,
    type_coerce,
)
from sqlalchemy import text as sql

from warehouse.domain.time import NEVER

metadata: Final = MetaData(
    naming_convention={
        "pk": "pk_%(table_name)s",
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "fk": "fk_%(table_name)s_%(column_0_name)s",
    }
)

# Text is ordered by code point on both databases (contract 1); SQLite compares bytes by default.
_TEXT: Final = Text().with_variant(Text(collation="C"), "postgresql")
_SERIAL: Final = BigInteger().with_variant(Integer, "sqlite")


def text(name: str) -> Column[Any]:
    """A text, "" by default."""
    return Column(name, _TEXT, nullable=False, server_default="")


def integer(name: str, default: int = 0) -> Column[Any]:
    """A 64-bit integer: an id, an instant, an amount."""
    return Column(name, BigInteger(), nullable=False, server_default=str(default))


def small_integer(name: str) -> Column[Any]:
    return Column(name, SmallInteger(), nullable=False, server_default="0")


def binary(name: str) -> Column[Any]:
    return Column(name, LargeBinary(), nullable=False)


def key(name: str) -> Column[Any]:
    """A 64-bit integer that is part of the primary key."""
    return Column(name, BigInteger(), primary_key=True, autoincrement=False)


def part_key(name: str) -> Column[Any]:
    """A part of a row that is cut into several, from 0 on: the last column of the primary key."""
    return Column(name, BigInteger(), primary_key=True, autoincrement=False, server_default="0")


def text_key(name: str) -> Column[Any]:
    """A text that is part of the primary key."""
    return Column(name, _TEXT, primary_key=True)


def serial_key(name: str) -> Column[Any]:
    """A primary key that the database counts up. No number is ever given twice."""
    column = Column(name, _SERIAL, primary_key=True, autoincrement=True)
    event.listen(column, "after_parent_attach", _count_up)
    return column


def _count_up(_column: Column[Any], table: Table) -> None:
    # Without this, SQLite would give the number of the last row again once that is deleted.
    table.dialect_options["sqlite"]["autoincrement"] = True


def index(*columns: str, where: str = "", unique: bool = False, name: str | None = None) -> Index:
    """An index; with `where`, on the rows that meet that condition alone."""
    condition = sql(where) if where else None
    return Index(name, *columns, unique=unique, sqlite_where=condition, postgresql_where=condition)


def column_names(table: Table) -> tuple[str, ...]:
    return tuple(table.columns.keys())


def key_names(table: Table) -> tuple[str, ...]:
    """The columns of the primary key, in its order."""
    return tuple(table.primary_key.columns.keys())


def unique_names(table: Table) -> tuple[str, ...]:
    """The columns of the table's unique constraint (it must have one, and one only)."""
    (constraint,) = (one for one in table.constraints if isinstance(one, UniqueConstraint))
    return tuple(constraint.columns.keys())


def is_text(column: Column[Any]) -> bool:
    return isinstance(column.type, Text)


@cache
def partially_indexed(table: Table) -> tuple[str, ...]:
    """The columns that have an index without the rows in which they are 0."""
    return tuple(
        sorted(
            column.name
            for one in table.indexes
            for column in one.columns
            if str(one.dialect_options["sqlite"]["where"]) == f"{column.name} <> 0"
        )
    )


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
