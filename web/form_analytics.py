"""What one form's address opens: endpoints 6 to 13."""

from web.cross_field import cross_field, two_fields
from web.durations import time_to_complete
from web.endpoint import Endpoint
from web.endpoint import blueprint as resource
from web.funnel import form_devices, form_funnel, form_trends
from web.parameters import field
from web.responses import response_revenue
from web.steps import step_dropoff
from web.visitors import visitor_conversion

_SCOPE = "analytics:read"
_FIELDS = (field("fieldA", "field_a"), field("fieldB", "field_b"))

blueprint = resource(
    "form_analytics",
    Endpoint("GET", "/forms/{id}/funnel", _SCOPE, form_funnel),
    Endpoint("GET", "/forms/{id}/steps/dropoff", _SCOPE, step_dropoff),
    Endpoint("GET", "/forms/{id}/time-to-complete", _SCOPE, time_to_complete),
    Endpoint("GET", "/forms/{id}/devices", _SCOPE, form_devices),
    Endpoint("GET", "/forms/{id}/visitor-conversion", _SCOPE, visitor_conversion),
    Endpoint("GET", "/forms/{id}/cross-field", _SCOPE, cross_field, _FIELDS, rule=two_fields),
    Endpoint("GET", "/forms/{id}/response-revenue", _SCOPE, response_revenue),
    Endpoint("GET", "/forms/{id}/trends", _SCOPE, form_trends),
)
