"""Notes: what a member, or a program, wrote on a day of the shop. They are in no figure.

A shop has at most `MOST` of them, so that each answer and page can have all of its days. Nothing here
commits.
"""

from collections.abc import Mapping
from datetime import date
from typing import Final, NamedTuple

from sqlalchemy import Connection, delete, func, insert, select, update

from warehouse.domain.time import day_number
from warehouse.tables import note, shop

MOST: Final = 1_000
LONGEST: Final = 255
_ANY_DAY: Final = (-(2**31), 2**31)


class Note(NamedTuple):
    """A note on a day of a shop."""

    note_id: str
    day: int
    text: str
    created_at: int


class TooManyNotes(ValueError):
    """The shop has as many notes as it may."""

    def __init__(self) -> None:
        super().__init__(f"The shop has {MOST:,} notes. Take away one that is no longer needed.")


def in_one_line(text: str) -> str:
    """A text as it is kept: trimmed, in one line. Raises ValueError, which says what the text is not."""
    kept = " ".join(text.split())
    if not 1 <= len(kept) <= LONGEST:
        raise ValueError(f"is a text of 1 to {LONGEST} characters")
    if not kept.isprintable():
        raise ValueError("has a character that cannot be printed")
    return kept


def day_of(text: str) -> int:
    """The number of a day that is written as `2026-11-28`. Raises ValueError, which says what it is not."""
    try:
        day = date.fromisoformat(text)
    except ValueError:
        day = date.min
    if day.isoformat() != text or not 2000 <= day.year <= 2100:
        raise ValueError("is a day from 2000 to 2100, as in `2026-11-28`")
    return day_number(day)


def add(connection: Connection, shop_key: int, written: Note) -> None:
    """Write a note, with a text of `in_one_line`. Raises TooManyNotes."""
    # Two writers at once wait for each other, and count each other's.
    own = shop.c.shop_key == shop_key
    connection.execute(update(shop).where(own).values(name=shop.c.name))
    count = select(func.count()).select_from(note).where(note.c.shop_key == shop_key)
    if (connection.scalar(count) or 0) >= MOST:
        raise TooManyNotes
    connection.execute(insert(note), {"shop_key": shop_key, **written._asdict()})


def find(connection: Connection, shop_key: int, note_id: str) -> Note | None:
    own = note.c.shop_key == shop_key, note.c.note_id == note_id
    row = connection.execute(_COLUMNS.where(*own)).one_or_none()
    return Note(*row) if row else None


def remove(connection: Connection, shop_key: int, note_id: str) -> bool:
    """Take a note of the shop away. True where it was there."""
    own = note.c.shop_key == shop_key, note.c.note_id == note_id
    return connection.execute(delete(note).where(*own)).rowcount == 1


def of_days(
    connection: Connection, shop_key: int, first: int = _ANY_DAY[0], last: int = _ANY_DAY[1]
) -> list[Note]:
    """The notes on these days of a shop, by day, then as they were written."""
    statement = _COLUMNS.where(note.c.shop_key == shop_key, note.c.day.between(first, last))
    by_day = statement.order_by(note.c.day, note.c.created_at, note.c.note_id)
    return [Note(*row) for row in connection.execute(by_day)]


def by_day(connection: Connection, shop_key: int, first: int, last: int) -> Mapping[int, str]:
    """The notes of each day that has some, for charts and tables of days; several are joined by `; `."""
    texts: dict[int, list[str]] = {}
    for row in of_days(connection, shop_key, first, last):
        texts.setdefault(row.day, []).append(row.text)
    return {day: "; ".join(each) for day, each in texts.items()}


_COLUMNS: Final = select(note.c.note_id, note.c.day, note.c.text, note.c.created_at)
