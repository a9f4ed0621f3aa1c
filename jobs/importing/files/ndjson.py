"""Newline-delimited JSON as chunks."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, Final

import msgspec
import numpy as np

from jobs.importing.files.byte_blocks import lines_of
from jobs.importing.files.chunk import (
    CHUNK_ROWS,
    BrokenLine,
    Chunk,
    WantedColumns,
)
from jobs.importing.files.json import DECODE, UNDECODABLE
from warehouse.domain.text_rules import read_float

# Rows of which the cells are in the processor's cache together.
_ROWS_AT_ONCE: Final = 100


def chunks(path: Path, wanted: WantedColumns) -> Iterator[Chunk]:
    """The file's rows with the wanted fields; others are not even decoded. Raises OSError."""
    reader = _Reader(wanted.names)
    for lines in lines_of(path):
        for start in range(0, len(lines.lines) or 1, CHUNK_ROWS):
            some = lines.lines[start : start + CHUNK_ROWS]
            chunk = reader.chunk(np.arange(len(some)) + lines.first + start, some)
            if start == 0:
                chunk.broken += lines.broken
                chunk.broken += [lines.lost] if lines.lost else []
            chunk.position = lines.position
            yield chunk


def chunk_of_texts(
    fields: Sequence[str], numbered: Sequence[tuple[int, str]], *, textual: bool
) -> Chunk:
    """(number, text) of kept rows as one chunk; the numbers are its lines."""
    lines = [text.encode("utf-8", "surrogatepass") for _, text in numbered]
    numbers = np.array([number for number, _ in numbered], dtype=np.int64)
    chunk = _Reader(fields).chunk(numbers, lines)
    chunk.textual = textual
    return chunk


class _Reader:
    def __init__(self, fields: Sequence[str]) -> None:
        self._fields = tuple(fields)
        # A struct with the kind's fields is filled faster than a dict, and skips all others.
        row = msgspec.defstruct("Row", [(name, Any, None) for name in fields], gc=False)
        # Numbers keep every digit: binary floats would not.
        self._decode = msgspec.json.Decoder(row, float_hook=read_float).decode

    def chunk(self, numbers: np.ndarray, lines: list[bytes]) -> Chunk:
        broken: list[BrokenLine] = []

        def unread(index: int) -> dict[str, Any]:
            try:
                row = DECODE(lines[index])
            except UNDECODABLE:
                return {}
            return {name: value for name, value in row.items() if name not in self._fields}

        try:
            columns = self._columns(map(self._decode, lines))
        except UNDECODABLE:
            rows, indices = [], []
            for index, line in enumerate(lines):
                if not line or line.isspace():
                    continue
                try:
                    rows.append(self._decode(line))
                    indices.append(index)
                except UNDECODABLE as error:
                    why = "not UTF-8" if isinstance(error, UnicodeDecodeError) else "not JSON"
                    if isinstance(error, msgspec.ValidationError):
                        is_number = "out of range" in str(error)
                        why = "a number is out of range" if is_number else "not a JSON object"
                    broken.append(BrokenLine(int(numbers[index]), why))
            columns = self._columns(rows)
            numbers, lines = numbers[indices], [lines[index] for index in indices]
        return Chunk(
            dict(columns),
            numbers.astype(np.int64),
            # Fields that nobody reads may hold bytes that are not UTF-8.
            lambda i: lines[i].strip().decode("utf-8", "replace"),
            broken=broken,
            unread=unread,
        )

    def _columns(self, rows: Iterable[Any]) -> dict[str, list[Any]]:
        columns: dict[str, list[Any]] = {name: [] for name in self._fields}
        rows = map(msgspec.structs.astuple, rows)
        # Few at once: they are gone before Python looks for cycles among them.
        while some := list(islice(rows, _ROWS_AT_ONCE)):
            for column, cells in zip(columns.values(), zip(*some, strict=True), strict=True):
                column += cells
        return columns
