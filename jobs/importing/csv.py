"""CSV as portions: a header, then records, of which one can span lines."""

import csv
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np

from jobs.importing.portion import BYTES, LONGEST_LINE, ROWS, Broken, Portion, Unreadable
from jobs.importing.reading import Lines, lines_of

HIDDEN: Final = "***"


def portions(path: Path, _fields: Sequence[str], private: frozenset[str]) -> Iterator[Portion]:
    """The file's records, all columns of them. Raises OSError, and Unreadable without a header."""
    csv.field_size_limit(LONGEST_LINE)
    feed = _Feed(lines_of(path))
    records = _records(feed)
    _, header, reason = next(records, (0, [], ""))
    header = [name.strip() for name in header]
    if reason or not any(header) or len(set(header)) < len(header):
        raise Unreadable(f"{path}: the first line is no header ({reason or 'names are missing'})")
    first_private = min((header.index(name) for name in private if name in header), default=None)
    rows: list[list[str]] = []
    numbers: list[int] = []
    broken: list[Broken] = []
    size = feed.size
    for number, cells, reason in records:
        if not reason and len(cells) != len(header):
            reason = f"{len(cells)} cells, where the header has {len(header)}"
        if reason:
            # Which cell is which is not known: all from the first private one on are hidden.
            shown = cells[:first_private] + [HIDDEN] * len(cells[first_private:])
            kept = cells if first_private is None else shown
            broken.append(Broken(number, json.dumps(kept, ensure_ascii=False), reason))
        else:
            rows.append(cells)
            numbers.append(number)
        if len(rows) >= ROWS or feed.size - size > BYTES:
            yield _portion(header, rows, numbers, broken + feed.broken, feed.position)
            rows, numbers, broken, feed.broken, size = [], [], [], [], feed.size
    yield _portion(header, rows, numbers, broken + feed.broken, feed.position)


def _portion(
    header: list[str],
    rows: list[list[str]],
    numbers: list[int],
    broken: list[Broken],
    position: int,
) -> Portion:
    columns: dict[str, Any] = {
        name: list(cells) for name, cells in zip(header, zip(*rows, strict=True), strict=False)
    }
    return Portion(
        columns,
        np.array(numbers, dtype=np.int64),
        lambda i: json.dumps(dict(zip(header, rows[i], strict=True)), ensure_ascii=False),
        textual=True,
        broken=broken,
        position=position,
    )


class _Feed:
    """Lines for the CSV reader, which counts them; notes what it was given since `mark`."""

    def __init__(self, chunks: Iterator[Lines]) -> None:
        self._lines = self._all(chunks)
        self.position = self.size = self.number = 0
        self.broken: list[Broken] = []
        self.given: list[str] = []

    def _all(self, chunks: Iterator[Lines]) -> Iterator[str]:
        for chunk in chunks:
            self.position, lost = chunk.position, {one.line for one in chunk.broken}
            # A part of a record shows nothing of which cell it is.
            self.broken += [Broken(one.line, "", one.reason) for one in chunk.broken]
            for place, line in enumerate(chunk.lines):
                self.number = chunk.first + place
                self.size += len(line) + 1
                if line or self.number not in lost:
                    yield line.decode("utf-8", "surrogateescape") + "\n"

    def __iter__(self) -> "_Feed":
        return self

    def __next__(self) -> str:
        line = next(self._lines)
        self.given.append(line)
        return line


def _records(feed: _Feed) -> Iterator[tuple[int, list[str], str]]:
    """Of each record that is not blank: the number of its first line, its cells, "" or what is
    wrong with it."""
    reader = csv.reader(feed, strict=True)
    while True:
        before, feed.given = feed.number, []
        try:
            cells, reason = next(reader), ""
        except StopIteration:
            return
        except csv.Error as error:
            cells = next(csv.reader(feed.given), [])
            reason = f"not CSV: {error}"
        if not cells or (len(cells) == 1 and not cells[0].strip()):
            continue
        if not all(map(str.isascii, cells)):
            whole = [cell.encode("utf-8", "surrogateescape") for cell in cells]
            try:
                for cell in whole:
                    cell.decode()
            except UnicodeDecodeError:
                cells = [cell.decode("utf-8", "backslashreplace") for cell in whole]
                reason = "not UTF-8"
        yield before + 1, cells, reason
