"""JSON files of any size as records: a list of them, objects that hold lists of them, or one a line.

A list is read element by element, so that what is in memory follows the size of a record and not that
of the file.
"""

import codecs
import json
import re
from collections.abc import Callable, Iterator, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any, Final, NamedTuple

import msgspec

from jobs.importing.formats.records import Records
from jobs.importing.portion import BYTES, HIDDEN, LONGEST_LINE, ROWS, Broken
from jobs.importing.reading import BOM, Damaged, blocks_of, lines_of

_BLANK: Final = re.compile(r"[ \t\r\n]*")
# Half of a surrogate pair may follow, which is no character.
_SURROGATE: Final = re.compile(r"\\u[dD][89a-fA-F]")
DECODE: Final = msgspec.json.Decoder(float_hook=Decimal).decode
# Characters that are always in sight.
_AHEAD: Final = 1_000
_NO_OBJECT: Final = "not a JSON object"

Decode = Callable[[bytes], Any]


class Found(NamedTuple):
    """A value or, where `wrong` says why, none; the line on which it starts; the bytes read so far."""

    line: int
    value: Any
    position: int
    wrong: str = ""


def json_records(path: Path, within: Sequence[str], decode: Decode = DECODE) -> Iterator[Records]:
    """The objects of a file in portions. `within`: the members in which an object that is no record
    itself holds records: `{"orders": [...]}`. `decode`: what reads a line, where there is an object on
    each. Raises OSError."""
    some, start = Records([]), 0
    for found in json_values(path, within, decode):
        if found.wrong:
            some.broken.append(Broken(found.line, HIDDEN, found.wrong))
        else:
            some.found.append((found.line, found.value))
        some.position = found.position
        if len(some.found) >= ROWS or found.position - start > BYTES:
            yield some
            some, start = Records([]), found.position
    yield some


def json_values(path: Path, within: Sequence[str], decode: Decode = DECODE) -> Iterator[Found]:
    """The objects of a file, and what is none, one by one."""
    is_lines, names = _is_lines(path, within), frozenset(within)
    for found in _of_lines(path, decode) if is_lines else _of_text(path, within):
        if found.wrong or (found.value.__class__ is dict and names.isdisjoint(found.value)):
            yield found
            continue
        for value in _unfolded(found.value, within):
            if isinstance(value, dict):
                yield found._replace(value=value)
            else:
                yield found._replace(value=None, wrong=_NO_OBJECT)


def _unfolded(value: Any, within: Sequence[str]) -> Iterator[Any]:
    if isinstance(value, list):
        for one in value:
            yield from _unfolded(one, within)
        return
    # The contract's own rows hold no others, whatever else they have.
    holds = isinstance(value, dict) and "shop_id" not in value
    inner = [value[name] for name in within if name in value] if holds else []
    inner = [one for one in inner if isinstance(one, (list, dict))]
    if not inner:
        yield value
    for one in inner:
        yield from _unfolded(one, within)


def _is_lines(path: Path, within: Sequence[str]) -> bool:
    """Whether each line is an object: then one that is broken does not hide those after it."""
    try:
        head = next(blocks_of(path), (b"", 0))[0]
    except Damaged:
        return True
    line, _, rest = head.removeprefix(BOM).lstrip().partition(b"\n")
    if not line.startswith(b"{") or _opening(within).match(line.decode("utf-8", "replace")):
        return False
    try:
        return isinstance(DECODE(line), dict)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return rest.lstrip().startswith(b"{")


def _opening(within: Sequence[str]) -> re.Pattern[str]:
    """The beginning of an object whose first member is one of these, and a list."""
    names = "|".join(map(re.escape, within)) or "(?!)"
    return re.compile(rf'\{{\s*"({names})"\s*:\s*\[')


def _of_lines(path: Path, decode: Decode) -> Iterator[Found]:
    for lines in lines_of(path):
        for number, line in enumerate(lines.lines, lines.first):
            if not line or line.isspace():
                continue
            try:
                yield Found(number, decode(line), lines.position)
            except (msgspec.DecodeError, UnicodeError, RecursionError):
                yield Found(number, None, lines.position, "not JSON")
        for lost in [*lines.broken, *([lines.lost] if lines.lost else [])]:
            yield Found(lost.line, None, lines.position, lost.reason)


def _of_text(path: Path, within: Sequence[str]) -> Iterator[Found]:
    text, opening = _Text(path), _opening(within)
    try:
        while text.next():
            if text.next() == "[":
                yield from _elements(text)
            elif opening.match(text.buffer, text.place):
                yield from _members(text)
            else:
                yield text.value()
    except (ValueError, RecursionError, Damaged) as error:
        why = error.msg if isinstance(error, json.JSONDecodeError) else str(error)
        yield Found(text.line(), None, text.position, f"not JSON: {why}: the rest is unreadable")


def _elements(text: "_Text") -> Iterator[Found]:
    """The elements of the list that begins here."""
    text.take("[")
    if text.next() == "]":
        text.take("]")
        return
    while True:
        yield text.value()
        if text.next() == "]":
            text.take("]")
            return
        text.take(",")


def _members(text: "_Text") -> Iterator[Found]:
    """The elements of the list that is the first member of the object that begins here."""
    text.take("{")
    text.value()
    text.take(":")
    yield from _elements(text)
    while text.next() == ",":
        text.take(",")
        text.value()
        text.take(":")
        text.value()
    text.take("}")


class _Text:
    """The text of a file, of which only what has not been taken yet is in memory."""

    def __init__(self, path: Path) -> None:
        self._blocks = blocks_of(path)
        self._decode = codecs.getincrementaldecoder("utf-8-sig")().decode
        self.buffer, self.place, self.position = "", 0, 0
        self._scan = json.JSONDecoder(parse_float=Decimal, parse_constant=_refuse).raw_decode
        self._line, self._counted, self._ended = 1, 0, False

    def line(self) -> int:
        """The number of the line that goes on here."""
        self._line += self.buffer.count("\n", self._counted, self.place)
        self._counted = self.place
        return self._line

    def next(self) -> str:
        """The next character that is not blank; "" at the end. What follows it is in `buffer`, too,
        far enough to tell how a value begins."""
        while True:
            blank = _BLANK.match(self.buffer, self.place)
            self.place = blank.end() if blank else self.place
            if len(self.buffer) - self.place > _AHEAD or not self._more():
                return self.buffer[self.place : self.place + 1]

    def take(self, sign: str) -> None:
        """Go over this character, which comes next."""
        if self.next() != sign:
            raise ValueError(f"{sign} expected" if self.next() else "it is cut short")
        self.place += 1

    def value(self) -> Found:
        """The value that comes next."""
        self.next()
        while True:
            try:
                value, end = self._scan(self.buffer, self.place)
            except json.JSONDecodeError as error:
                if len(self.buffer) - self.place > LONGEST_LINE:
                    raise
                if not self._more():
                    raise ValueError("it is cut short") from error
                continue
            if end < len(self.buffer) or not self._more():
                break
        found = Found(self.line(), value, self.position)
        if _SURROGATE.search(self.buffer, self.place, end):
            try:
                DECODE(self.buffer[self.place : end])
            except (msgspec.DecodeError, UnicodeError):
                found = found._replace(value=None, wrong="half of a surrogate pair")
        self.place = end
        return found

    def _more(self) -> bool:
        """Read on; False at the end of the file."""
        if self._ended:
            return False
        self.line()
        rest = self.buffer[self.place :]
        # As much again as there is, so that a long value is not tried too often.
        parts, size = [rest], 0
        while size <= len(rest):
            block, self.position = next(self._blocks, (None, self.position))
            self._ended = block is None
            parts.append(self._decode(block or b"", self._ended))
            size += len(block or b"")
            if self._ended:
                break
        self.buffer, self.place, self._counted = "".join(parts), 0, 0
        return not self._ended or len(self.buffer) > len(rest)


def _refuse(name: str) -> None:
    raise ValueError(f"{name} is no number")
