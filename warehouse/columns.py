"""What tables are declared with: plain data. Jobs, which read and write whole columns, need no more of
it; `schema.py` makes SQLAlchemy's tables of it, whose import alone takes as long as a small rollup.

No column that figures are made of is ever NULL: a missing text is "", a missing id 0, an instant
that did not come is `days.NEVER`. That is what minima, joins and columnar reads want, and the
contract calls an empty string a missing value anyway.
"""

from dataclasses import dataclass
from typing import Literal

Kind = Literal["text", "whole", "small", "serial", "blob"]


@dataclass(frozen=True)
class Column:
    """One column. `default` is what a row has that does not say; a `key` is part of the primary key."""

    name: str
    kind: Kind
    default: int | str | None = None
    key: bool = False


class Index:
    """An index on columns; a partial one on the rows that meet a condition."""

    def __init__(
        self, *columns: str, where: str = "", unique: bool = False, name: str | None = None
    ) -> None:
        self.columns, self.where, self.unique, self.name = columns, where, unique, name


class Unique:
    """Columns of which each combination is there once."""

    def __init__(self, *columns: str) -> None:
        self.columns = columns


class Table:
    """One table. `clustered`: SQLite, too, keeps the rows in the order of the primary key."""

    def __init__(self, name: str, *parts: Column | Index | Unique, clustered: bool = False) -> None:
        self.name, self.clustered = name, clustered
        self.columns = tuple(part for part in parts if isinstance(part, Column))
        self.indexes = tuple(part for part in parts if isinstance(part, Index))
        self.uniques = tuple(part for part in parts if isinstance(part, Unique))
        self.names = tuple(column.name for column in self.columns)
        self.key = tuple(column.name for column in self.columns if column.key)
        self.texts = frozenset(column.name for column in self.columns if column.kind == "text")


def text(name: str) -> Column:
    return Column(name, "text", default="")


def text_key(name: str) -> Column:
    return Column(name, "text", key=True)


def whole(name: str, default: int = 0) -> Column:
    """A 64-bit number: an id, an instant, an amount."""
    return Column(name, "whole", default)


def small(name: str) -> Column:
    return Column(name, "small", 0)


def key(name: str) -> Column:
    return Column(name, "whole", key=True)


def serial(name: str) -> Column:
    """A key that the database counts up."""
    return Column(name, "serial", key=True)


def blob(name: str) -> Column:
    return Column(name, "blob")
