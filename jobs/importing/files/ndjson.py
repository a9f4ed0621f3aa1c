"""Newline-delimited JSON as chunks."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from jobs.importing.files.byte_blocks import lines_of
from jobs.importing.files.chunk import (
    CHUNK_ROWS,
    BrokenLine,
    Chunk,
    WantedColumns,
)
from jobs.importing.files.json import DECODE
from warehouse.domain.json_values import read_float


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
        try:
            rows = [self._decode(line) for line in lines]
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            rows, numbers, lines = self._line_by_line(numbers, lines, broken)
        columns = zip(*map(msgspec.structs.astuple, rows), strict=True)
        return Chunk(
            dict(zip(self._fields, map(list, columns), strict=False)),
            numbers.astype(np.int64),
            # Fields that nobody reads may hold bytes that are not UTF-8.
            lambda i: lines[i].strip().decode("utf-8", "replace"),
            broken=broken,
            unread=lambda i: self._unread(lines[i]),
        )

    def _unread(self, line: bytes) -> dict[str, Any]:
        try:
            row = DECODE(line)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            return {}
        return {name: value for name, value in row.items() if name not in self._fields}

    def _line_by_line(
        self, numbers: np.ndarray, lines: list[bytes], broken: list[BrokenLine]
    ) -> tuple[list[Any], np.ndarray, list[bytes]]:
        rows, indices = [], []
        for index, line in enumerate(lines):
            if not line or line.isspace():
                continue
            try:
                rows.append(self._decode(line))
                indices.append(index)
            except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
                broken.append(BrokenLine(int(numbers[index]), _reason(error)))
        return rows, numbers[indices], [lines[index] for index in indices]


def _reason(error: Exception) -> str:
    if isinstance(error, msgspec.ValidationError):
        if "out of range" in str(error):
            return "a number is out of range"
        return "not a JSON object"
    if isinstance(error, UnicodeDecodeError):
        return "not UTF-8"
    return "not JSON"
