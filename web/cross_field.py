"""Cross-field correlation (11): how the answers to two fields go together."""

from fractions import Fraction
from typing import Final

import numpy as np

from warehouse.adding import Column
from warehouse.ids import text_id
from warehouse.reader import Sums
from web.errors import malformed
from web.questions import Question
from web.rounding import percent, ratio, root
from web.shapes.fields import CrossFieldRow

MOST_CELLS: Final = 1_000
# Bits after the point of a sum of quotients: far more than any rounding looks at.
_PRECISION: Final = 192


def two_fields(field_a: str, field_b: str) -> None:
    """Raises the 400 where they are one."""
    if field_a == field_b:
        raise malformed("invalid_field", "`fieldA` and `fieldB` are the same field.")


def cross_field(question: Question, field_a: str, field_b: str) -> list[CrossFieldRow]:
    """How the answers to two fields go together.

    A row per pair of values that a submission in the range answered; margins are sums of the
    table's own cells. Order: count descending, valueA, valueB; the first 1,000.
    """
    a, b = text_id(field_a), text_id(field_b)
    sums = question.form_sums(
        "cross_field",
        by=("value_a", "value_b"),
        where={"field_a": min(a, b), "field_b": max(a, b)},
    )
    # A pair of fields is stored once, the lesser id first.
    names = ("value_a", "value_b") if a < b else ("value_b", "value_a")
    return _table(question, sums, *names)


def _table(question: Question, sums: Sums, name_a: str, name_b: str) -> list[CrossFieldRow]:
    counted = sums["submissions"] > 0
    count, converted = sums["submissions"][counted], sums["converted"][counted]
    if not len(count):
        return []
    values_a, of_a, total_a = _margin(sums[name_a][counted], count)
    values_b, of_b, total_b = _margin(sums[name_b][counted], count)
    total = int(count.sum())
    v = _cramers_v(count, total_a[of_a], total_b[of_b], min(len(total_a), len(total_b)))
    known = question.texts([*values_a, *values_b])
    texts_a, texts_b = [known[value] for value in values_a], [known[value] for value in values_b]
    order = np.lexsort((_ranks(texts_b)[of_b], _ranks(texts_a)[of_a], -count))[:MOST_CELLS]
    rows: list[CrossFieldRow] = []
    for a, b, n, of_them in zip(
        of_a[order].tolist(),
        of_b[order].tolist(),
        count[order].tolist(),
        converted[order].tolist(),
        strict=True,
    ):
        row_total, column_total = int(total_a[a]), int(total_b[b])
        rows.append(
            {
                "valueA": texts_a[a],
                "valueB": texts_b[b],
                "count": n,
                "expectedCount": ratio(row_total * column_total, total, 4),
                "lift": ratio(n * total, row_total * column_total, 4),
                "rowPercent": percent(n, row_total),
                "columnPercent": percent(n, column_total),
                "totalPercent": percent(n, total),
                "convertedSubmissions": of_them,
                "conversionRate": percent(of_them, n),
                "cramersV": v,
            }
        )
    return rows


def _margin(values: Column, count: Column) -> tuple[list[int], Column, Column]:
    """The distinct values, the place of each cell's value among them, and their counts."""
    distinct, places = np.unique(values, return_inverse=True)
    totals = np.zeros(len(distinct), dtype=np.int64)
    np.add.at(totals, places, count)
    return distinct.tolist(), places, totals


def _ranks(texts: list[str]) -> Column:
    """The place of each text in code point order."""
    ranks = np.empty(len(texts), dtype=np.int64)
    ranks[sorted(range(len(texts)), key=texts.__getitem__)] = np.arange(len(texts))
    return ranks


def _cramers_v(count: Column, of_a: Column, of_b: Column, least: int) -> float:
    """The root of chi squared / (N x (the lesser of rows and columns - 1)), with chi squared / N =
    sum(n^2 / (row x column)) - 1; 0 where it is undefined.

    Summed in whole numbers, each quotient rounded up: what is too much (2^-192 a cell) cannot keep
    a tie from being rounded up, and shows in no digit.
    """
    if least < 2:
        return 0.0
    scale = 1 << _PRECISION
    quotients = sum(
        -(-n * n * scale // (a * b))
        for n, a, b in zip(count.tolist(), of_a.tolist(), of_b.tolist(), strict=True)
    )
    return root(Fraction(max(quotients - scale, 0), scale * (least - 1)), 4)
