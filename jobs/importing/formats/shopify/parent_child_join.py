"""Joins objects of a file with their parts on other lines, in bounded memory."""

import sqlite3
from collections.abc import Iterator
from typing import Final, Self

_INSERTED_AT_ONCE: Final = 10_000
_END: Final = 2**62

# The first line, and the one after the last.
Lines = tuple[int, int]


class ParentChildJoin:
    """Objects as texts, each with its line, its own id and its parent's ("" for one without), in a
    temporary database: in memory, and on disk as far as it does not fit."""

    def __init__(self) -> None:
        # Opened in one thread, and possibly closed in another.
        self._database = sqlite3.connect("", check_same_thread=False)
        self._database.execute(
            "CREATE TABLE object (line INTEGER, id TEXT, parent TEXT, text TEXT)"
        )
        self._waiting: list[tuple[int, str, str, str]] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._database.close()

    def add(self, line: int, id: str, parent: str, text: str) -> None:
        self._waiting.append((line, id, parent, text))
        if len(self._waiting) >= _INSERTED_AT_ONCE:
            self._insert()

    def _insert(self) -> None:
        self._database.executemany("INSERT INTO object VALUES (?, ?, ?, ?)", self._waiting)
        self._waiting.clear()

    def parents(self) -> Iterator[tuple[int, str, str, Lines]]:
        """(line, id, text) of each object without a parent, in the file's order, once all are added; and the
        lines on which its parts are. Where an id comes again, the parts go to the object before them."""
        self._insert()
        self._database.execute("CREATE INDEX object_parent ON object (parent, line)")
        self._database.execute("CREATE INDEX object_id ON object (id)")
        rows = self._database.execute(
            "SELECT line, id, text, CASE WHEN LAG(line) OVER same IS NULL THEN 0 ELSE line END, "
            f"LEAD(line, 1, {_END}) OVER same FROM object WHERE parent = '' "
            "WINDOW same AS (PARTITION BY id ORDER BY line) ORDER BY line"
        )
        return ((line, id, text, (first, end)) for line, id, text, first, end in rows)

    def children(self, parent: str, lines: Lines) -> list[str]:
        """The texts of an object's parts on these lines, in the file's order; after `parents` was begun."""
        if not parent:  # an object without an id has no parts
            return []
        rows = self._database.execute(
            "SELECT text FROM object WHERE parent = ? AND line >= ? AND line < ? ORDER BY line",
            (parent, *lines),
        )
        return [text for (text,) in rows]

    def orphans(self) -> Iterator[int]:
        """The lines of parts whose parent is not in the file; after `parents` was begun."""
        rows = self._database.execute(
            "SELECT line FROM object o WHERE parent != '' "
            "AND NOT EXISTS (SELECT 1 FROM object p WHERE p.id = o.parent) ORDER BY line"
        )
        return (line for (line,) in rows)
