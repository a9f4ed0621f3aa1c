"""Checks that need all rows of a file of ad spend: whether one would replace another, and which are lines of
totals."""

import re
from bisect import bisect_right
from decimal import Decimal
from itertools import product
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from jobs.importing.files.chunk import Chunk, listed
from jobs.importing.kinds.base import RowsOfFile
from jobs.importing.values.columns import ChunkColumns, Flags
from jobs.importing.values.errors import quoted

# The further count of lines of totals.
TOTALS: Final = "totals"
# The names of such lines, and what platforms write behind them: `Total: Account`, `Total of 2 results`.
_TOTAL: Final = (
    r"\W*(?:(?:grand|overall|sub|account|campaigns?)[ -]?)?"
    r"(?:totals?|totale[ns]?|totaal|gesamt|gesamtsumme|gesamtergebnis|insgesamt|summe|zwischensumme|sum|"
    r"all campaigns)"
    r"\W*(?:[:(–-].*|of .*|\d.*|g[eé]n[eé]ral|geral)?"
)
_IS_TOTAL: Final = re.compile(_TOTAL, re.IGNORECASE)
# Cells of which one may have the name.
_NAMED: Final = ("campaign_name", "date", "provider", "account_id")
_GROUP: Final = ("day", "provider", "currency")
_COUNTS: Final = ("impressions", "clicks")
_SUMMED: Final = ["spend_sum", *(f"{name}_sum" for name in _COUNTS), "count_all"]
# Holds all that spend may be: 19 digits and 30 decimals.
_EXACT: Final = pa.decimal256(76, 30)
# The platform's total may differ from the sum of its rounded rows by so much for each of them.
_ROUNDING: Final = Decimal("0.005")
_KEY: Final = ("shop_key", "provider", "account_id", "campaign_id", "day", "segment")
# An odd number of many digits, which spreads what differs over all bits.
_MULTIPLIER: Final = np.uint64(0x9E3779B97F4A7C15)
# Members that programs add for themselves, such as `_sdc_batched_at`, begin with it.
_OF_PROGRAMS: Final = "_"
_ROWS_LOOKED_AT: Final = 1_000


class _Part(NamedTuple):
    """The rows of a chunk: their lines, and their values besides the key. `start`: how many rows of the file
    came before them."""

    start: int
    lines: npt.NDArray[np.int64]
    rows: pa.Table

    def row(self, place: int) -> list[Any]:
        """Line, name and further values."""
        return [int(self.lines[place]), *(column[place].as_py() for column in self.rows.columns)]


class AdSpendFile(RowsOfFile):
    def __init__(self) -> None:
        # The number in the file of the first row of each key, by the key's hash.
        self._first: dict[int, int] = {}
        self._parts: list[_Part] = []
        # The sums of the rows so far by `_GROUP`, a table for each chunk; and rows that are not summed yet:
        # hardly any file has lines of totals.
        self._sums: list[pa.Table] = []
        self._unsummed: list[tuple[pa.Table, Flags]] = []

    def left_out(self, columns: ChunkColumns, rows: pa.Table) -> Flags:
        """The lines of totals, which are named so, or have neither a name nor a day, and are the sum of the
        other rows of their day or of the file."""
        accepted, names = columns.accepted(), rows["campaign_name"]
        names = names.combine_chunks().dictionary_encode()
        named = pc.match_substring_regex(names.dictionary, f"^{_TOTAL}$", ignore_case=True)
        named = named.take(names.indices).fill_null(False)
        candidates: Flags = named.to_numpy(zero_copy_only=False).copy()
        # Those of refused rows are told by their cells.
        refused = np.flatnonzero(~accepted).tolist()
        cells = [columns.objects(name) for name in _NAMED] if refused else []
        for row in refused:
            name, day, *others = (of_name[row] for of_name in cells)
            is_empty = day in (None, "") and name in (None, "")
            texts = (cell.strip() for cell in (day, *others) if isinstance(cell, str))
            candidates[row] |= is_empty or any(map(_IS_TOTAL.fullmatch, texts))
        left_out = np.zeros(len(candidates), dtype=bool)
        self._unsummed.append((rows, accepted & ~candidates))
        if candidates.any():
            self._sums += [_summed(some.filter(pa.array(of))) for some, of in self._unsummed]
            self._unsummed.clear()
            self._find_sums(rows, candidates, left_out)
            # A campaign may be called so: then it is among those that are summed.
            campaigns = accepted & candidates & ~left_out
            self._sums.append(_summed(rows.filter(pa.array(campaigns))))
            self._find_sums(rows, candidates & ~campaigns & ~left_out, left_out)
        if left_out.any():
            chunk = columns.chunk
            number = chunk.counted.get(TOTALS, 0) + int(left_out.sum())
            chunk.counted = chunk.counted | {TOTALS: number}
        return left_out

    def _find_sums(self, rows: pa.Table, candidates: Flags, left_out: Flags) -> None:
        # Group, and its sums with the number of its rows.
        sums: list[tuple[tuple[Any, ...], tuple[Any, ...]]] = []
        for table in self._sums:
            columns = table.select(_SUMMED).to_pydict().values()
            of_group = zip(*(table[name].to_pylist() for name in _GROUP), strict=True)
            sums += zip(of_group, zip(*columns, strict=True), strict=True)
        for place in np.flatnonzero(candidates).tolist():
            row = {name: rows[name][place].as_py() for name in (*_GROUP, "spend", *_COUNTS)}
            # All rows, or those of its day, its provider or its currency.
            groups = product(*({row[name] or None, None} for name in _GROUP))
            for group in groups if row["spend"] else ():
                parts = [
                    one
                    for of, one in sums
                    if all(want in (None, have) for want, have in zip(group, of, strict=True))
                ]
                if parts:
                    spend, *counts, number = map(sum, zip(*parts, strict=True))
                    is_close = abs(Decimal(row["spend"]) - spend) <= _ROUNDING * number
                    left_out[place] |= is_close and counts == [row[name] for name in _COUNTS]

    def refusal(self, columns: ChunkColumns, rows: pa.Table) -> str:
        """The reason to refuse the file: rows that are not the same would replace each other."""
        chunk, said = columns.chunk, rows.drop_columns(list(_KEY))
        start = self._parts[-1].start + len(self._parts[-1].lines) if self._parts else 0
        self._parts.append(part := _Part(start, chunk.lines, said))
        accepted = np.flatnonzero(columns.accepted())
        # A hash of each row's key. Few of the cells of a column are distinct, and only those are hashed.
        hashes = np.zeros(rows.num_rows, np.uint64)
        for column in rows.select(_KEY).columns:
            encoded = column.combine_chunks().dictionary_encode(null_encoding="encode")
            distinct = np.array(list(map(hash, encoded.dictionary.to_pylist())), np.int64)
            hashes ^= distinct.view(np.uint64)[encoded.indices.to_numpy()]
            hashes *= _MULTIPLIER
            hashes ^= hashes >> np.uint64(32)
        keys = hashes[accepted].tolist()
        places = (part.start + accepted).tolist()
        # The first of several stands.
        first = dict(zip(reversed(keys), reversed(places), strict=True))
        earlier = first.keys() & self._first.keys()
        for key in earlier:
            first[key] = self._first[key]
        self._first |= first
        if len(first) == len(keys) and not earlier:
            return ""
        for key, place in zip(keys, places, strict=True):
            if first[key] != place and (why := self._why(chunk, first[key], place)):
                return why
        return ""

    def _why(self, chunk: Chunk, first: int, place: int) -> str:
        """The reason why the file cannot be taken with these two rows of one key, the later one in this
        chunk."""
        of_first, part = (
            self._parts[bisect_right(self._parts, one, key=lambda part: part.start) - 1]
            for one in (first, place)
        )
        first, place = first - of_first.start, place - part.start
        line, name, *values = of_first.row(first)
        own_line, own_name, *own = part.row(place)
        lines = f"lines {line} and {own_line} are of the same campaign, day and segment"
        if name != own_name:
            return (
                f"{lines}, by two names ({quoted(name)} and {quoted(own_name)}): one would replace the "
                "other; export the file again, with the whole ids of campaigns"
            )
        # The unread cells of an earlier chunk are gone: they count as other than this row's.
        unread = _unread(chunk, first) if of_first is part else ()
        if unread == _unread(chunk, place) and (values == own or not chunk.is_export):
            return ""
        names: dict[str, None] = {}
        for row in range(min(len(chunk), _ROWS_LOOKED_AT)):
            names |= dict.fromkeys(chunk.unread(row) if chunk.unread else ())
        unread_names = listed([name for name in names if not name.startswith(_OF_PROGRAMS)])
        return (
            f"{lines}: one would replace the other; export without what splits them (columns that are not "
            f"read: {', '.join(unread_names) or 'none'}), or with the ids of campaigns"
        )


def _unread(chunk: Chunk, row: int) -> tuple[tuple[str, str], ...]:
    unread = chunk.unread(row) if chunk.unread else {}
    return tuple(
        sorted(
            (name, str(value))
            for name, value in unread.items()
            if value not in (None, "") and not name.startswith(_OF_PROGRAMS)
        )
    )


def _summed(rows: pa.Table) -> pa.Table:
    """The sums of rows by `_GROUP`, and how many they are."""
    some = rows.select([*_GROUP, "spend", *_COUNTS])
    some = some.set_column(len(_GROUP), "spend", some["spend"].cast(_EXACT))
    sums = [(name, "sum") for name in ("spend", *_COUNTS)]
    return some.group_by(list(_GROUP)).aggregate([*sums, ([], "count_all")])
