"""Customer lifetime value (19), by form or by response segment, on the acquisition clock."""

from typing import Any, cast

from warehouse.adding import total
from warehouse.days import NEVER
from warehouse.reader import Sums
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

Line = dict[str, int]


def lifetime_value(question: Question, dimension: str) -> LifetimeValue:
    """Lifetime value of customers, by the form or the answer that won them.

    `{dimension, rows}`: customers acquired in the range, and all their orders since, to date.
    Order: netRevenueCents descending, then the keys.
    """
    summary, keys, names = _DIMENSIONS[dimension]
    lines = question.cells(summary, ("day", *keys))
    days = lines.pop("day")
    for horizon in LTV_HORIZONS:
        # Who was acquired too late for a horizon adds nothing to it.
        counts = days + horizon <= question.today
        lines[f"customers_{horizon}"] = lines["customers"] * counts
        lines[f"net_{horizon}"] = lines[f"net_{horizon}"] * counts
    sums = Sums(total(lines, keys))
    texts = question.texts(part for key in keys for part in sums[key].tolist())
    rows = []
    for line in sums.rows():
        if any_figure(line, *keys):
            row: dict[str, Any] = {
                name: texts[line[key]] for name, key in zip(names, keys, strict=True)
            }
            row |= _figures(line)
            row["horizons"] = [_horizon(horizon, line) for horizon in LTV_HORIZONS]
            rows.append(row)
    rows.sort(key=lambda row: (-row["netRevenueCents"], *(row[name] for name in names)))
    return cast(LifetimeValue, {"dimension": dimension, "rows": rows})


def horizon_clock(question: Question) -> tuple[int, int]:
    """Today, as long as customers acquired in the window have a horizon before them; all day long."""
    return min(question.today, question.window.last + max(LTV_HORIZONS)), NEVER


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
    customers, net = sums[f"customers_{days}"], sums[f"net_{days}"]
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
