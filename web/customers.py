"""Customer lifetime value (19), by form or by response segment, on the acquisition clock."""

from typing import Any, cast

from warehouse.days import NEVER
from warehouse.vocabulary import LTV_HORIZONS
from web.endpoint import Endpoint
from web.endpoint import blueprint as resource
from web.figures import any_figure, money
from web.parameters import dimension as one_of
from web.questions import Question
from web.rounding import cents, percent, ratio
from web.shapes.customers import Horizon, LifetimeValue

# dimension -> (summary, its key columns, their names in the answer)
_DIMENSIONS = {
    "form": ("ltv_form", ("form",), ("formId",)),
    "segment": ("ltv_segment", ("field", "value"), ("fieldId", "value")),
}

Key = tuple[int, ...]
Line = dict[str, int]


def lifetime_value(question: Question, dimension: str) -> LifetimeValue:
    """Lifetime value of customers, by the form or the answer that won them.

    `{dimension, rows}`: customers acquired in the range, and all their orders since, to date.
    Order: netRevenueCents descending, then the keys.
    """
    summary, keys, names = _DIMENSIONS[dimension]
    portions = [
        (last, _lines(question, summary, keys, (first, last)))
        for first, last in _portions(question)
    ]
    whole = _added([lines for _, lines in portions])
    horizons = {
        days: _added([lines for last, lines in portions if last + days <= question.today])
        for days in LTV_HORIZONS
    }
    texts = question.texts(part for key in whole for part in key)
    rows = []
    for key, sums in whole.items():
        if any_figure(sums):
            row: dict[str, Any] = dict(zip(names, (texts[part] for part in key), strict=True))
            row |= _figures(sums)
            row["horizons"] = [_horizon(days, horizons[days].get(key, {})) for days in LTV_HORIZONS]
            rows.append(row)
    rows.sort(key=lambda row: (-row["netRevenueCents"], *(row[name] for name in names)))
    return cast(LifetimeValue, {"dimension": dimension, "rows": rows})


def horizon_clock(question: Question) -> tuple[int, int]:
    """Today, as long as customers acquired in the window have a horizon before them; all day long."""
    return min(question.today, question.window.last + max(LTV_HORIZONS)), NEVER


def _portions(question: Question) -> list[tuple[int, int]]:
    """The window cut where a horizon ends, so that each horizon is a sum of whole portions and no
    daily row is read twice."""
    window = question.window
    ends = {question.today - days for days in LTV_HORIZONS}
    ends = {end for end in ends if window.first <= end < window.last} | {window.last}
    portions = []
    first = window.first
    for end in sorted(ends):
        portions.append((first, end))
        first = end + 1
    return portions


def _lines(
    question: Question, summary: str, keys: tuple[str, ...], days: tuple[int, int]
) -> dict[Key, Line]:
    lines = {}
    for line in question.sums(summary, by=keys, days=days).rows():
        lines[tuple(line.pop(key) for key in keys)] = line
    return lines


def _added(portions: list[dict[Key, Line]]) -> dict[Key, Line]:
    total: dict[Key, Line] = {}
    for lines in portions:
        for key, line in lines.items():
            known = total.get(key)
            total[key] = (
                {name: value + known[name] for name, value in line.items()} if known else line
            )
    return total


def _figures(sums: Line) -> dict[str, Any]:
    revenue = money(sums)
    return {
        "customers": sums["customers"],
        "purchasers": sums["purchasers"],
        **revenue,
        "ltvCents": cents(revenue["netRevenueCents"], sums["customers"]),
        "averageOrderValueCents": cents(sums["gross"], sums["orders"]),
        "ordersPerCustomer": ratio(sums["orders"], sums["customers"], 2),
        "repeatRate": percent(sums["repeaters"], sums["purchasers"]),
    }


def _horizon(days: int, sums: Line) -> Horizon:
    customers, net = sums.get("customers", 0), sums.get(f"net_{days}", 0)
    return {
        "days": days,
        "customers": customers,
        "netRevenueCents": net,
        "ltvCents": cents(net, customers),
    }


blueprint = resource(
    "customers",
    Endpoint(
        "GET",
        "/customers/ltv",
        "customers:read",
        lifetime_value,
        (one_of(*_DIMENSIONS),),
        clock=horizon_clock,
    ),
)
