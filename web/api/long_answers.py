"""Answers of thousands of rows: sorted, written and read a chunk at a time.

A call of C code keeps all other threads of the process waiting until it returns: 10 ms to sort ten thousand
texts or to write their rows as JSON, 65 ms to read them again. Requests of other shops run between chunks.
"""

from collections.abc import Iterator, Sequence
from heapq import merge
from typing import Any, Final, NamedTuple, TypeVar

import orjson

# Rows of a chunk: 0.5 ms to write, 3 ms to read.
_ROWS: Final = 500
# A byte that JSON never has.
_PLACE: Final = b"\0"

Item = TypeVar("Item", bound=Any)


class Encoded(NamedTuple):
    """`data` of an answer as JSON: the text before its rows, the rows in chunks, and the text after them.
    `data` that is no list and has no `rows` is all in `before`."""

    before: bytes
    chunks: list[bytes]
    after: bytes

    @property
    def size(self) -> int:
        return len(self.before) + sum(map(len, self.chunks)) + len(self.after)

    def data(self) -> Any:
        data = orjson.loads(self.before + self.after)
        rows = data["rows"] if self.chunks and isinstance(data, dict) else data
        for chunk in self.chunks:
            rows += orjson.loads(b"[%b]" % chunk)
        return data

    def pieces(self) -> Iterator[bytes]:
        """The text, for `join`: a long one is not copied more than once."""
        yield self.before
        for place, chunk in enumerate(self.chunks):
            yield b"," if place else b""
            yield chunk
        yield self.after


def encode(data: Any) -> Encoded:
    rows = data.get("rows") if isinstance(data, dict) else data
    if not isinstance(rows, list):
        return Encoded(orjson.dumps(data), [], b"")
    place = orjson.Fragment(b"[%b]" % _PLACE)
    around = orjson.dumps(place if rows is data else {**data, "rows": place})
    before, _, after = around.partition(_PLACE)
    return Encoded(before, [orjson.dumps(chunk)[1:-1] for chunk in _chunks(rows)], after)


def let_go(data: Any) -> None:
    """Empty an answer that is done with, a chunk at a time: to free all rows at once can take 20 ms."""
    rows = data.get("rows") if isinstance(data, dict) else data
    while isinstance(rows, list) and rows:
        del rows[-_ROWS:]


def in_order(items: Sequence[Item]) -> list[Item]:
    """The items, sorted."""
    return list(merge(*map(sorted, _chunks(items))))


def _chunks(items: Sequence[Item]) -> Iterator[Sequence[Item]]:
    return (items[start : start + _ROWS] for start in range(0, len(items), _ROWS))
