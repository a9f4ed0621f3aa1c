"""What need not be looked up: facts that cannot be stored.

All that an edition has, if it was empty when this process took it up, this process has written. Of every
key it leaves a mark, at the bit of a map that the key's hash gives, so a key without a mark is not
stored. One that has a mark may be another's; it is looked up like any other. Of a first rollup most keys
are new, and to look them up in vain is a tenth of its time.

A mark may be one too many (of what was undone, or deleted); never one too few.
"""

from collections.abc import Iterable, Mapping
from typing import Final

import numpy as np
import numpy.typing as npt

from warehouse.columns import Table

_Column = npt.NDArray[np.int64]
_Keys = Mapping[str, _Column]
_Mask = npt.NDArray[np.bool_]

# What new facts are looked up by, beside their edition. All of it is hashes, unique over all shops;
# sessions have numbers, and those that are asked for are mostly there.
_WAYS: Final[dict[str, tuple[tuple[str, ...], ...]]] = {
    "fact_form_session": (
        ("natural",),
        ("visitor", "form"),
        ("visitor",),
        ("customer",),
        ("email",),
    ),
    "fact_order": (("order",), ("visitor",), ("customer",), ("email",)),
    "fact_order_code": (("order",),),
    "fact_email": (("email",),),
}
# Bits of a map, 8 MB: among the marks of 3 million keys 5 % of the others would be taken for stored.
_BITS: Final = 26
# An odd number without a pattern, so that keys of several columns spread over all bits.
_SPREAD: Final = np.uint64(0x9E3779B97F4A7C15)


class Absent:
    """What is known of the editions between their `begin` and `end`."""

    def __init__(self) -> None:
        self._editions = np.empty(0, dtype=np.int64)
        self._marks: dict[tuple[str, tuple[str, ...]], npt.NDArray[np.uint8]] = {}

    def begin(self, editions: Iterable[int]) -> None:
        """These editions have no facts, and from here on no others than what is noted."""
        self._editions = np.union1d(self._editions, np.array([*editions], dtype=np.int64))

    def end(self, editions: Iterable[int]) -> None:
        """Others may write to these again."""
        self._editions = np.setdiff1d(self._editions, np.array([*editions], dtype=np.int64))
        if not len(self._editions):
            self._marks.clear()

    def note(self, table: Table, rows: _Keys) -> None:
        """These columns of these rows of the table are about to be written."""
        if not len(self._editions):
            return
        for way in _WAYS.get(table.name, ()):
            if all(name in rows for name in way):
                if (table.name, way) not in self._marks:
                    self._marks[table.name, way] = np.zeros(1 << _BITS - 3, dtype=np.uint8)
                byte, bit = _place(rows, way)
                np.bitwise_or.at(self._marks[table.name, way], byte, bit)

    def possible(self, table: Table, keys: _Keys) -> _Mask | None:
        """Which of these keys (their columns: edition, and the table's) the table may have; None where
        nothing can be said of them."""
        ways = [way for way in _WAYS.get(table.name, ()) if all(name in keys for name in way)]
        if not (len(self._editions) and ways):
            return None
        others = ~np.isin(keys["edition"], self._editions)
        marks = self._marks.get((table.name, ways[0]))
        if marks is None:
            return others
        byte, bit = _place(keys, ways[0])
        return others | (marks[byte] & bit != 0)


def _place(
    keys: _Keys, way: tuple[str, ...]
) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.uint8]]:
    """For each key the byte and the bit in it that its hash gives."""
    place = np.zeros(len(keys[way[0]]), dtype=np.uint64)
    for name in way:
        place = (place + np.asarray(keys[name]).astype(np.uint64)) * _SPREAD
    place >>= np.uint64(64 - _BITS)
    return place >> np.uint64(3), np.uint8(1) << (place & np.uint64(7)).astype(np.uint8)
