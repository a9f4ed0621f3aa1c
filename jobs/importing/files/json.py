"""JSON files of any size as records: one a line, a list of them, or objects that hold lists of them.

A file with an object on each line is decoded line by line, so a broken line costs no other. Any other
file is streamed: memory holds one record, of a limited size, and what comes before a fault is read.
"""

import re
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path
from string import digits
from typing import Any, Final, NamedTuple, TypeAlias, TypedDict

import ijson
import msgspec

from jobs.importing.files.byte_blocks import DamagedArchive, head_of, lines_of, parts_of
from jobs.importing.files.chunk import (
    CHUNK_BYTES,
    CHUNK_ROWS,
    MAX_LINE_BYTES,
    BrokenLine,
)
from warehouse.domain.text_rules import read_float

# A place by its first name, with the places below it; without any, all that lies there is taken.
Places: TypeAlias = dict[str, "Places"]
Numbered = list[tuple[int, dict[str, Any]]]

DECODE: Final = msgspec.json.Decoder(float_hook=read_float).decode
ENCODE: Final = msgspec.json.Encoder(decimal_format="number").encode
"""Numbers keep their digits. Half of a surrogate pair, which no database stores, is an error."""
UNDECODABLE: Final = (msgspec.DecodeError, UnicodeError, RecursionError)
"""The errors of DECODE."""
_NOT_AN_OBJECT: Final = "not a JSON object"
_TOO_DEEP: Final = "not JSON: its lists and objects lie too deep in each other"
# Bytes by which the place of the records is told, and that the parser gets at once: it is slower with more.
_HEAD_BYTES: Final = 64 << 10
# No field takes a number of so many digits. Python converts none of 4,300, which ijson's parser in C answers
# with the end of the process.
_MAX_DIGITS: Final = 4_000
_DIGITS: Final = digits.encode()
_AS_ZEROS: Final = bytes.maketrans(_DIGITS, b"0" * len(_DIGITS))
_TOO_MANY_DIGITS: Final = b"0" * (_MAX_DIGITS + 1)
_LONG_NUMBER: Final = re.compile(rb"(\d{%d})\d+" % _MAX_DIGITS)
_UNREADABLE: Final = (
    *(ijson.JSONError, ValueError, ArithmeticError, RecursionError, DamagedArchive),
)
# The words of ijson's parser for what is broken, with ours.
_SECOND_DOCUMENT: Final = "trailing garbage"
_FAULTS: Final = {
    "premature EOF": "it is cut short",
    _SECOND_DOCUMENT: "more follows the first list: write each document on a line of its own",
}


class JsonValue(NamedTuple):
    """A record, or what could not be read in its place."""

    # The number of its line, or of the record in the file.
    number: int
    record: dict[str, Any] | BrokenLine
    # Bytes of the file read so far.
    position: int
    # The size of these bytes, unpacked.
    size: int


def places_of(sources: Iterable[str]) -> Places:
    """The tree of some places (`refunds[].created_at`); if one lies within another, the outer stands."""
    tree: Places = {}
    paths = [source.replace("[]", "").split(".") for source in sources]
    for path in sorted(paths, key=len, reverse=True):
        *above, last = path
        below = tree
        for name in above:
            below = below.setdefault(name, {})
        below[last] = {}
    return tree


def cut(value: Any, places: Places) -> Any:
    """The parts of a record at these places; the whole record if there are none."""
    if not places:
        return value
    if isinstance(value, list):
        return [cut(item, places) for item in value]
    if not isinstance(value, dict):
        return value
    return {name: cut(value[name], below) for name, below in places.items() if name in value}


def json_records(
    path: Path, list_members: Collection[str], places: Places
) -> Iterator[tuple[Numbered, list[BrokenLine], int]]:
    """The records of a file in parts: (number, record) pairs, broken lines, bytes read so far; the parameters
    as of `json_values`. Raises OSError."""
    records: Numbered = []
    broken: list[BrokenLine] = []
    start = position = 0
    for value in json_values(path, list_members, places):
        position = value.position
        if isinstance(value.record, BrokenLine):
            broken.append(value.record)
        else:
            records.append((value.number, value.record))
        if len(records) + len(broken) >= CHUNK_ROWS or value.size - start > CHUNK_BYTES:
            yield records, broken, position
            records, broken, start = [], [], value.size
    yield records, broken, position


def json_values(
    path: Path, list_members: Collection[str], places: Places | None = None
) -> Iterator[JsonValue]:
    """The records of a file, and its faults, one by one.

    `list_members`: the members in which an object that is no record holds records (`{"orders": [...]}`).
    `places`: all that is taken of a record; the rest would take most of the memory. Raises OSError.
    """
    names = frozenset(list_members)
    if _is_lines(path, names):
        return _of_lines(path, names, places or {})
    return _of_stream(path, names, places or {})


def _is_lines(path: Path, list_members: frozenset[str]) -> bool:
    """Whether there is an object on each line."""
    head = head_of(path)
    line, _, rest = head.lstrip().partition(b"\n")
    if not line.startswith(b"{"):
        return not head  # empty, or an archive that is damaged from its beginning on
    try:
        # An envelope alone in the file is streamed: its list may be larger than the memory.
        return list_members.isdisjoint(DECODE(line)) or bool(rest.strip())
    except UNDECODABLE:
        return rest.lstrip().startswith(b"{")


def _of_lines(path: Path, list_members: frozenset[str], places: Places) -> Iterator[JsonValue]:
    wanted = places and places | {name: {} for name in list_members}
    decode = msgspec.json.Decoder(_type_of(wanted), float_hook=read_float).decode
    size = 0
    for lines in lines_of(path):
        for number, line in enumerate(lines.lines, lines.first):
            size += len(line) + 1
            if not line or line.isspace():
                continue
            try:
                value = decode(line)
            except UNDECODABLE:
                broken = BrokenLine(number, "not JSON")
                yield JsonValue(number, broken, lines.position, size)
                continue
            for record in _unfolded(value, list_members):
                yield _of_record(number, record, lines.position, size)
        for lost in [*lines.broken, *([lines.lost] if lines.lost else [])]:
            yield JsonValue(lost.line, lost, lines.position, size)


def _type_of(places: Places) -> Any:
    """The type as which JSON is decoded as a dict of these places alone, or whole without any."""
    if not places:
        return Any
    types = {name: _type_of(below) for name, below in places.items()}
    record = TypedDict("record", types, total=False)  # type: ignore[misc]
    # All that JSON has, so that a value of an unexpected type is decoded as it is.
    other = str | int | float | bool | None
    return record | list[record | list | other] | other


def _of_record(number: int, value: Any, position: int, size: int) -> JsonValue:
    is_record = isinstance(value, dict | BrokenLine)
    record = value if is_record else BrokenLine(number, _NOT_AN_OBJECT)
    return JsonValue(number, record, position, size)


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
    """A record is longer than a line may be: in memory it would be many times as large."""


class _Bytes:
    """The unpacked bytes of a file, as a parser reads them. Raises _TooLong for a long record."""

    def __init__(self, blocks: Iterator[tuple[bytes, int]]) -> None:
        self._blocks = blocks
        self.position = self.size = self._record_from = 0
        self._digits = self._ready = b""
        while not self._ready and self._next():
            self._ready = self._ready.lstrip()
        self.head = self._ready[:_HEAD_BYTES]

    def _next(self) -> bool:
        """Read the next block. Returns whether there was one."""
        block, position = next(self._blocks, (b"", self.position))
        self.position = position
        self.size += len(block)
        if self.size - self._record_from > MAX_LINE_BYTES + CHUNK_BYTES:
            raise _TooLong(f"a record is longer than {MAX_LINE_BYTES >> 20} MiB")
        data = self._digits + block
        if _TOO_MANY_DIGITS in data.translate(_AS_ZEROS):
            data = _LONG_NUMBER.sub(rb"\1", data)
        # A number may go on in the next block.
        self._ready = data.rstrip(_DIGITS) if block else data
        self._digits = data[len(self._ready) :]
        return bool(data)

    def next_record(self) -> None:
        """The bytes that are read from now on belong to another record."""
        self._record_from = self.size

    def read(self, size: int) -> bytes:
        while (
            size and not self._ready and self._next()
        ):  # 0: ijson asks whether it gets bytes or text
            pass
        part, self._ready = self._ready[:size], self._ready[size:]
        return part


def _of_stream(path: Path, list_members: frozenset[str], places: Places) -> Iterator[JsonValue]:
    """The records of each file of an archive, or of the one file."""
    number = size = 0
    for blocks in parts_of(path):
        position, before = 0, size
        try:
            source = _Bytes(blocks)
            if not source.head:
                continue
            place = _place(source.head, list_members)
            values = ijson.items(source, place, buf_size=_HEAD_BYTES, multiple_values=not place)
            for value in values:
                for record in _unfolded(value, list_members):
                    number, position, size = number + 1, source.position, before + source.size
                    source.next_record()
                    taken = cut(record, places)
                    try:
                        # It has no more levels than functions may call each other; ijson has no bound.
                        ENCODE(taken)
                    except RecursionError:
                        taken = BrokenLine(number, _TOO_DEEP)
                    yield _of_record(number, taken, position, size)
        except _UNREADABLE as error:
            ours = (ours for words, ours in _FAULTS.items() if words in str(error))
            why = next(ours, "it is malformed")
            why = str(error) if isinstance(error, DamagedArchive | _TooLong) else why
            number += 1
            wrong = f"not JSON: {why}: the rest is unreadable"
            rest = BrokenLine(number, wrong, is_rest=True)
            yield JsonValue(number, rest, position, size)


def _place(head: bytes, list_members: frozenset[str]) -> str:
    """The place of the records, as ijson writes it: that of the elements of the innermost list of records
    that does not end within the head (`item`, `data.list.item`), or at which a file breaks off; else ""."""
    names = list_members.union(("item", ""))
    open_lists = [""]
    innermost = ""
    try:
        for place, event, value in ijson.parse(head):
            elements = f"{place}.item".lstrip(".")
            if event == "start_array" and names.issuperset(place.split(".")):
                open_lists.append(elements)
                innermost = max(innermost, elements, key=len)
            elif event == "end_array" and open_lists[-1] == elements:
                open_lists.pop()
            elif event == "map_key" and value == "shop_id":
                break
    except (ijson.JSONError, ValueError, ArithmeticError) as error:
        if len(head) < _HEAD_BYTES and _SECOND_DOCUMENT not in str(error):
            return innermost
    return open_lists[-1]
