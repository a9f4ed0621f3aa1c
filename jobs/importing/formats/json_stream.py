"""JSON files of any size as records: one a line, a list of them, or objects that hold lists of them.

A file with an object on each line is decoded line by line, so a broken line costs no other. Any other
file is streamed: memory holds one record, of a limited size, and what comes before a fault is read.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

import ijson
import msgspec

from jobs.importing.files.byte_blocks import BOM, DamagedArchive, blocks_of, lines_of
from jobs.importing.files.chunk import (
    CHUNK_BYTES,
    CHUNK_ROWS,
    HIDDEN,
    MAX_LINE_BYTES,
    BrokenLine,
)
from jobs.importing.formats.projection import Places, SourceFields, decoder, places_of
from warehouse.domain.json_values import read_float

Decode = Callable[[bytes], Any]
Numbered = list[tuple[int, dict[str, Any]]]
# An event of the parser: its name and its value.
JsonEvent = tuple[str, Any]

DECODE: Final = msgspec.json.Decoder(float_hook=read_float).decode
_NOT_AN_OBJECT: Final = "not a JSON object"
_CUT_SHORT: Final = "premature EOF"
# The first number of digits that Python does not convert, of a number: texts begin with a quotation mark.
_DIGITS: Final = 4_301
_LONG_NUMBER: Final = re.compile(rb"[\s,:\[-][0-9]{%d}" % _DIGITS)
_STARTS: Final = frozenset(("start_map", "start_array"))
_ENDS: Final = frozenset(("end_map", "end_array"))


class JsonValue(NamedTuple):
    """A record, or None and what is `wrong`. `number`: of its line, or of the record in the file;
    `position`: bytes of the file read so far; `size`: what they are unpacked."""

    number: int
    record: dict[str, Any] | None
    position: int
    size: int
    wrong: str = ""


def json_records(
    path: Path, list_members: Sequence[str], source_fields: SourceFields = ()
) -> Iterator[tuple[Numbered, list[BrokenLine], int]]:
    """The records of a file in parts: (number, record) pairs, broken lines, bytes read so far.

    `list_members`: the members in which an object that is no record holds records
    (`{"orders": [...]}`). If `source_fields` are given, only these are decoded from a record: the rest
    would take most of the time. Raises OSError.
    """
    records: Numbered = []
    broken: list[BrokenLine] = []
    start = position = 0
    for value in json_values(path, list_members, source_fields):
        position = value.position
        if value.record is None:
            broken.append(BrokenLine(value.number, HIDDEN, value.wrong))
        else:
            records.append((value.number, value.record))
        if len(records) + len(broken) >= CHUNK_ROWS or value.size - start > CHUNK_BYTES:
            yield records, broken, position
            records, broken, start = [], [], value.size
    yield records, broken, position


def json_values(
    path: Path, list_members: Sequence[str], source_fields: SourceFields = ()
) -> Iterator[JsonValue]:
    """The records of a file, and its faults, one by one. Raises OSError."""
    names = frozenset(list_members)
    if _is_lines(path, names):
        decode = decoder(source_fields, list_members) if source_fields else DECODE
        return _of_lines(path, names, decode)
    return _of_stream(path, names, places_of(source_fields))


def _is_lines(path: Path, list_members: frozenset[str]) -> bool:
    """Whether there is an object on each line."""
    try:
        head = next(blocks_of(path), (b"", 0))[0]
    except DamagedArchive:
        return True
    line, _, rest = head.removeprefix(BOM).lstrip().partition(b"\n")
    if not line.startswith(b"{"):
        return False
    try:
        # An envelope alone in the file is streamed: its list may be larger than the memory.
        return list_members.isdisjoint(DECODE(line)) or bool(rest.strip())
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return rest.lstrip().startswith(b"{")


def _of_lines(path: Path, list_members: frozenset[str], decode: Decode) -> Iterator[JsonValue]:
    size = 0
    for lines in lines_of(path):
        for number, line in enumerate(lines.lines, lines.first):
            size += len(line) + 1
            if not line or line.isspace():
                continue
            try:
                value = decode(line)
            except (msgspec.DecodeError, UnicodeError, RecursionError):
                yield JsonValue(number, None, lines.position, size, "not JSON")
                continue
            for record in _unfolded(value, list_members):
                yield _of_record(number, record, lines.position, size)
        for lost in [*lines.broken, *([lines.lost] if lines.lost else [])]:
            yield JsonValue(lost.line, None, lines.position, size, lost.reason)


def _of_record(number: int, value: Any, position: int, size: int) -> JsonValue:
    if isinstance(value, dict):
        return JsonValue(number, value, position, size)
    return JsonValue(number, None, position, size, _NOT_AN_OBJECT)


def _unfolded(value: Any, list_members: frozenset[str]) -> Iterator[Any]:
    """The records in a value: itself, or those in its list members."""
    if isinstance(value, list):
        for item in value:
            yield from _unfolded(item, list_members)
        return
    # Rows of this program hold no others, whatever other members they have.
    is_envelope = isinstance(value, dict) and "shop_id" not in value
    inner = [value[name] for name in list_members if name in value] if is_envelope else []
    inner = [item for item in inner if isinstance(item, (list, dict))]
    if not inner:
        yield value
    for item in inner:
        yield from _unfolded(item, list_members)


class _TooLong(ValueError):
    """A record is longer than a line may be: in memory it would be many times as large. Or a number is."""


def _has_long_number(text: bytes) -> bool:
    """Whether a number has more digits than Python converts: ijson's parser in C then ends the process."""
    half = _DIGITS // 2  # of so many digits in a row, one half at least is one of these parts
    parts = (text[start : start + half] for start in range(0, len(text), half))
    return any(map(bytes.isdigit, parts)) and _LONG_NUMBER.search(text) is not None


class _Bytes:
    """The unpacked bytes of a file, as a parser reads them. Raises _TooLong for a long record."""

    def __init__(self, path: Path) -> None:
        self._blocks = blocks_of(path)
        self.position = self.size = self._record_from = 0
        self._end = b" "
        first = self._next().removeprefix(BOM)
        while not first.strip() and (block := self._next()):
            first = block
        self._first = first.lstrip()

    def _next(self) -> bytes:
        for block, position in self._blocks:
            self.position = position
            self.size += len(block)
            if self.size - self._record_from > MAX_LINE_BYTES + CHUNK_BYTES:
                raise _TooLong(f"a record is longer than {MAX_LINE_BYTES >> 20} MiB")
            self._end += block
            if _has_long_number(self._end):
                raise _TooLong("a number has thousands of digits")
            self._end = self._end[-_DIGITS - 1 :]
            if block:
                return block
        return b""

    def next_record(self) -> None:
        """The bytes that are read from now on belong to another record."""
        self._record_from = self.size

    def is_empty(self) -> bool:
        return not self._first

    def read(self, size: int) -> bytes:
        if size == 0:  # ijson asks whether it gets bytes or text
            return b""
        block, self._first = self._first, b""
        return block or self._next()


def _of_stream(path: Path, list_members: frozenset[str], places: Places) -> Iterator[JsonValue]:
    number = position = size = 0
    try:
        source = _Bytes(path)
        if source.is_empty():
            return
        events = ijson.basic_parse(source, multiple_values=True)
        for event in events:
            for value in _records(events, event, list_members, places):
                number, position, size = number + 1, source.position, source.size
                source.next_record()
                yield _of_record(number, value, position, size)
    except (ijson.JSONError, ValueError, ArithmeticError, RecursionError, DamagedArchive) as error:
        why = "it is cut short" if _CUT_SHORT in str(error) else "it is malformed"
        why = str(error) if isinstance(error, DamagedArchive | _TooLong) else why
        yield JsonValue(
            number + 1, None, position, size, f"not JSON: {why}: the rest is unreadable"
        )


def _records(
    events: Iterator[JsonEvent], event: JsonEvent, list_members: frozenset[str], places: Places
) -> Iterator[Any]:
    """The records of the value that begins with an event, as `_unfolded`, each as soon as it is read."""
    name, value = event
    if name == "start_array":
        while (event := next(events))[0] != "end_array":
            yield from _records(events, event, list_members, places)
    elif name == "start_map":
        members: dict[str, Any] = {}
        is_envelope = False
        while (event := next(events))[0] != "end_map":
            key, event = event[1], next(events)
            if key in list_members and event[0] in _STARTS and "shop_id" not in members:
                is_envelope = True
                yield from _records(events, event, list_members, places)
            elif not places or key in places:
                members[key] = _whole(events, *event, places.get(key, {}))
            elif event[0] in _STARTS:
                _skip(events)
        if not is_envelope:
            yield members
    else:
        yield value


def _whole(events: Iterator[JsonEvent], name: str, value: Any, places: Places) -> Any:
    """The value that begins with an event; of objects only these places, if there are any."""
    if name == "start_map":
        members: dict[str, Any] = {}
        key = ""
        for name, value in events:
            if name == "map_key":
                key = value
            elif name == "end_map":
                break
            elif not places or key in places:
                inner = name in _STARTS
                members[key] = _whole(events, name, value, places.get(key, {})) if inner else value
            elif name in _STARTS:
                _skip(events)
        return members
    if name == "start_array":
        items: list[Any] = []
        for name, value in events:
            if name == "end_array":
                break
            items.append(_whole(events, name, value, places) if name in _STARTS else value)
        return items
    return value


def _skip(events: Iterator[JsonEvent]) -> None:
    """Read to the end of the object or list that has just begun."""
    depth = 1
    for name, _ in events:
        if name in _STARTS:
            depth += 1
        elif name in _ENDS:
            depth -= 1
            if not depth:
                return
