"""What one form's address opens: endpoints 6 to 13, all on the submission clock but trends."""

from web.endpoint import Endpoint
from web.endpoint import blueprint as resource
from web.funnel import devices, funnel, trends
from web.visitors import visitor_conversion

_SCOPE = "analytics:read"

blueprint = resource(
    "form_analytics",
    Endpoint("GET", "/forms/{id}/funnel", _SCOPE, funnel),
    Endpoint("GET", "/forms/{id}/devices", _SCOPE, devices),
    Endpoint("GET", "/forms/{id}/visitor-conversion", _SCOPE, visitor_conversion),
    Endpoint("GET", "/forms/{id}/trends", _SCOPE, trends),
)
