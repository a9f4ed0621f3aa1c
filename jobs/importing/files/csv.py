"""CSV as chunks: a header, then records, which may span lines."""

import csv
import json
from collections import deque
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np

from jobs.importing.files.byte_blocks import Lines, lines_of
from jobs.importing.files.chunk import (
    CHUNK_BYTES,
    CHUNK_ROWS,
    HIDDEN,
    MAX_KEPT_REJECTS,
    MAX_LINE_BYTES,
    BrokenLine,
    Chunk,
    UnreadableFile,
    WantedColumns,
    column_names,
)

# A record spans fewer lines: the largest schema of a form, laid out for people, has half as many.
_MAX_RECORD_LINES: Final = 100_000
_TOO_LONG: Final = (
    f"the record is longer than {MAX_LINE_BYTES >> 20} MiB or {_MAX_RECORD_LINES} lines"
)


class _Endless(Exception):
    """The record goes on too long, or is known to break further on."""


class CsvRecord(NamedTuple):
    """The number of its first line, its cells, and "" or why it is broken."""

    line: int
    cells: list[str]
    wrong: str


def chunks(path: Path, wanted: WantedColumns) -> Iterator[Chunk]:
    """The file's records with all their columns. Raises OSError, and UnreadableFile without a header
    that has the wanted columns."""
    csv.field_size_limit(MAX_LINE_BYTES)
    feed = _Feed(lines_of(path))
    records = _records(feed)
    first = next(records, None)
    wrong = first.wrong if first else feed.lost.reason if feed.lost else "it is empty"
    if first is None or wrong:
        raise UnreadableFile(f"{path}: no header in the first line ({wrong})")
    header = column_names(path, first.cells, wanted)
    hide = _Hiding(header, wanted)
    rows: list[list[str]] = []
    numbers: list[int] = []
    size, broken = feed.size, 0
    for record in records:
        wrong = record.wrong
        if not wrong and len(record.cells) != len(header):
            wrong = f"{len(record.cells)} cells, but the header has {len(header)}"
        shown = hide.shown(record.cells, bool(wrong))
        if wrong:
            is_kept = broken < MAX_KEPT_REJECTS
            text = json.dumps(shown, ensure_ascii=False) if is_kept else ""
            feed.broken.append(BrokenLine(record.line, text, wrong))
            broken += 1
        else:
            rows.append(record.cells)
            numbers.append(record.line)
        if len(rows) + len(feed.broken) >= CHUNK_ROWS or feed.size - size > CHUNK_BYTES:
            yield _chunk(header, rows, numbers, feed)
            rows, numbers, size = [], [], feed.size
    feed.broken += [feed.lost] if feed.lost else []
    yield _chunk(header, rows, numbers, feed)


def _chunk(header: list[str], rows: list[list[str]], numbers: list[int], feed: "_Feed") -> Chunk:
    broken, feed.broken = feed.broken, []
    cells = zip(*rows, strict=True) if rows else ((),) * len(header)
    columns: dict[str, Any] = {
        name: list(of_name) for name, of_name in zip(header, cells, strict=True)
    }
    return Chunk(
        columns,
        np.array(numbers, dtype=np.int64),
        lambda i: json.dumps(dict(zip(header, rows[i], strict=True)), ensure_ascii=False),
        textual=True,
        broken=broken,
        position=feed.position,
    )


class _Hiding:
    """The cells of a broken record that a reject may keep. Cells can be told apart only up to where the
    record broke, so all are hidden from the first column on that is free text or no field of the
    kind; and every cell of the record after it, which may be the rest of a text with a line feed."""

    def __init__(self, header: list[str], wanted: WantedColumns) -> None:
        kept = set(wanted.names) - wanted.free_text
        hidden = [index for index, name in enumerate(header) if name not in kept]
        self._first = min(hidden, default=None)
        self._open = False

    def shown(self, cells: list[str], broken: bool) -> list[str]:
        if not broken or self._first is None:
            self._open = False
            return cells
        kept = [] if self._open else cells[: self._first]
        self._open = self._open or len(cells) > self._first
        return kept + [HIDDEN] * (len(cells) - len(kept))


class _Feed:
    """Lines for the CSV reader. The lines of the current record can be taken back."""

    def __init__(self, blocks: Iterator[Lines]) -> None:
        self._lines = self._all(blocks)
        self._again: deque[str] = deque()
        # Bytes of the file, characters of it, number of the last line handed out.
        self.position = self.size = self.number = 0
        self.broken: list[BrokenLine] = []
        self.lost: BrokenLine | None = None
        self.handed_out: list[str] = []
        # Whether the file ends within the current record.
        self.ended = False
        # The characters of the current record.
        self.length = 0
        # A record broke on this line, which it reached within quotation marks, and so will every record
        # that reaches one of the lines before it in this way: they need not be read again for that.
        self.breaks_on, self.breaks_because = 0, ""
        # The characters of the current record.
        self.length = 0
        # A record broke on this line, which it reached within quotation marks, and so will every record
        # that reaches one of the lines before it in this way: they need not be read again for that.
        self.breaks_on, self.breaks_because = 0, ""
        # The characters of the current record.
        self.length = 0
        # A record broke on this line, which it reached within quotation marks, and so will every record
        # that reaches one of the lines before it in this way: they need not be read again for that.
        self.breaks_on, self.breaks_because = 0, ""

    def _all(self, blocks: Iterator[Lines]) -> Iterator[str]:
        for block in blocks:
            self.position = block.position
            # A part of a record does not show which cells it has.
            self.broken += [line._replace(text="") for line in block.broken]
            self.lost = block.lost and block.lost._replace(text="")
            for line in block.lines:
                self.size += len(line) + 1
                yield line.decode("utf-8", "surrogateescape") + "\n"

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


def _records(feed: _Feed) -> Iterator[CsvRecord]:
    """All records that are not blank."""
    reader = csv.reader(feed, strict=True)
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
            reader = csv.reader(feed, strict=True)
            cells, wrong = (
                feed.keep_first(str(error)).rstrip("\r\n").split(","),
                f"not CSV: {error}",
            )
        if len(cells) < 2 and not "".join(cells).strip():
            continue
        if not "".join(cells).isascii():
            cells, wrong = _decoded(cells, wrong)
        yield CsvRecord(line, cells, wrong)


def _decoded(cells: list[str], wrong: str) -> tuple[list[str], str]:
    try:
        "".join(cells).encode()
    except UnicodeEncodeError:
        whole = [cell.encode("utf-8", "surrogateescape") for cell in cells]
        return [cell.decode("utf-8", "backslashreplace") for cell in whole], "not UTF-8"
    return cells, wrong
