"""Column types and shorthands shared by the table declarations.

No column that figures are made of is ever NULL: a missing text is "", a missing id 0, an instant
that did not come is `days.NEVER`. That is what minima, joins and columnar reads want, and the
contract calls an empty string a missing value anyway.
"""

from typing import Any

from sqlalchemy import BigInteger, Column, Integer, LargeBinary, MetaData, SmallInteger, Text

metadata = MetaData(
    naming_convention={
        "pk": "pk_%(table_name)s",
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "fk": "fk_%(table_name)s_%(column_0_name)s",
    }
)

# Text is ordered by code point on both databases (contract 1); SQLite compares bytes by default.
CodePoints = Text().with_variant(Text(collation="C"), "postgresql")


def text(name: str, **options: Any) -> Column[str]:
    return Column(name, CodePoints, nullable=False, server_default="", **options)


def text_key(name: str) -> Column[str]:
    return Column(name, CodePoints, nullable=False, primary_key=True)


def whole(name: str, default: int = 0, **options: Any) -> Column[int]:
    """A 64-bit number: an id, an instant, an amount."""
    return Column(name, BigInteger, nullable=False, server_default=str(default), **options)


def small(name: str, **options: Any) -> Column[int]:
    return Column(name, SmallInteger, nullable=False, server_default="0", **options)


def key(name: str, **options: Any) -> Column[int]:
    return Column(
        name, BigInteger, nullable=False, primary_key=True, autoincrement=False, **options
    )


def serial(name: str) -> Column[int]:
    """A key that the database counts up."""
    return Column(
        name,
        BigInteger().with_variant(Integer, "sqlite"),
        primary_key=True,
        autoincrement=True,
    )


def blob(name: str) -> Column[bytes]:
    return Column(name, LargeBinary, nullable=False)
