"""CSV as chunks: a header, then records, which may span lines.

The file itself shows its separator, its encoding, and how it writes numbers and dates.
"""

import csv
import json
from collections import deque
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np

from jobs.importing.files.byte_blocks import Lines, lines_of
from jobs.importing.files.chunk import (
    CHUNK_BYTES,
    CHUNK_ROWS,
    MAX_LINE_BYTES,
    BrokenLine,
    Chunk,
    UnreadableFile,
    WantedColumns,
    column_names,
)
from jobs.importing.values.notation import NUMBER, TIME, Notation, UnclearDates

_SIGNS: Final = (",", ";", "\t")
# Lines among which a header is that may have titles above it.
_TITLES: Final = 10
# Rows that always show how numbers and dates are written.
_LOOKED_AT: Final = 10_000

# A record spans fewer lines: the largest schema of a form, laid out for people, has half as many.
_MAX_RECORD_LINES: Final = 100_000
_TOO_LONG: Final = (
    f"the record is longer than {MAX_LINE_BYTES >> 20} MiB or {_MAX_RECORD_LINES} lines"
)

IsHeader = Callable[[Sequence[str]], bool]


class _Endless(Exception):
    """The record goes on too long, or is known to break further on."""


class CsvRecord(NamedTuple):
    """The number of its first line, its cells, and "" or why it is broken."""

    line: int
    cells: list[str]
    wrong: str


class TableRows(NamedTuple):
    """Some records of a table: the names of its header, the cells of each record and the number of its line,
    lines that could not be read, bytes of the file read so far."""

    header: list[str]
    rows: list[list[str]]
    lines: list[int]
    broken: list[BrokenLine]
    position: int

    def records(self) -> Iterator[tuple[int, dict[str, str]]]:
        """(line, cells by the names of the header) of each record."""
        for line, cells in zip(self.lines, self.rows, strict=True):
            yield line, dict(zip(self.header, cells, strict=True))


def chunks(path: Path, wanted: WantedColumns) -> Iterator[Chunk]:
    """The file's records with all their columns; as `parts`."""
    return map(_chunk, parts(path, wanted))


def parts(path: Path, wanted: WantedColumns) -> Iterator[TableRows]:
    """The file's records. Cells of numbers and times are as `values/notation` writes them. Raises OSError,
    and UnreadableFile without a header that has the wanted columns, or if its dates can be read in several
    ways."""
    csv.field_size_limit(MAX_LINE_BYTES)
    notation = _notation(path, wanted)
    feed, records, header = _open(path, wanted)
    rewrite = _rewriting(header, wanted, notation)
    rows: list[list[str]] = []
    numbers: list[int] = []
    size = feed.size
    for record in records:
        wrong = record.wrong
        if not wrong and len(record.cells) != len(header):
            wrong = f"{len(record.cells)} cells, but the header has {len(header)}"
        if wrong:
            feed.broken.append(BrokenLine(record.line, wrong))
        else:
            rows.append(record.cells)
            numbers.append(record.line)
        if len(rows) + len(feed.broken) >= CHUNK_ROWS or feed.size - size > CHUNK_BYTES:
            yield TableRows(header, rewrite(rows), numbers, feed.take_broken(), feed.position)
            rows, numbers, size = [], [], feed.size
    feed.broken += [feed.lost] if feed.lost else []
    yield TableRows(header, rewrite(rows), numbers, feed.take_broken(), feed.position)


def _open(path: Path, wanted: WantedColumns) -> tuple["_Feed", Iterator[CsvRecord], list[str]]:
    """The lines of a file, its records behind the header, and the names in its header."""
    feed = _Feed(lines_of(path))
    if wanted.is_header:
        feed.skip_titles(wanted.is_header)
    records = _records(feed, separator_of(feed.peek(), wanted.names))
    first = next(records, None)
    wrong = first.wrong if first else feed.lost.reason if feed.lost else "it is empty"
    if first is None or wrong:
        raise UnreadableFile(f"{path}: no header in the first line ({wrong})")
    return feed, records, column_names(path, first.cells, wanted)


def separator_of(line: str, names: Collection[str]) -> str:
    """The sign that separates the cells of a header: the one that gives the most of these names, or else
    the most cells."""
    known = {name.lower() for name in names}
    split = {
        sign: [cell.strip('" \r\n\ufeff').lower() for cell in line.split(sign)] for sign in _SIGNS
    }
    return max(_SIGNS, key=lambda sign: (len(known & set(split[sign])), len(split[sign])))


def find_header(lines: Sequence[str], is_header: IsHeader) -> int | None:
    """The place of the header among the first lines of a table; None if it is not there."""
    for place, line in enumerate(lines[:_TITLES]):
        for sign in _SIGNS:
            with suppress(csv.Error, StopIteration):
                if is_header(
                    [cell.strip("\ufeff") for cell in next(csv.reader([line], delimiter=sign))]
                ):
                    return place
    return None


def _notation(path: Path, wanted: WantedColumns) -> Notation:
    """How the file writes its numbers and dates: by its first rows, or by as many as it takes to be sure.
    Raises UnreadableFile if its dates can be read in several ways."""
    notation = Notation(wanted.dates)
    _, records, header = _open(path, wanted)
    numbers = [i for i, name in enumerate(header) if wanted.notation_of(name) == NUMBER]
    times = [i for i, name in enumerate(header) if wanted.notation_of(name) == TIME]
    if not numbers and not times:
        return notation
    for row, record in enumerate(records):
        if row >= _LOOKED_AT and not notation.is_open():
            break
        if len(record.cells) == len(header) and not record.wrong:
            for index in numbers:
                notation.look_at_number(record.cells[index])
            for index in times:
                notation.look_at_date(record.cells[index])
    try:
        notation.raise_if_unclear()
    except UnclearDates as error:
        raise UnreadableFile(
            f"{path}: {error}; say which with --dates dmy, mdy or ymd, or write 2026-01-31"
        ) from None
    return notation


def _rewriting(
    header: list[str], wanted: WantedColumns, notation: Notation
) -> Callable[[list[list[str]]], list[list[str]]]:
    """A function that writes the numbers and dates in some rows as the rest of the program reads them."""
    ways = {NUMBER: notation.numbers, TIME: notation.dates}
    shapes = [(place, ways.get(wanted.notation_of(name))) for place, name in enumerate(header)]

    def rewrite(rows: list[list[str]]) -> list[list[str]]:
        for place, way in shapes:
            if way:
                column = [row[place] for row in rows]
                if (written := way(column)) is not column:
                    for row, cell in zip(rows, written, strict=True):
                        row[place] = cell
        return rows

    return rewrite


def _chunk(part: TableRows) -> Chunk:
    cells = zip(*part.rows, strict=True) if part.rows else ((),) * len(part.header)
    columns = {name: list(of_name) for name, of_name in zip(part.header, cells, strict=True)}
    return Chunk(
        dict(columns),
        np.array(part.lines, dtype=np.int64),
        lambda i: json.dumps({n: cells[i] for n, cells in columns.items()}, ensure_ascii=False),
        textual=True,
        broken=part.broken,
        position=part.position,
    )


class _Feed:
    """Lines for the CSV reader. The lines of the current record can be taken back."""

    def __init__(self, blocks: Iterator[Lines]) -> None:
        self._lines = self._all(blocks)
        self._again: deque[str] = deque()
        # Bytes of the file, characters of it, number of the last line handed out.
        self.position = self.size = self.number = 0
        self.broken: list[BrokenLine] = []
        self.lost: BrokenLine | None = None
        # Whether the file is in Windows-1252, as far as its first lines beyond ASCII show it: none of
        # them is UTF-8.
        self._is_windows: bool | None = None
        self.handed_out: list[str] = []
        # Whether the file ends within the current record.
        self.ended = False
        # The characters of the current record.
        self.length = 0
        # A record broke on this line, which it reached within quotation marks, and so will every record
        # that reaches one of the lines before it in this way: they need not be read again for that.
        self.breaks_on, self.breaks_because = 0, ""

    def _all(self, blocks: Iterator[Lines]) -> Iterator[str]:
        for block in blocks:
            self.position = block.position
            self.broken += block.broken
            self.lost = block.lost
            for line in block.lines:
                self.size += len(line) + 1
                yield self._decoded(line, block) + "\n"

    def _decoded(self, line: bytes, block: Lines) -> str:
        if line.isascii():
            return line.decode()
        if self._is_windows is None:
            # A NUL: it is no text at all.
            self._is_windows = not any(b"\0" in line or _has_utf8(line) for line in block.lines)
        text = line.decode("utf-8", "surrogateescape")
        if self._is_windows and not _has_utf8(line):
            with suppress(UnicodeDecodeError):  # some bytes mean nothing in it
                text = line.decode("cp1252")
        return text

    def take_broken(self) -> list[BrokenLine]:
        """The lines that could not be read since this was last called."""
        broken, self.broken = self.broken, []
        return broken

    def skip_titles(self, is_header: IsHeader) -> None:
        """Go on with the header, if it is among the next lines."""
        lines = list(islice(self._lines, _TITLES))
        titles = find_header(lines, is_header) or 0
        self._again.extend(lines[titles:])
        self.number += titles

    def peek(self) -> str:
        """The next line, which stays the next; "" if there is none."""
        line = self._again.popleft() if self._again else next(self._lines, "")
        if line:
            self._again.appendleft(line)
        return line

    def __iter__(self) -> "_Feed":
        return self

    def start_record(self) -> None:
        self.handed_out, self.length = [], 0

    def __next__(self) -> str:
        if self.handed_out:
            self._check_length()
        line = self._again.popleft() if self._again else next(self._lines, None)
        self.ended = line is None
        if line is None:
            raise StopIteration
        self.number += 1
        self.handed_out.append(line)
        self.length += len(line)
        return line

    def _check_length(self) -> None:
        """Raise _Endless where the current record must not go on."""
        if self.number < self.breaks_on:
            raise _Endless(self.breaks_because)
        if self.length > MAX_LINE_BYTES or len(self.handed_out) >= _MAX_RECORD_LINES:
            raise _Endless(_TOO_LONG)

    def keep_first(self, why: str) -> str:
        """Take back all lines of this record but the first, which is returned."""
        if self.number >= self.breaks_on:
            self.breaks_on, self.breaks_because = self.number, why
        first, *others = self.handed_out
        self._again.extendleft(reversed(others))
        self.number -= len(others)
        return first


def _records(feed: _Feed, separator: str) -> Iterator[CsvRecord]:
    """All records that are not blank."""
    reader = csv.reader(feed, strict=True, delimiter=separator)
    while True:
        line = feed.number + 1
        feed.start_record()
        try:
            cells, wrong = next(reader), ""
        except StopIteration:
            return
        except (csv.Error, _Endless) as error:
            if feed.lost and feed.ended:
                # The open record belongs to the unreadable part.
                feed.lost = feed.lost._replace(line=line)
                return
            # A stray quotation mark must not swallow the lines after it.
            reader = csv.reader(feed, strict=True, delimiter=separator)
            cells, wrong = (
                feed.keep_first(str(error)).rstrip("\r\n").split(separator),
                f"not CSV: {error}",
            )
        if len(cells) < 2 and not "".join(cells).strip():
            continue
        if not "".join(cells).isascii():
            cells, wrong = _decoded(cells, wrong)
        yield CsvRecord(line, cells, wrong)


def _has_utf8(line: bytes) -> bool:
    """Whether a line has letters beyond ASCII and is UTF-8."""
    try:
        return not line.isascii() and bool(line.decode())
    except UnicodeDecodeError:
        return False


def _decoded(cells: list[str], wrong: str) -> tuple[list[str], str]:
    try:
        "".join(cells).encode()
    except UnicodeEncodeError:
        whole = [cell.encode("utf-8", "surrogateescape") for cell in cells]
        return [cell.decode("utf-8", "backslashreplace") for cell in whole], "not UTF-8"
    return cells, wrong
