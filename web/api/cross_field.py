"""Cross-field correlation (11): how strongly the answers to two fields are associated."""

from fractions import Fraction
from typing import Final

import numpy as np

from warehouse.daily.group_sum import Column
from warehouse.daily.reader import Sums
from warehouse.domain.hash_ids import text_id
from web.api.query import Query
from web.api.rounding import percent, ratio, root
from web.api.row_limit import first_rows
from web.api.schemas.fields import CrossFieldRow
from web.http.errors import malformed
from web.http.parameters import quoted

MAX_CELLS: Final = 1_000
# Binary digits after the point of a sum of quotients: far more than any rounding needs.
_PRECISION: Final = 192


def require_two_fields(field_a: str, field_b: str) -> None:
    """Raises the 400 if both are the same field."""
    if field_a == field_b:
        raise malformed(
            "invalid_field",
            f"`fieldA` and `fieldB` are both {quoted(field_a)}. Name two different fields.",
        )


def cross_field(query: Query, field_a: str, field_b: str) -> list[CrossFieldRow]:
    """How strongly the answers to two fields are associated.

    A row per pair of answers that a submission of the window gave. Totals are sums of the table's own
    cells. Order: count descending, valueA, valueB; the first 1,000.
    """
    a, b = text_id(field_a), text_id(field_b)
    sums = query.form_sums(
        "cross_field",
        by=("value_a", "value_b"),
        where={"field_a": min(a, b), "field_b": max(a, b)},
    )
    # A pair of fields is stored once, the smaller id first.
    names = ("value_a", "value_b") if a < b else ("value_b", "value_a")
    return _table(query, sums, *names)


def _table(query: Query, sums: Sums, name_a: str, name_b: str) -> list[CrossFieldRow]:
    counted = sums["submissions"] > 0
    count, converted = sums["submissions"][counted], sums["converted"][counted]
    if not len(count):
        return []
    values_a, index_a, total_a = _margin(sums[name_a][counted], count)
    values_b, index_b, total_b = _margin(sums[name_b][counted], count)
    total = int(count.sum())
    v = _cramers_v(count, total_a[index_a], total_b[index_b], min(len(total_a), len(total_b)))
    shown, texts = first_rows(
        len(count),
        (count,),
        query.texts_of(values_a[index_a], values_b[index_b]),
        MAX_CELLS,
    )
    rows: list[CrossFieldRow] = []
    for (value_a, value_b), row_total, column_total, cell_count, cell_converted in zip(
        texts,
        total_a[index_a[shown]].tolist(),
        total_b[index_b[shown]].tolist(),
        count[shown].tolist(),
        converted[shown].tolist(),
        strict=True,
    ):
        rows.append(
            {
                "valueA": value_a,
                "valueB": value_b,
                "count": cell_count,
                "expectedCount": ratio(row_total * column_total, total, 4),
                "lift": ratio(cell_count * total, row_total * column_total, 4),
                "rowPercent": percent(cell_count, row_total),
                "columnPercent": percent(cell_count, column_total),
                "totalPercent": percent(cell_count, total),
                "convertedSubmissions": cell_converted,
                "conversionRate": percent(cell_converted, cell_count),
                "cramersV": v,
            }
        )
    return rows


def _margin(values: Column, count: Column) -> tuple[Column, Column, Column]:
    """The distinct values, the index of each cell's value among them, and their counts."""
    distinct, index = np.unique(values, return_inverse=True)
    totals = np.zeros(len(distinct), dtype=np.int64)
    np.add.at(totals, index, count)
    return distinct, index, totals


def _cramers_v(count: Column, rows: Column, columns: Column, smaller_side: int) -> float:
    """The root of chi squared / (N x (smaller side of the table - 1)), where chi squared / N =
    sum(count^2 / (row x column)) - 1; 0 where it is undefined. `rows` and `columns` are the totals of each
    cell's row and column.

    The sum is in whole numbers, with each quotient rounded up. The excess (2^-192 a cell) is too small to
    show in a digit, and cannot prevent a tie from being rounded up.
    """
    if smaller_side < 2:
        return 0.0
    scale = 1 << _PRECISION
    quotients = sum(
        -(-n * n * scale // (a * b))
        for n, a, b in zip(count.tolist(), rows.tolist(), columns.tolist(), strict=True)
    )
    return root(Fraction(max(quotients - scale, 0), scale * (smaller_side - 1)), 4)
