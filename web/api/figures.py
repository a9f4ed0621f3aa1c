"""Figures from the sums of a summary's measures: one formula for each field, wherever it stands.

The shape of an answer decides which figures it has, and in which order. A field that is not in `_FORMULAS`
is the measure of the same name (`noShow` is `no_show`). So a new measure of a summary needs a field in the
shape, and nothing here.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from operator import itemgetter
from typing import Any, Final, TypeVar, cast, get_type_hints

import numpy as np

from warehouse.catalogue import SUMMARY
from warehouse.daily import reader
from warehouse.daily.group_sum import Column
from web.api.rounding import cents, percent, ratio

Sums = Mapping[str, int]
Figures = TypeVar("Figures")


def _net(sums: Sums) -> int:
    return sums["gross"] - sums["refunded"]


def _rate(numerator: str, denominator: str) -> Callable[[Sums], float]:
    return lambda sums: percent(sums[numerator], sums[denominator])


_FORMULAS: Final[dict[str, Callable[[Sums], Any]]] = {
    "convertedSubmissions": itemgetter("converted"),
    "grossRevenueCents": itemgetter("gross"),
    "totalRefundedCents": itemgetter("refunded"),
    "netRevenueCents": _net,
    "submissionCount": itemgetter("submissions"),
    "attributedOrders": itemgetter("attributed"),
    "attributedRevenueCents": itemgetter("gross"),
    "discountCents": itemgetter("discounted"),
    "startRate": _rate("starts", "views"),
    "subscriptionRate": _rate("subscriptions", "views"),
    "completionRate": _rate("completions", "views"),
    "dropoffRate": _rate("dropoffs", "views"),
    "submissionRate": _rate("submissions", "views"),
    "conversionRate": _rate("converted", "submissions"),
    "redemptionRate": _rate("orders", "issued"),
    "repeatRate": _rate("repeaters", "purchasers"),
    "averageOrderValueCents": lambda sums: cents(sums["gross"], sums["orders"]),
    "revenuePerSubmissionCents": lambda sums: cents(_net(sums), sums["submissions"]),
    "ltvCents": lambda sums: cents(_net(sums), sums["customers"]),
    "ordersPerCustomer": lambda sums: ratio(sums["orders"], sums["customers"], 2),
}


def figures(shape: type[Figures], sums: Sums) -> Figures:
    """The fields of a shape (a `TypedDict` of figures alone), from the sums of measures."""
    return cast(Figures, {field: formula(sums) for field, formula in _formulas(cast(Any, shape))})


@cache
def _formulas(shape: type) -> list[tuple[str, Callable[[Sums], Any]]]:
    return [
        (field, _FORMULAS.get(field) or itemgetter(_measure(field)))
        for field in get_type_hints(shape)
    ]


def _measure(field: str) -> str:
    return re.sub("[A-Z]", lambda letter: f"_{letter[0].lower()}", field)


def zeros(*summaries: str) -> dict[str, int]:
    """All measures of the summaries, each 0."""
    return {measure: 0 for summary in summaries for measure in SUMMARY[summary].measures}


def any_figure(sums: Mapping[str, Any], *keys: str) -> bool:
    """Whether a column other than `keys` is not 0. A row can become all zeros when its facts move."""
    return any(value for name, value in sums.items() if name not in keys)


def with_figures(
    columns: Mapping[str, Column], keys: Sequence[str]
) -> tuple[list[Column], reader.Sums]:
    """The key columns, and the measures (all other columns), of the rows with any figure."""
    measures = {name: column for name, column in columns.items() if name not in keys}
    has_figure = np.logical_or.reduce([column != 0 for column in measures.values()])
    return [columns[name][has_figure] for name in keys], reader.Sums(measures).at(has_figure)
