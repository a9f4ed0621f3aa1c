"""What the requests of an endpoint can have: in the address, and in headers."""

from web.endpoint import Endpoint
from web.formats import FORMAT
from web.parameters import Parameter, RequestHeader
from web.validators import IF_NONE_MATCH


def query_of(endpoint: Endpoint) -> tuple[Parameter, ...]:
    """The parameters of the address, but for `range`."""
    return (*endpoint.parameters, FORMAT) if endpoint.method == "GET" else endpoint.parameters


def headers_of(endpoint: Endpoint) -> tuple[RequestHeader, ...]:
    return (IF_NONE_MATCH,) if endpoint.method == "GET" else endpoint.takes
