"""Response revenue (12): the orders that followed from each answer."""

from typing import Final

import numpy as np

from warehouse.catalogue import OUTCOMES
from warehouse.daily.group_sum import Column, total
from warehouse.daily.reader import Sums, stacked
from warehouse.domain.figures import OUTCOME
from web.api.endpoint import get
from web.api.filters import FILTERS
from web.api.query import Query
from web.api.row_limit import OTHER, first_rows, limit_rows, other_rows
from web.api.rows import FIELD_ID, Answer, Row, column, text, with_figures

# fmt: off
ROW: Final = Row(
    "ResponseRow",
    """An answer to a field. Orders and revenue followed from the window's submissions with this answer, to
    date (submission clock). Order: fieldId, netRevenueCents descending, value (null last).""",
    FIELD_ID,
    text("value", "Answer",
        "The answer, as text; null for submissions without an answer.", null=True),
    f"submissions convertedSubmissions {OUTCOME} conversionRate revenuePerSubmissionCents "
    "averageOrderValueCents",
    column("multiSelect", "Several choices",
        "true if a submission of the window answered the field with a list. Such rows overlap, so they "
        "add up to more than the submissions.",
        {"type": "boolean"}, made=lambda sums: sums["lists"] > 0),
    owner="Each submission of these days counts for the answers that it gave. The orders are those "
    "that were credited to it, up to today. Where several answers may be chosen, a submission counts "
    "for each of them.",
)
# fmt: on

Columns = dict[str, Column]
"""Rows of the answer: `field` is an index of the fields, `row_type` one of those below, `value` the id of an
answer (0 in rows of other types), and `summed_rows` the number of rows whose sums the row has."""

# The types of rows that a field has.
_VALUE, _OTHER_VALUES, _NO_ANSWER = range(3)


@get("/forms/{id}/response-revenue", "analytics:read", ROW, limited=True, filters=FILTERS)
def response_revenue(query: Query) -> Answer:
    """Revenue by answer.

    A row per field and value, and a row with `value: null` for submissions without an answer to the field.
    All figures are on the submission clock. Only fields are shown that were answered in the window with a
    type that can be aggregated. Order: fieldId, netRevenueCents descending, value (null last).

    A field has at most 1,000 values. The others are summed in a row with the value `(other)`; of such a
    field, the last rows are `(other)` and then null. There are at most 10,000 rows. The others are summed
    in a last row, whose `fieldId` is `(other)` too.
    """
    columns = query.form_outcomes("response", by=("field", "value")).columns
    values = _at(columns, (columns["value"] != 0) & (columns["submissions"] > 0))
    if not len(values["field"]):
        return Answer([])
    fields, values["field"] = np.unique(values["field"], return_inverse=True)
    # Value 0 stands for any answer at all, whatever its type.
    answered = _at(columns, columns["value"] == 0)
    answered = _at(answered, np.searchsorted(answered["field"], fields))
    parts = *_limited_values(query, values), _without_answer(query, answered)
    rows = stacked(sorted(set.intersection(*map(set, parts))), *parts)
    # Whether there are lists is said of a field, in all its rows.
    rows["lists"] = answered["lists"][rows["field"]]
    limit = query.limits.rows
    # Each field has a row, so no field after these has room.
    shown, names = first_rows(len(fields), (), query.texts_of(fields), limit)
    place = np.full(len(fields), len(shown))
    place[shown] = np.arange(len(shown))
    field, row_type, value = (rows.pop(name) for name in ("field", "row_type", "value"))
    has_others = np.isin(field, field[row_type == _OTHER_VALUES])
    order = (
        -place[field],
        # Values, their others, null. If there are no others, null is sorted with the values.
        np.where(has_others, -row_type, 0),
        rows["gross"] - rows["refunded"],
        -row_type,
    )
    found = limit_rows(Sums(rows), order, query.texts_of(value), limit)
    row_type = row_type[found.shown]
    texts = [
        (names[index][0], {_VALUE: text, _OTHER_VALUES: OTHER}.get(kind))
        for index, kind, (text,) in zip(
            place[field[found.shown]].tolist(), row_type.tolist(), found.texts, strict=True
        )
    ]
    if found.others:
        texts.append((OTHER, OTHER))
        row_type = np.append(row_type, _OTHER_VALUES)
    others = int(found.sums["summed_rows"][row_type == _OTHER_VALUES].sum())
    return Answer(ROW.filled_rows(texts, found.sums), meta=other_rows(others))


def _limited_values(query: Query, values: Columns) -> tuple[Columns, Columns]:
    """The first values of each field, in any order; and the sums of the others, by field."""
    field, net = values["field"], values["gross"] - values["refunded"]
    limit = query.limits.values
    is_other = np.zeros(len(field), dtype=bool)
    for large in np.flatnonzero(np.bincount(field) > limit):
        of_field = np.flatnonzero(field == large)
        ids = values["value"][of_field]
        shown, _ = first_rows(len(of_field), (net[of_field],), query.texts_of(ids), limit)
        is_other[of_field] = True
        is_other[of_field[shown]] = False
    values = values | {"summed_rows": np.ones_like(field)}
    others = _at(values, is_other) | {"value": np.zeros(is_other.sum(), dtype=np.int64)}
    return (
        _of_type(_VALUE, _at(values, ~is_other)),
        _of_type(_OTHER_VALUES, total(others, ("field", "value"))),
    )


def _without_answer(query: Query, answered: Columns) -> Columns:
    """The submissions without an answer to a field, by field, where there are any."""
    funnel = query.form_outcomes("funnel").total()
    field = np.arange(len(answered["field"]))
    sums = {name: funnel[name] - answered[name] for name in ("submissions", *OUTCOMES)}
    (field,), measures = with_figures({"field": field, **sums}, ("field",))
    zeros, ones = np.zeros_like(field), np.ones_like(field)
    rows = {"field": field, "value": zeros, "summed_rows": ones, **measures.columns}
    return _of_type(_NO_ANSWER, rows)


def _at(columns: Columns, rows: Column) -> Columns:
    return Sums(columns).at(rows).columns


def _of_type(row_type: int, rows: Columns) -> Columns:
    return {**rows, "row_type": np.full(len(rows["field"]), row_type)}
