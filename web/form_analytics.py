"""What one form's address opens: endpoints 6 to 13."""

from collections.abc import Callable
from typing import Any

from web import cross_field, durations, funnel, responses, steps, visitors
from web.endpoint import Endpoint
from web.endpoint import blueprint as resource
from web.parameters import Parameter, field

_FIELDS = (field("fieldA", "field_a"), field("fieldB", "field_b"))


def _of_form(
    path: str,
    answer: Callable[..., Any],
    columns: tuple[str, ...],
    parameters: tuple[Parameter, ...] = (),
) -> Endpoint:
    return Endpoint(
        "GET", f"/forms/{{id}}/{path}", "analytics:read", answer, parameters, columns=columns
    )


blueprint = resource(
    "form_analytics",
    _of_form("funnel", funnel.funnel, funnel.FUNNEL_COLUMNS),
    _of_form("steps/dropoff", steps.dropoff, steps.COLUMNS),
    _of_form("time-to-complete", durations.time_to_complete, durations.COLUMNS),
    _of_form("devices", funnel.devices, funnel.DEVICE_COLUMNS),
    _of_form("visitor-conversion", visitors.visitor_conversion, visitors.COLUMNS),
    _of_form("cross-field", cross_field.cross_field, cross_field.COLUMNS, _FIELDS),
    _of_form("response-revenue", responses.response_revenue, responses.COLUMNS),
    _of_form("trends", funnel.trends, funnel.TREND_COLUMNS),
)
