"""The headers of every answer, whatever its status."""

from typing import Final

from flask import Response

from warehouse.settings import is_public_https
from web.http.current_request import current_request

# A year, as browsers ask for it. The domains below this one are not ours to speak for.
_HTTPS_ALONE: Final = "max-age=31536000"


def add(response: Response) -> Response:
    """The request's id, and its rate limit where it has one. Browsers take the content for what its type
    says, and come by HTTPS alone where people reach the service by it."""
    response.headers["X-Request-Id"] = current_request().request_id
    response.headers["X-Content-Type-Options"] = "nosniff"
    if is_public_https():
        response.headers["Strict-Transport-Security"] = _HTTPS_ALONE
    response.headers.update(current_request().rate_limit_headers)
    return response
