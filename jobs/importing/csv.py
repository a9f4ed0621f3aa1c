"""CSV as portions: a header, then records, of which one can span lines."""

import csv
import json
from collections import deque
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from jobs.importing.portion import (
    BYTES,
    HIDDEN,
    LONGEST_LINE,
    ROWS,
    Broken,
    Portion,
    Unreadable,
    column_names,
)
from jobs.importing.reading import Lines, lines_of


class Record(NamedTuple):
    """The number of its first line, its cells, and "" or what is wrong with it."""

    line: int
    cells: list[str]
    wrong: str


def portions(path: Path, fields: Sequence[str], private: frozenset[str]) -> Iterator[Portion]:
    """The file's records, all columns of them. Raises OSError, and Unreadable without a header."""
    csv.field_size_limit(LONGEST_LINE)
    feed = _Feed(lines_of(path))
    records = _records(feed)
    first = next(records, None)
    wrong = first.wrong if first else feed.lost.reason if feed.lost else "it is empty"
    if first is None or wrong:
        raise Unreadable(f"{path}: no header ({wrong})")
    header = column_names(path, first.cells, fields)
    hide = _Hiding(header, private)
    rows: list[list[str]] = []
    numbers: list[int] = []
    size = feed.size
    for record in records:
        wrong = record.wrong
        if not wrong and len(record.cells) != len(header):
            wrong = f"{len(record.cells)} cells, where the header has {len(header)}"
        shown = hide.shown(record.cells, bool(wrong))
        if wrong:
            feed.broken.append(Broken(record.line, json.dumps(shown, ensure_ascii=False), wrong))
        else:
            rows.append(record.cells)
            numbers.append(record.line)
        if len(rows) >= ROWS or feed.size - size > BYTES:
            yield _portion(header, rows, numbers, feed)
            rows, numbers, size = [], [], feed.size
    feed.broken += [feed.lost] if feed.lost else []
    yield _portion(header, rows, numbers, feed)


def _portion(
    header: list[str], rows: list[list[str]], numbers: list[int], feed: "_Feed"
) -> Portion:
    broken, feed.broken = feed.broken, []
    columns: dict[str, Any] = {
        name: list(cells) for name, cells in zip(header, zip(*rows, strict=True), strict=False)
    }
    return Portion(
        columns,
        np.array(numbers, dtype=np.int64),
        lambda i: json.dumps(dict(zip(header, rows[i], strict=True)), ensure_ascii=False),
        textual=True,
        broken=broken,
        position=feed.position,
    )


class _Hiding:
    """What of a broken record may be shown: which cell is which is known only up to where it broke,
    so all from the first private one on are hidden, and in what follows (it may be the rest of a
    text with a line feed in it) every cell."""

    def __init__(self, header: list[str], private: frozenset[str]) -> None:
        places = [place for place, name in enumerate(header) if name in private]
        self._first = min(places, default=None)
        self._open = False

    def shown(self, cells: list[str], broken: bool) -> list[str]:
        if not broken or self._first is None:
            self._open = False
            return cells
        kept = [] if self._open else cells[: self._first]
        self._open = self._open or len(cells) > self._first
        return kept + [HIDDEN] * (len(cells) - len(kept))


class _Feed:
    """Lines for the CSV reader. Those given for the record at hand can be taken back."""

    def __init__(self, chunks: Iterator[Lines]) -> None:
        self._lines = self._all(chunks)
        self._again: deque[str] = deque()
        # Bytes of the file, characters of it, number of the last line that was given.
        self.position = self.size = self.number = 0
        self.broken: list[Broken] = []
        self.lost: Broken | None = None
        self.given: list[str] = []
        # Whether the record at hand goes on where the file ends.
        self.ended = False

    def _all(self, chunks: Iterator[Lines]) -> Iterator[str]:
        for chunk in chunks:
            self.position = chunk.position
            # A part of a record does not tell which cell it is of.
            self.broken += [one._replace(text="") for one in chunk.broken]
            self.lost = chunk.lost and chunk.lost._replace(text="")
            for line in chunk.lines:
                self.size += len(line) + 1
                yield line.decode("utf-8", "surrogateescape") + "\n"

    def __iter__(self) -> "_Feed":
        return self

    def __next__(self) -> str:
        line = self._again.popleft() if self._again else next(self._lines, None)
        self.ended = line is None
        if line is None:
            raise StopIteration
        self.number += 1
        self.given.append(line)
        return line

    def keep_first(self) -> str:
        """Take back all lines of this record but the first, which is returned."""
        first, *others = self.given
        self._again.extendleft(reversed(others))
        self.number -= len(others)
        return first


def _records(feed: _Feed) -> Iterator[Record]:
    """All records that are not blank."""
    reader = csv.reader(feed, strict=True)
    while True:
        line, feed.given = feed.number + 1, []
        try:
            cells, wrong = next(reader), ""
        except StopIteration:
            return
        except csv.Error as error:
            if feed.lost and feed.ended:
                # The record that was open is part of what cannot be read.
                feed.lost = feed.lost._replace(line=line)
                return
            # A quotation mark too many must not swallow the lines after it.
            reader = csv.reader(feed, strict=True)
            cells, wrong = feed.keep_first().rstrip("\r\n").split(","), f"not CSV: {error}"
        if len(cells) < 2 and not "".join(cells).strip():
            continue
        if not "".join(cells).isascii():
            cells, wrong = _decoded(cells, wrong)
        yield Record(line, cells, wrong)


def _decoded(cells: list[str], wrong: str) -> tuple[list[str], str]:
    try:
        "".join(cells).encode()
    except UnicodeEncodeError:
        whole = [cell.encode("utf-8", "surrogateescape") for cell in cells]
        return [cell.decode("utf-8", "backslashreplace") for cell in whole], "not UTF-8"
    return cells, wrong
