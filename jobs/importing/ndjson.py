"""Newline-delimited JSON as portions."""

from collections.abc import Iterator, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from jobs.importing.portion import HIDDEN, ROWS, Broken, Portion
from jobs.importing.reading import lines_of, readable


def portions(path: Path, fields: Sequence[str], private: frozenset[str]) -> Iterator[Portion]:
    """The file's rows with these fields; others are not even decoded. Raises OSError."""
    read = _Reader(fields, private)
    for lines in lines_of(path):
        for start in range(0, len(lines.lines) or 1, ROWS):
            some = lines.lines[start : start + ROWS]
            portion = read.portion(np.arange(len(some)) + lines.first + start, some)
            if start == 0:
                portion.broken += lines.broken
                portion.broken += [lines.lost] if lines.lost else []
            portion.position = lines.position
            yield portion


def portion_of(
    fields: Sequence[str], numbered: Sequence[tuple[int, str]], *, textual: bool
) -> Portion:
    """Kept texts of rows, with their numbers, as one portion."""
    lines = [text.encode("utf-8", "surrogatepass") for _, text in numbered]
    numbers = np.array([number for number, _ in numbered], dtype=np.int64)
    portion = _Reader(fields, frozenset()).portion(numbers, lines)
    portion.textual = textual
    return portion


class _Reader:
    def __init__(self, fields: Sequence[str], private: frozenset[str]) -> None:
        self._fields = tuple(fields)
        self._private = tuple(f'"{name}"'.encode() for name in private)
        # Whether the line before broke off in a private field, so that this one may go on with it.
        self._open = False
        # A struct with the kind's fields is filled faster than a dict, and skips all others.
        row = msgspec.defstruct("Row", [(name, Any, None) for name in fields], gc=False)
        # Numbers keep every digit: binary floats would not.
        self._decode = msgspec.json.Decoder(row, float_hook=Decimal).decode

    def portion(self, numbers: np.ndarray, lines: list[bytes]) -> Portion:
        broken: list[Broken] = []
        try:
            rows = [self._decode(line) for line in lines]
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            rows, numbers, lines = self._one_by_one(numbers, lines, broken)
        columns = zip(*map(msgspec.structs.astuple, rows), strict=True)
        return Portion(
            dict(zip(self._fields, map(list, columns), strict=False)),
            numbers.astype(np.int64),
            lambda i: lines[i].strip().decode(),
            broken=broken,
        )

    def _one_by_one(
        self, numbers: np.ndarray, lines: list[bytes], broken: list[Broken]
    ) -> tuple[list[Any], np.ndarray, list[bytes]]:
        rows, places = [], []
        for place, line in enumerate(lines):
            if not line or line.isspace():
                continue
            try:
                rows.append(self._decode(line))
                places.append(place)
                self._open = False
            except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
                starts = line.lstrip().startswith(b"{")
                text = HIDDEN if self._open and not starts else readable(line)
                broken.append(Broken(int(numbers[place]), text, _why(error)))
                self._open = any(name in line for name in self._private) or text == HIDDEN
        return rows, numbers[places], [lines[place] for place in places]


def _why(error: Exception) -> str:
    if isinstance(error, msgspec.ValidationError):
        if "out of range" in str(error):
            return "a number is out of range"
        return "not a JSON object"
    if isinstance(error, UnicodeDecodeError):
        return "not UTF-8"
    return "not JSON"
