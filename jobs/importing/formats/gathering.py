"""Parts of records that lie apart in a file brought together, in bounded memory."""

import sqlite3
from collections.abc import Iterator
from typing import Final, Self

_INSERTED_AT_ONCE: Final = 10_000

Part = tuple[int, str, str]


class Gathering:
    """Records and parts of them, as texts, in a database of its own that is gone when it is closed:
    it is in memory, and on disk as far as it does not fit."""

    def __init__(self) -> None:
        # Made in one thread, and maybe left in another.
        self._database = sqlite3.connect("", check_same_thread=False)
        self._waiting: dict[str, list[Part]] = {"record": [], "part": []}
        for table in self._waiting:
            self._database.execute(f"CREATE TABLE {table} (line INTEGER, record TEXT, text TEXT)")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._database.close()

    def add(self, line: int, record: str, text: str) -> None:
        """A record of this id, from this line."""
        self._add("record", (line, record, text))

    def add_part(self, line: int, record: str, text: str) -> None:
        """A part of the record of this id."""
        self._add("part", (line, record, text))

    def _add(self, table: str, part: Part) -> None:
        waiting = self._waiting[table]
        waiting.append(part)
        if len(waiting) >= _INSERTED_AT_ONCE:
            self._insert(table)

    def _insert(self, table: str) -> None:
        self._database.executemany(f"INSERT INTO {table} VALUES (?, ?, ?)", self._waiting[table])
        self._waiting[table].clear()

    def together(self) -> Iterator[tuple[int, str, list[str]]]:
        """Line and text of each record, in the file's order, with the texts of its parts. To be
        called once, when all is added."""
        for table in self._waiting:
            self._insert(table)
        self._database.execute("CREATE INDEX part_record ON part (record, line)")
        self._database.execute("CREATE INDEX record_record ON record (record)")
        parts = self._database.cursor()
        records = self._database.execute("SELECT line, record, text FROM record ORDER BY line")
        for line, record, text in records:
            of_record = parts.execute(
                "SELECT text FROM part WHERE record = ? ORDER BY line", (record,)
            )
            yield line, text, [part for (part,) in of_record]

    def orphans(self) -> Iterator[int]:
        """The lines of parts without a record; after `together`."""
        found = self._database.execute(
            "SELECT line FROM part WHERE record NOT IN (SELECT record FROM record) ORDER BY line"
        )
        return (line for (line,) in found)
