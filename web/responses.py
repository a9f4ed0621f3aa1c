"""Response revenue (12): what followed from each answer."""

from collections.abc import Mapping
from typing import Any

from web.figures import any_figure, money
from web.questions import Question
from web.rounding import cents, percent
from web.shapes.fields import ResponseRow

_OUTCOME = ("submissions", "converted", "orders", "gross", "refunded")


def response_revenue(question: Question) -> list[ResponseRow]:
    """What followed from each answer.

    Per field and value, and a row with `value: null` for submissions without an answer to the
    field; submission clock. Fields: those answered in the range with a type that can be aggregated.
    Order: fieldId, netRevenueCents descending, value (null last).
    """
    # Value 0 stands for "answered at all", whatever the type.
    answered: dict[int, dict[str, int]] = {}
    values: dict[int, list[dict[str, int]]] = {}
    for line in question.form_sums("response", by=("field", "value")).rows():
        if line["value"] == 0:
            answered[line["field"]] = line
        elif line["submissions"] > 0:
            values.setdefault(line["field"], []).append(line)
    if not values:
        return []
    funnel = question.form_sums("funnel").total()
    texts = question.texts(
        [*values, *(line["value"] for lines in values.values() for line in lines)]
    )
    rows: list[ResponseRow] = []
    for field, lines in values.items():
        of_field = answered[field]
        is_list = of_field["lists"] > 0
        rows += [_row(texts[field], texts[line["value"]], line, is_list) for line in lines]
        without = {name: funnel[name] - of_field[name] for name in _OUTCOME}
        if any_figure(without):
            rows.append(_row(texts[field], None, without, is_list))
    return sorted(rows, key=_order)


def _row(field: str, value: str | None, sums: Mapping[str, int], multi_select: bool) -> ResponseRow:
    revenue = money(sums)
    return {
        "fieldId": field,
        "value": value,
        "submissions": sums["submissions"],
        "convertedSubmissions": sums["converted"],
        **revenue,
        "conversionRate": percent(sums["converted"], sums["submissions"]),
        "revenuePerSubmissionCents": cents(revenue["netRevenueCents"], sums["submissions"]),
        "averageOrderValueCents": cents(sums["gross"], sums["orders"]),
        "multiSelect": multi_select,
    }


def _order(row: ResponseRow) -> tuple[Any, ...]:
    return row["fieldId"], -row["netRevenueCents"], row["value"] is None, row["value"] or ""
