"""Two questions of a form against each other: which answers go together, and how strongly."""

import re
from collections import Counter
from collections.abc import Sequence
from typing import Any, Final

from flask import request

from web.api.row_limit import OTHER
from web.dashboard import statistics
from web.dashboard.compare import ComparedRow
from web.dashboard.labels import Labels
from web.dashboard.page import View
from web.dashboard.statistics import FEW
from web.dashboard.table import Column, Table, columns_of
from web.reports.cross_field import MAX_CELLS, ROW, cross_field
from web.reports.response_revenue import response_revenue

# Cramér's V, in words: J. Cohen, "Statistical Power Analysis for the Behavioral Sciences" (1988), for two
# values; used here as a rule of thumb.
_RELATED: Final = ((0.1, "hardly related"), (0.3, "somewhat related"))
_MOST_RELATED: Final = "strongly related"
# The most frequent answers of each question are drawn.
_SIDE: Final = 10
# Questions in the lists to choose from; the address takes any.
_OPTIONS: Final = 100
# Pairs that are told in words.
_TOLD: Final = 3
# Lifts that have a colour each, from the least up: the class, and the lift below which it ends.
_TONES: Final = (("least", 0.5), ("less", 0.8), ("even", 1.25), ("more", 2.0))
_MOST_TONE: Final = "most"

_NUMBER: Final = re.compile(r"-?\d{1,15}(\.\d{1,15})?", re.ASCII)

_column = columns_of(ROW)
_FIGURES: Final = (
    _column("count"),
    _column("expectedCount", "Expected by chance", unit="tenths"),
    _column("lift", "Times as often"),
    _column("rowPercent", "of the first"),
    _column("columnPercent", "of the second"),
    _column("totalPercent", "of all"),
    _column("convertedSubmissions"),
    _column("conversionRate", "of those together"),
)

Cells = Sequence[dict[str, Any]]


def crossed(view: View, form_id: str, labels: Labels) -> dict[str, Any]:
    """The fields `field` and `by` of the address against each other; the first two, where it names none.

    `heat_rows` are the cells of the heat map by answer to the first question: None stands for a pair that
    the API left out as one of too many. `pairs` is their table, `labels` has the words for all of them.
    """
    rows = view.data(response_revenue, form_id)
    fields = sorted({row["fieldId"] for row in rows} - {OTHER})
    chosen, problem = _chosen(fields)
    cells: Cells = []
    if chosen:
        cells = view.data(cross_field, form_id, fieldA=chosen[0], fieldB=chosen[1])
    totals_a, totals_b = _totals(cells, "valueA"), _totals(cells, "valueB")
    side_a, side_b = _side(totals_a), _side(totals_b)
    # The totals lack what was left out.
    is_cut = len(cells) >= MAX_CELLS
    by_pair = {(cell["valueA"], cell["valueB"]): cell for cell in cells}

    drawn = [
        ComparedRow(cell) for cell in cells if cell["valueA"] in side_a and cell["valueB"] in side_b
    ]

    def answer(name: str, field_id: str) -> Column:
        label = labels.question(field_id)
        return _column(name, label, text=lambda cell: labels.answer(field_id, cell[name]))

    def heat(value: str, other: str) -> tuple[float, bool, str] | None:
        """A cell of the heat map: the lift, whether it is of few, and the class of its colour."""
        cell = by_pair.get((value, other))
        if not cell and is_cut:
            return None
        # The API leaves out pairs that nobody gave, and those after its first ones.
        expected = totals_a[value] * totals_b[other] / totals_a.total()
        cell = cell or {"lift": 0.0, "count": 0, "expectedCount": expected}
        # None where many were to be expected says much.
        is_few = max(cell["count"], cell["expectedCount"]) < FEW
        tone = next((tone for tone, end in _TONES if cell["lift"] < end), _MOST_TONE)
        return cell["lift"], is_few, "" if is_few else tone

    cramers_v = cells[0]["cramersV"] if cells else None
    relation = next((word for end, word in _RELATED if (cramers_v or 0) < end), _MOST_RELATED)
    return {
        "fields": sorted({*fields[:_OPTIONS], *chosen}),
        "chosen": chosen,
        "labels": labels,
        "cross_problem": problem,
        "cramers_v": cramers_v,
        "pairs": Table(
            *(view, "pairs", [*map(answer, ("valueA", "valueB"), chosen), *_FIGURES], drawn),
            most=len(drawn),
            is_numbers=True,
        ),
        "heat_columns": side_b,
        "heat_rows": [(value, [heat(value, other) for other in side_b]) for value in side_a],
        "is_whole": len(totals_a) <= _SIDE and len(totals_b) <= _SIDE,
        "is_cut": is_cut,
        "relation": relation if min(len(totals_a), len(totals_b)) > 1 else "",
        "is_few": totals_a.total() < FEW,
        "strongest": [] if is_cut else _strongest(cells, totals_a, totals_b),
    }


def _chosen(fields: Sequence[str]) -> tuple[list[str], str]:
    """The two fields, none where there are less; and what is wrong with those of the address."""
    if len(fields) < 2:
        return [], ""
    field, by = request.args.get("field", ""), request.args.get("by", "")
    for name in (field, by):
        if name and name not in fields:
            return list(fields[:2]), (
                f"No submission of these days answered {name!r}. Choose a question of the list."
            )
    if field and field == by:
        return list(fields[:2]), f"Both questions are {field!r}. Choose two different ones."
    field = field or next(name for name in fields if name != by)
    return [field, by or next(name for name in fields if name != field)], ""


def _totals(cells: Cells, side: str) -> Counter[str]:
    """The submissions of each answer of one side, as far as the cells have them."""
    totals: Counter[str] = Counter()
    for cell in cells:
        totals[cell[side]] += cell["count"]
    return totals


def _side(totals: Counter[str]) -> list[str]:
    """The most frequent answers: numbers by their size, others by frequency."""
    values = [value for value, _ in totals.most_common(_SIDE)]
    return sorted(values, key=float) if all(map(_NUMBER.fullmatch, values)) else values


def _strongest(cells: Cells, totals_a: Counter[str], totals_b: Counter[str]) -> Cells:
    """The pairs with the greatest lift that chance does not explain: those with the first answer gave the
    second one more often than those without it."""
    total = totals_a.total()
    told = []
    for cell in cells:
        with_a, with_b = totals_a[cell["valueA"]], totals_b[cell["valueB"]]
        difference = statistics.of_difference(
            cell["count"], with_a, with_b - cell["count"], total - with_a
        )
        if cell["count"] >= FEW and difference.low > 0:
            told.append(cell)
    return sorted(told, key=lambda cell: -cell["lift"])[:_TOLD]
