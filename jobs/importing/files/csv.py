"""CSV as chunks: a header, then records, which may span lines.

The file itself shows its separator, its encoding, and how it writes numbers and dates.
"""

import csv
import json
import re
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import chain, islice
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np

from jobs.importing.files.byte_blocks import Lines, lines_of
from jobs.importing.files.chunk import (
    AROUND,
    CHUNK_BYTES,
    CHUNK_ROWS,
    MAX_LINE_BYTES,
    BrokenLine,
    Chunk,
    RefusedFile,
    UnreadableFile,
    WantedColumns,
    column_names,
)
from jobs.importing.values import notation
from jobs.importing.values.notation import Dates, Numbers, Unclear, UnclearDates, UnclearNumbers

_SIGNS: Final = (",", ";", "\t")
# Lines among which a header is that may have titles above it.
_TITLES: Final = 20
_CARRIAGE_RETURN: Final = "a carriage return in a cell without quotation marks"
# The line by which a table tells a spreadsheet what separates its cells.
_SEPARATOR: Final = re.compile(r'[\ufeff"\s]*sep=(.)"?[,;\s]*', re.IGNORECASE)
# Rows that always show how numbers and dates are written.
_LOOKED_AT: Final = 10_000

# A record spans fewer lines: the largest schema of a form, laid out for people, has half as many.
_MAX_RECORD_LINES: Final = 100_000
_TOO_LONG: Final = (
    f"the record is longer than {MAX_LINE_BYTES >> 20} MiB or {_MAX_RECORD_LINES} lines"
)


class UnclearTable(RefusedFile):
    """The cells of a table do not show what its numbers or dates are. `cause` says which cells."""

    def __init__(self, path: Path, cause: UnclearNumbers | UnclearDates) -> None:
        super().__init__(f"{path}: {cause}")
        self.cause = cause


class _Endless(Exception):
    """The record goes on too long, or is known to break further on."""


# A record: the number of its first line, its cells, and why it is broken ("" if it is not).
_Record = tuple[int, list[str], str]


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
    """The file's records with all their columns, as chunks; see `parts`."""
    for part in parts(path, wanted):
        yield _chunk(part, wanted)


def parts(path: Path, wanted: WantedColumns) -> Iterator[TableRows]:
    """The file's records. Cells of numbers and times are as `values/notation` writes them. Raises OSError,
    and UnreadableFile without a header that has the wanted columns, or if its dates can be read in several
    ways."""
    csv.field_size_limit(MAX_LINE_BYTES)
    ways = _ways(path, wanted)
    feed, records, header = _open(path, wanted)
    rows: list[list[str]] = []
    numbers: list[int] = []
    size = feed.size
    for line, cells, wrong in records:
        if not wrong and len(cells) != len(header):
            wrong = f"{len(cells)} cells, but the header has {len(header)}"
        if wrong:
            feed.broken.append(BrokenLine(line, wrong))
        else:
            rows.append(cells)
            numbers.append(line)
        if len(rows) + len(feed.broken) >= CHUNK_ROWS or feed.size - size > CHUNK_BYTES:
            _rewrite(path, rows, ways)
            yield TableRows(header, rows, numbers, feed.take_broken(), feed.position)
            rows, numbers, size = [], [], feed.size
    feed.broken += [feed.lost] if feed.lost else []
    _rewrite(path, rows, ways)
    yield TableRows(header, rows, numbers, feed.take_broken(), feed.position)


def _open(path: Path, wanted: WantedColumns) -> tuple["_Feed", Iterator[_Record], list[str]]:
    """The lines of a file, its records behind the header, and the names in its header."""
    feed = _Feed(lines_of(path), path)
    records = _records(feed, feed.skip_titles(wanted))
    line, names, wrong = next(records, (0, [], ""))
    if not line:
        wrong = feed.lost.reason if feed.lost else "it is empty"
    if wrong:
        raise UnreadableFile(f"{path}: no header in the first line ({wrong})")
    feed.header = feed.handed_out[-1].rstrip("\r\n")
    return feed, records, column_names(path, names, wanted)


def first_lines(head: bytes) -> list[str]:
    """The first lines of a text, which ends in the middle of a line or a letter; [] for what is no text."""
    if b"\0" in head.partition(b"\n")[0]:
        return []
    some = head.splitlines(keepends=True)[: _TITLES + 1]
    whole = Lines(1, some, [], 0)
    return list(_Feed(iter([whole])).lines)


def possible_headers(lines: Sequence[str]) -> Iterator[tuple[int, str, list[str]]]:
    """(place, separator, names) of each of the first lines that can be the header of a table, by each
    separator; of a table that states its separator, by that."""
    stated = _SEPARATOR.fullmatch(lines[0]) if lines else None
    quotes = 0
    for place, line in enumerate(lines[: _TITLES + 1]):
        # A line that begins within quotation marks is the rest of another.
        if quotes % 2 == 0 and line.strip() and not (stated and place == 0):
            for sign in (stated[1],) if stated else _SIGNS:
                with suppress(csv.Error, StopIteration):
                    names = next(csv.reader([line], delimiter=sign))
                    yield place, sign, [name.strip(AROUND) for name in names]
        quotes += line.count('"')


# The place of a column, with what writes its cells as the rest of the program reads them.
_Ways = list[tuple[int, Callable[[list[str]], list[str]]]]


def _ways(path: Path, wanted: WantedColumns) -> _Ways:
    """The ways in which the file writes the cells of its columns, as its first rows show them, or as many
    rows as it takes to be sure. Raises UnreadableFile if they can be read in several ways."""
    _, records, header = _open(path, wanted)
    shapes = [(place, name, wanted.notation_of(name)) for place, name in enumerate(header)]
    decimal, dates = wanted.reading.decimal, Dates(wanted.reading.dates)
    numbers = {
        place: Numbers(decimal, name, whole=shape == notation.WHOLE)
        for place, name, shape in shapes
        if shape in (notation.NUMBER, notation.WHOLE)
    }
    if wanted.are_alike and numbers:
        numbers = dict.fromkeys(numbers, next(iter(numbers.values())))
    looks: list[tuple[int, Callable[[str], None]]] = [
        (place, of_column.look_at) for place, of_column in numbers.items()
    ]
    looks += [(i, dates.look_at) for i, _, how in shapes if how in (notation.TIME, notation.DAY)]
    if not looks:
        return []
    evidence: list[Dates | Numbers] = [dates, *numbers.values()]
    for row, (_, cells, wrong) in enumerate(records):
        if row >= _LOOKED_AT and not any(each.is_open() for each in evidence):
            break
        if len(cells) == len(header) and not wrong:
            for place, look in looks:
                look(cells[place])
    with _explained(path):
        for each in evidence:
            each.raise_if_unclear()
    ways: _Ways = [(place, of_column.written) for place, of_column in numbers.items()]
    ways += [(place, dates.times) for place, _, shape in shapes if shape == notation.TIME]
    ways += [(place, dates.days) for place, _, shape in shapes if shape == notation.DAY]
    return ways


def _rewrite(path: Path, rows: list[list[str]], ways: _Ways) -> None:
    """Write the numbers and dates of rows as the rest of the program reads them."""
    for place, way in ways:
        column = [row[place] for row in rows]
        with _explained(path):
            written = way(column)
        if written is not column:
            for row, cell in zip(rows, written, strict=True):
                row[place] = cell


@contextmanager
def _explained(path: Path) -> Iterator[None]:
    try:
        yield
    except (UnclearNumbers, UnclearDates) as error:
        raise UnclearTable(path, error) from None
    except Unclear as error:
        raise RefusedFile(f"{path}: {error}") from None


def _chunk(part: TableRows, wanted: WantedColumns) -> Chunk:
    cells = zip(*part.rows, strict=True) if part.rows else ((),) * len(part.header)
    columns = {name: list(of_name) for name, of_name in zip(part.header, cells, strict=True)}
    others = {name: cells for name, cells in columns.items() if name not in wanted.names}
    return Chunk(
        dict(columns),
        np.array(part.lines, dtype=np.int64),
        lambda i: json.dumps({n: cells[i] for n, cells in columns.items()}, ensure_ascii=False),
        textual=True,
        broken=part.broken,
        position=part.position,
        unread=lambda i: {n: of_name[i] for n, of_name in others.items() if of_name[i]},
    )


class _Feed:
    """Lines for the CSV reader. The lines of the current record can be taken back."""

    def __init__(self, blocks: Iterator[Lines], path: Path | None = None) -> None:
        self._path = path
        # The lines of the first file alone, of several in an archive: its header is that of the others.
        first = next(blocks, None)
        self._head = len(first.lines) if first else 0
        self.lines = self._all(chain([first], blocks) if first else blocks)
        self.header = ""
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
        part = 0
        for block in blocks:
            self.position = block.position
            self.broken += block.broken
            self.lost = block.lost
            lines = (self._decoded(line, block) + "\n" for line in block.lines)
            if block.part != part:
                part = block.part
                # Its header is that of the first file.
                for line in islice(lines, _TITLES + 1):
                    self.number += 1
                    bare = line.rstrip("\r\n").removeprefix("\ufeff")
                    if bare == self.header.removeprefix("\ufeff"):
                        break
                else:
                    raise UnreadableFile(
                        f"{self._path}: the zip has tables with different columns; unpack it, and import "
                        "each by itself"
                    )
            for line in lines:
                self.size += len(line)
                yield line

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

    def skip_titles(self, wanted: WantedColumns) -> str:
        """Go on with the header, which is the line among the next with the most names of wanted columns.
        Returns its separator."""
        lines = list(islice(self.lines, min(self._head, _TITLES + 1)))
        # The first of equal lines, split by the separator that gives the most cells.
        (*_, titles, sign) = max(
            (
                (wanted.count_known(names), -place, len(names), place, sign)
                for place, sign, names in possible_headers(lines)
            ),
            default=(0, ","),
        )
        self._again.extend(lines[titles:])
        self.number += titles
        return sign

    def __iter__(self) -> "_Feed":
        return self

    def start_record(self) -> None:
        self.handed_out, self.length = [], 0

    def __next__(self) -> str:
        if self.handed_out:
            self._check_length()
        line = self._again.popleft() if self._again else next(self.lines, None)
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


def _records(feed: _Feed, separator: str) -> Iterator[_Record]:
    """The records that are not blank."""
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
            why = _CARRIAGE_RETURN if "new-line" in str(error) else str(error)
            # A stray quotation mark must not swallow the lines after it.
            reader = csv.reader(feed, strict=True, delimiter=separator)
            cells, wrong = (
                feed.keep_first(why).rstrip("\r\n").split(separator),
                f"not CSV: {why}",
            )
        if len(cells) < 2 and not "".join(cells).strip():
            continue
        if not "".join(cells).isascii():
            try:
                "".join(cells).encode()
            except UnicodeEncodeError:
                whole = [cell.encode("utf-8", "surrogateescape") for cell in cells]
                cells = [cell.decode("utf-8", "backslashreplace") for cell in whole]
                wrong = "not UTF-8"
        yield line, cells, wrong


def _has_utf8(line: bytes) -> bool:
    """Whether a line has letters beyond ASCII and is UTF-8."""
    try:
        return not line.isascii() and bool(line.decode())
    except UnicodeDecodeError:
        return False
