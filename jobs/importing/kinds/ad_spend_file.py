"""What only the rows of a whole file of ad spend tell: that one would replace another, and which are lines of
totals."""

import re
from collections.abc import Iterator
from decimal import Decimal
from itertools import product
from typing import Any, Final, NamedTuple

import numpy as np
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
# Holds all that spend may be: 19 digits and 30 decimals.
_EXACT: Final = pa.decimal256(76, 30)
# By so much the platform's total may differ from the sum of its rounded rows, for each of them.
_ROUNDING: Final = Decimal("0.005")
_KEY: Final = ("shop_key", "provider", "account_id", "campaign_id", "day", "segment")
# Members that programs add for themselves, such as `_sdc_batched_at`, begin with it.
_OF_PROGRAMS: Final = "_"
_ROWS_LOOKED_AT: Final = 1_000


class _First(NamedTuple):
    """The first row of a key: the number of its chunk, its place there, its line, a hash of its values, its
    name."""

    chunk: int
    row: int
    line: int
    values: int
    name: str


class AdSpendFile(RowsOfFile):
    def __init__(self) -> None:
        self._first: dict[int, _First] = {}
        # The sums of the rows so far by `_GROUP`, a table for each chunk.
        self._sums: list[pa.Table] = []

    def left_out(self, columns: ChunkColumns, rows: pa.Table) -> Flags:
        """The lines of totals, which are named so, or have neither a name nor a day, and are the sum of the
        other rows of their day or of the file."""
        candidates, accepted = _named_totals(columns, rows), columns.accepted()
        left_out = np.zeros(len(candidates), dtype=bool)
        self._sums.append(_summed(rows.filter(pa.array(accepted & ~candidates))))
        if candidates.any():
            self._find_sums(rows, candidates, left_out)
            # A campaign may be called so: then it is among those that are summed.
            campaigns = accepted & candidates & ~left_out
            self._sums.append(_summed(rows.filter(pa.array(campaigns))))
            self._find_sums(rows, candidates & ~campaigns & ~left_out, left_out)
        return left_out

    def _find_sums(self, rows: pa.Table, candidates: Flags, left_out: Flags) -> None:
        sums = list(_sums_of(self._sums))
        for place in np.flatnonzero(candidates).tolist():
            left_out[place] = _is_sum(rows, place, sums)

    def without(self, chunk: Chunk, left_out: Flags) -> Chunk:
        number = chunk.counted.get(TOTALS, 0) + int(left_out.sum())
        chunk = super().without(chunk, left_out)
        chunk.counted = chunk.counted | {TOTALS: number}
        return chunk

    def refusal(self, columns: ChunkColumns, rows: pa.Table) -> str:
        """Why rows of the file would replace each other that are not one row."""
        chunk, number = columns.chunk, len(self._sums)
        cells = [rows[name].to_pylist() for name in rows.column_names]
        keys = list(map(hash, zip(*cells[: len(_KEY)], strict=True)))
        values = map(hash, zip(*cells[len(_KEY) :], strict=True))
        names, lines = rows["campaign_name"].to_pylist(), chunk.lines.tolist()
        accepted = columns.accepted().tolist()
        for row, (key, of_row) in enumerate(zip(keys, values, strict=True)):
            if not accepted[row]:
                continue
            first = self._first.get(key)
            if first is None:
                self._first[key] = _First(number, row, lines[row], of_row, names[row])
            elif why := self._why(
                first, _First(number, row, lines[row], of_row, names[row]), chunk
            ):
                return why
        return ""

    def _why(self, first: _First, one: _First, chunk: Chunk) -> str:
        lines = f"lines {first.line} and {one.line} are of the same campaign, day and segment"
        if first.name != one.name:
            return (
                f"{lines}, by two names ({quoted(first.name)} and {quoted(one.name)}): one would replace the "
                "other; export the file again, with the whole ids of campaigns"
            )
        # What is not read of rows of an earlier chunk is gone: then it counts as other than this row's.
        others = _unread(chunk, one.row)
        of_first = _unread(chunk, first.row) if first.chunk == one.chunk else ()
        if others == of_first and (first.values == one.values or not chunk.is_export):
            return ""
        return (
            f"{lines}: one would replace the other; export without what splits them (columns that are not "
            f"read: {', '.join(_unread_names(chunk)) or 'none'}), or with the ids of campaigns"
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


def _unread_names(chunk: Chunk) -> list[str]:
    names: dict[str, None] = {}
    for row in range(min(len(chunk), _ROWS_LOOKED_AT)):
        names |= dict.fromkeys(chunk.unread(row) if chunk.unread else ())
    return listed([name for name in names if not name.startswith(_OF_PROGRAMS)])


def _named_totals(columns: ChunkColumns, rows: pa.Table) -> Flags:
    """Whether each row may be a line of totals, by its cells."""
    named = pc.match_substring_regex(rows["campaign_name"], f"^{_TOTAL}$", ignore_case=True)
    flags: Flags = named.fill_null(False).combine_chunks().to_numpy(zero_copy_only=False).copy()
    refused = np.flatnonzero(~columns.accepted())
    if len(refused):
        cells = [columns.objects(name) for name in _NAMED]
        for row in refused.tolist():
            name, day, *others = (of_name[row] for of_name in cells)
            is_empty = day in (None, "") and name in (None, "")
            flags[row] |= is_empty or any(map(_is_total, (day, *others)))
    return flags


def _is_total(cell: Any) -> bool:
    return isinstance(cell, str) and _IS_TOTAL.fullmatch(cell.strip()) is not None


def _summed(rows: pa.Table) -> pa.Table:
    """The sums of rows by `_GROUP`, and how many they are."""
    some = rows.select([*_GROUP, "spend", *_COUNTS])
    some = some.set_column(len(_GROUP), "spend", some["spend"].cast(_EXACT))
    sums = [(name, "sum") for name in ("spend", *_COUNTS)]
    return some.group_by(list(_GROUP)).aggregate([*sums, ([], "count_all")])


def _sums_of(tables: list[pa.Table]) -> Iterator[tuple[tuple[Any, ...], tuple[Any, ...]]]:
    """(group, sums and the number of rows)."""
    for table in tables:
        columns = table.to_pydict()
        names = ["spend_sum", *(f"{name}_sum" for name in _COUNTS), "count_all"]
        yield from zip(
            zip(*(columns[name] for name in _GROUP), strict=True),
            zip(*(columns[name] for name in names), strict=True),
            strict=True,
        )


def _is_sum(rows: pa.Table, place: int, sums: list[Any]) -> bool:
    """Whether a row is the sum of the others, of its day or of the file: of all, or of its provider or its
    currency."""
    row = {name: rows[name][place].as_py() for name in (*_GROUP, "spend", *_COUNTS)}
    if not row["spend"]:
        return False
    for group in product(*({row[name] or None, None} for name in _GROUP)):
        parts = [
            one
            for of, one in sums
            if all(want in (None, have) for want, have in zip(group, of, strict=True))
        ]
        if not parts:
            continue
        spend, *counts, number = map(sum, zip(*parts, strict=True))
        is_close = abs(Decimal(row["spend"]) - spend) <= _ROUNDING * number
        if is_close and counts == [row[name] for name in _COUNTS]:
            return True
    return False
