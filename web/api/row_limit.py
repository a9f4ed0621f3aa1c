"""The limit on the rows of an answer: its first ones, and one more row `(other)` with the sums of all others.

Visitors choose answers, UTM values and codes, so a shop can have any number of them. Rows are chosen by
their sums, in arrays. Texts are read for the rows that are shown, and where they decide which of many rows
with equal figures are shown: then in chunks, so that memory does not grow with their number.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from warehouse.daily.group_sum import Column
from warehouse.daily.reader import Sums
from web.api.long_answers import in_order

# Rows whose texts are asked for at once: to make a list of very many ids keeps other threads waiting.
_ROWS: Final = 20_000
# The text columns of a row that has the sums of others.
OTHER: Final = "(other)"

Texts = tuple[str, ...]
TextsOf = Callable[[Column], Iterable[Texts]]
"""The texts of the rows with these indices, one after the other; those of no two rows are equal."""


@dataclass(frozen=True, slots=True)
class RowLimits:
    """The most rows of an answer, and the most values of one field in it. A row with the sums of others
    comes on top."""

    rows: int = 10_000
    values: int = 1_000


@dataclass(frozen=True, slots=True)
class LimitedRows:
    """The rows of an answer. `shown` are the indices of those that stand for themselves, in order, and
    `texts` are theirs. `others` is the number of all other rows: if there are any, the last row of `sums` has
    theirs."""

    shown: Column
    texts: list[Texts]
    others: int
    sums: Sums


def limit_rows(
    sums: Sums, descending: Sequence[Column], texts_of: TextsOf, limit: int
) -> LimitedRows:
    """Sort rows of measures by these figures, descending, then by their texts. The first `limit` stay as
    they are, and the others are summed."""
    shown, texts = first_rows(len(sums), descending, texts_of, limit)
    if others := len(sums) - len(shown):
        is_other = np.ones(len(sums), dtype=bool)
        is_other[shown] = False
        of_others = sums.at(is_other).total()
        columns = {
            name: np.append(column[shown], of_others[name]) for name, column in sums.columns.items()
        }
        return LimitedRows(shown, texts, others, Sums(columns))
    return LimitedRows(shown, texts, 0, sums.at(shown))


def first_rows(
    count: int, descending: Sequence[Column], texts_of: TextsOf, limit: int
) -> tuple[Column, list[Texts]]:
    """The indices and the texts of the first `limit` of `count` rows, sorted by these figures, descending,
    then by their texts in code point order."""
    rows, tied = _cut(count, descending, limit)
    texts = list(texts_of(rows))
    if len(tied):
        chosen = _smallest(tied, texts_of, limit - len(rows))
        texts += [text for text, _ in chosen]
        rows = np.append(rows, np.array([row for _, row in chosen], dtype=np.int64))
    ranks = np.empty(len(rows), dtype=np.int64)
    by_text = in_order([*zip(texts, range(len(rows)), strict=True)])
    ranks[[place for _, place in by_text]] = np.arange(len(rows))
    order = np.lexsort((ranks, *(-figure[rows] for figure in reversed(descending))))
    return rows[order], [texts[place] for place in order.tolist()]


def other_rows(count: int) -> dict[str, int]:
    """The `meta` of an answer in which so many rows are summed."""
    return {"otherRows": count} if count else {}


def _cut(count: int, descending: Sequence[Column], limit: int) -> tuple[Column, Column]:
    """The indices of the rows that are among the first by their figures alone, and of the rows with equal
    figures of which only some are."""
    order, is_tied = np.arange(count), np.ones(count, dtype=bool)
    if count <= limit:
        return order, order[:0]
    if descending:
        order = np.lexsort([-figure for figure in reversed(descending)])
        for figure in descending:
            is_tied &= figure[order] == figure[order[limit - 1]]
    # The rows with the same figures as the last one that has room. They follow each other.
    tied = np.flatnonzero(is_tied)
    if tied[-1] < limit:
        return order[:limit], order[:0]
    return order[: tied[0]], np.sort(order[tied])


def _smallest(rows: Column, texts_of: TextsOf, limit: int) -> list[tuple[Texts, int]]:
    """The rows whose texts come first, with their texts."""
    found: list[tuple[Texts, int]] = []
    last = None
    for start in range(0, len(rows), _ROWS):
        own = rows[start : start + _ROWS]
        for each in zip(texts_of(own), own.tolist(), strict=True):
            if last is None or each < last:
                found.append(each)
            if len(found) == 2 * limit:
                found = in_order(found)[:limit]
                last = found[-1]
    return in_order(found)[:limit]
