"""Analytics of one form (endpoints 6 to 13).

Funnel (6), devices (9), visitor conversion (10) and trends (13) are here; each other endpoint has a module
of its own.
"""

from typing import Final

from warehouse.domain.vocabulary import DEVICES, VISITOR_LEVELS, VISITOR_TYPES, visitor_kind
from web.api.cross_field import cross_field, require_two_fields
from web.api.endpoint import Endpoint
from web.api.endpoint import blueprint as resource
from web.api.figures import any_figure, figures, zeros
from web.api.query import Query
from web.api.response_revenue import response_revenue
from web.api.rounding import percent
from web.api.schemas.envelope import LimitedMeta
from web.api.schemas.forms import (
    DeviceRow,
    Funnel,
    FunnelFigures,
    RatedFigures,
    Stage,
    StageName,
    TrendRow,
)
from web.api.schemas.sessions import VisitorRow
from web.api.step_dropoff import step_dropoff
from web.api.time_to_complete import time_to_complete
from web.http.parameters import field

# Each stage of the funnel with its measure.
_STAGES: Final[tuple[tuple[StageName, str], ...]] = (
    ("view", "views"),
    ("start", "starts"),
    ("submit", "submissions"),
    ("convert", "converted"),
)


def form_funnel(query: Query) -> Funnel:
    """A form's funnel: from view to start, submission and order, with rates and revenue.

    One object for the whole window. Orders and revenue are on the submission clock.
    """
    sums = query.form_outcomes("funnel", within=None).total()
    stages: list[Stage] = []
    previous = sums["views"]
    for stage, measure in _STAGES:
        count = sums[measure]
        stages.append(
            {
                "stage": stage,
                "count": count,
                "rateFromPrevious": percent(count, previous),
                "rateFromFirst": percent(count, sums["views"]),
            }
        )
        previous = count
    return {
        "formId": query.form_id,
        "formName": query.form_names([query.form_id])[query.form_id],
        **figures(FunnelFigures, sums),
        "stages": stages,
    }


def form_devices(query: Query) -> list[DeviceRow]:
    """The funnel by device type.

    A row per device type with any figure, by views descending, then name. Orders and revenue are on the
    submission clock.
    """
    sums = query.form_outcomes("device", within=None, by=("device",))
    views = int(sums["views"].sum())
    rows: list[DeviceRow] = [
        {
            "deviceType": DEVICES[line["device"]],
            **figures(RatedFigures, line),
            "shareOfViews": percent(line["views"], views),
        }
        for line in sums.rows()
        if any_figure(line, "device")
    ]
    return sorted(rows, key=lambda row: (-row["views"], row["deviceType"]))


def visitor_conversion(query: Query) -> list[VisitorRow]:
    """How many visitors submit, and how many buy.

    Three rows, `all`, `new` and `returning`: distinct visitors with a view, a submission and a converted
    submission in the window.
    """
    by_kind = query.visitors(within=None)
    rows: list[VisitorRow] = []
    for index, name in enumerate(VISITOR_TYPES):
        visitors, submitters, purchasers = (
            by_kind.get(visitor_kind(index, level), 0) for level in range(len(VISITOR_LEVELS))
        )
        rows.append(
            {
                "visitorType": name,
                "visitors": visitors,
                "submitters": submitters,
                "purchasers": purchasers,
                "submissionRate": percent(submitters, visitors),
                "purchaseRate": percent(purchasers, visitors),
                "conversionRate": percent(purchasers, submitters),
            }
        )
    return rows


def form_trends(query: Query) -> list[TrendRow]:
    """A form day by day.

    A row per day of the window. Milestones and submissions are dated by their own day. Orders and revenue
    are those credited to the form, by the day of the order.
    """
    submitted = query.form_outcomes("funnel", within=None, by=("day",))
    funnels = {line["day"]: line for line in submitted.rows()}
    orders = {line["day"]: line for line in query.form_sums("form_orders", by=("day",)).rows()}
    no_funnel, no_orders = zeros("funnel", "outcome"), zeros("form_orders")
    rows: list[TrendRow] = []
    for day, date in query.window.dates():
        sums = funnels.get(day, no_funnel) | orders.get(day, no_orders)
        rows.append({"date": date, **figures(RatedFigures, sums)})
    return rows


_SCOPE: Final = "analytics:read"
_FIELDS: Final = (field("fieldA", "field_a"), field("fieldB", "field_b"))

blueprint = resource(
    "form_analytics",
    Endpoint("GET", "/forms/{id}/funnel", _SCOPE, form_funnel),
    Endpoint("GET", "/forms/{id}/steps/dropoff", _SCOPE, step_dropoff),
    Endpoint("GET", "/forms/{id}/time-to-complete", _SCOPE, time_to_complete),
    Endpoint("GET", "/forms/{id}/devices", _SCOPE, form_devices),
    Endpoint("GET", "/forms/{id}/visitor-conversion", _SCOPE, visitor_conversion),
    Endpoint(
        "GET", "/forms/{id}/cross-field", _SCOPE, cross_field, _FIELDS, rule=require_two_fields
    ),
    Endpoint("GET", "/forms/{id}/response-revenue", _SCOPE, response_revenue, meta=LimitedMeta),
    Endpoint("GET", "/forms/{id}/trends", _SCOPE, form_trends),
)
