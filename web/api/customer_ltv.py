"""Customer lifetime value (19), by form or by response segment, on the acquisition clock."""

from typing import Any, cast

from warehouse.daily.group_sum import Column, total
from warehouse.daily.reader import Sums
from warehouse.domain.time import NEVER
from warehouse.domain.vocabulary import LTV_HORIZONS
from web.api.endpoint import Answer, Endpoint
from web.api.endpoint import blueprint as resource
from web.api.figures import figures, with_figures
from web.api.query import Query
from web.api.rounding import cents
from web.api.row_limit import OTHER, limit_rows, other_rows
from web.api.schemas.customers import Horizon, LifetimeFigures, LifetimeValue
from web.api.schemas.envelope import LimitedMeta
from web.http.parameters import dimension as one_of

# dimension: (summary, its key columns, their fields in the answer)
_DIMENSIONS = {
    "form": ("ltv_form", ("form",), ("formId",)),
    "segment": ("ltv_segment", ("field", "value"), ("fieldId", "value")),
}

Line = dict[str, int]


def lifetime_value(query: Query, dimension: str) -> Answer[LifetimeValue]:
    """Lifetime value of customers, by the form or the answer that acquired them.

    `{dimension, rows}`: customers acquired in the window, and all their orders since then, to date. Order:
    netRevenueCents descending, then the form or the answer. At most 10,000 rows; the others are summed in
    the row `(other)`, so a customer can be in it several times.
    """
    summary, keys, names = _DIMENSIONS[dimension]
    ids, sums = _sums(query, summary, keys)
    found = limit_rows(
        sums,
        (sums["gross"] - sums["refunded"],),
        query.texts_of(*ids),
        query.limits.rows,
    )
    form_names: dict[str, str] = {}
    if dimension == "form":
        form_names = {**query.form_names([form_id for (form_id,) in found.texts]), OTHER: OTHER}
    rows = []
    for texts, line in found.rows():
        row: dict[str, Any] = dict(zip(names, texts, strict=True))
        if dimension == "form":
            row["formName"] = form_names.get(row["formId"])
        row |= figures(LifetimeFigures, line)
        row["horizons"] = [_horizon(horizon, line) for horizon in LTV_HORIZONS]
        rows.append(row)
    data = cast(LifetimeValue, {"dimension": dimension, "rows": rows})
    return Answer(data, meta=other_rows(found.others))


def _sums(query: Query, summary: str, keys: tuple[str, ...]) -> tuple[list[Column], Sums]:
    """The key columns and the sums, those of horizons too, of the rows with any figure."""
    cells = query.cells(summary, ("day", *keys))
    days = cells.pop("day")
    for horizon in LTV_HORIZONS:
        # Customers acquired too recently for a horizon add nothing to it.
        is_over = days + horizon <= query.today
        cells[f"customers_{horizon}"] = cells["customers"] * is_over
        cells[f"net_{horizon}"] = cells[f"net_{horizon}"] * is_over
    return with_figures(total(cells, keys), keys)


def horizon_clock(query: Query) -> tuple[int, int]:
    """Today, until every customer acquired in the window has all horizons behind them."""
    return min(query.today, query.window.last + max(LTV_HORIZONS)), NEVER


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
        meta=LimitedMeta,
        clock=horizon_clock,
    ),
)
