"""Cross-field correlation (11): how strongly the answers to two fields are associated."""

from fractions import Fraction
from typing import Any, Final

import numpy as np

from warehouse.daily.group_sum import Column, add_up
from warehouse.domain.figures import count, number, percent
from warehouse.domain.hash_ids import text_id
from warehouse.domain.rounding import ratio, root
from web.api.endpoint import get
from web.api.query import Query
from web.api.row_limit import first_rows
from web.api.rows import TO_DATE, Row, text
from web.http.current_request import Shop
from web.http.errors import malformed
from web.http.parameters import field, quoted

MAX_CELLS: Final = 1_000
# Binary digits after the point of a sum of quotients: far more than any rounding needs.
_PRECISION: Final = 192

# fmt: off
ROW: Final = Row(
    "CrossFieldRow",
    """A pair of answers that submissions of the window gave. If a field allows several choices, each of
    them counts. The totals behind the percentages are sums of the table's own cells. At most the first
    1,000 pairs are returned; the figures are over all of them. Order: count descending, valueA, valueB.""",
    text("valueA", "Answer", "An answer to `fieldA`, as text."),
    text("valueB", "Other answer", "An answer to `fieldB`, as text."),
    count("count", "Together",
        "Submissions that gave both answers.",
        "Submissions in which both answers were given.",
        bounds={"minimum": 1}),
    number("expectedCount", "To be expected",
        "The `count` to expect if the fields were independent.",
        "How many there would be if the two questions had nothing to do with each other."),
    number("lift", "Lift",
        "`count` / expected count, to 4 decimals.",
        "How many times as many there are as were to be expected. Above 1, the answers go together."),
    percent("rowPercent", "Of the first answer",
        "`count` as a percentage of all pairs with `valueA`.",
        "How many of 100 with the first answer gave the second one too.",
        over=("count", "row_total")),
    percent("columnPercent", "Of the second answer",
        "`count` as a percentage of all pairs with `valueB`.",
        "How many of 100 with the second answer gave the first one too.",
        over=("count", "column_total")),
    percent("totalPercent", "Of all",
        "`count` as a percentage of all pairs.",
        "How many of 100 pairs of answers are this one.",
        over=("count", "total")),
    "convertedSubmissions",
    percent("conversionRate", "Bought",
        "`convertedSubmissions` / `count` x 100.",
        "How many of 100 who gave both answers bought.",
        over=("convertedSubmissions", "count")),
    number("cramersV", "Relation",
        "How strongly the two fields are associated, from 0 to 1, to 4 decimals: Cramér's V of the "
        "whole table without bias correction. It is the same in each row, and 0 where it is undefined.",
        "How strongly the two questions go together, from 0 (not at all) to 1 (one answer tells the "
        "other).",
        bounds={"minimum": 0, "maximum": 1}),
    clock=TO_DATE,
    owner="Submissions of these days that answered both questions. Where several answers may be "
    "chosen, each of them counts.",
)
# fmt: on


def require_two_fields(_shop: Shop, field_a: str, field_b: str) -> None:
    """Raises the 400 if both are the same field."""
    if field_a == field_b:
        raise malformed(
            "invalid_field",
            f"`fieldA` and `fieldB` are both {quoted(field_a)}. Name two different fields.",
        )


@get(
    "/forms/{id}/cross-field",
    "analytics:read",
    ROW,
    field("fieldA", "field_a"),
    field("fieldB", "field_b"),
    rule=require_two_fields,
)
def cross_field(query: Query, field_a: str, field_b: str) -> list[dict[str, Any]]:
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
    name_a, name_b = ("value_a", "value_b") if a < b else ("value_b", "value_a")
    counted = sums["submissions"] > 0
    counts, converted = sums["submissions"][counted], sums["converted"][counted]
    if not len(counts):
        return []
    values_a, index_a, total_a = _margin(sums[name_a][counted], counts)
    values_b, index_b, total_b = _margin(sums[name_b][counted], counts)
    total = int(counts.sum())
    v = _cramers_v(counts, total_a[index_a], total_b[index_b], min(len(total_a), len(total_b)))
    shown, texts = first_rows(
        len(counts),
        (counts,),
        query.texts_of(values_a[index_a], values_b[index_b]),
        MAX_CELLS,
    )
    rows = []
    for texts_of_cell, row_total, column_total, cell_count, cell_converted in zip(
        texts,
        total_a[index_a[shown]].tolist(),
        total_b[index_b[shown]].tolist(),
        counts[shown].tolist(),
        converted[shown].tolist(),
        strict=True,
    ):
        line = {
            "count": cell_count,
            "converted": cell_converted,
            "row_total": row_total,
            "column_total": column_total,
            "total": total,
            "expected_count": ratio(row_total * column_total, total, 4),
            "lift": ratio(cell_count * total, row_total * column_total, 4),
            "cramers_v": v,
        }
        rows.append(ROW.filled(texts_of_cell, line))
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
    # Many cells of a large table are alike: whole numbers are multiplied once for all of them.
    alike, (cells,) = add_up([count, rows, columns], [np.ones_like(count)])
    quotients = sum(
        times * -(-n * n * scale // (a * b))
        for times, n, a, b in zip(
            cells.tolist(), *(column.tolist() for column in alike), strict=True
        )
    )
    return root(Fraction(max(quotients - scale, 0), scale * (smaller_side - 1)), 4)
