"""Errors: one JSON shape for every status, and the table of codes; pages for people have a page.

`{"error": {"code", "message", "requestId"}}`. A `Refusal` is raised wherever a request cannot be
answered; anything else that goes wrong becomes a 503 (the warehouse does not answer) or a 500, which
tells its cause to the log alone.
"""

from collections.abc import Mapping
from typing import Final

import orjson
from flask import Flask, Response, current_app, g, request
from sqlalchemy.exc import DBAPIError, InterfaceError, OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeout
from werkzeug.exceptions import HTTPException

from web.addresses import is_page
from web.logs import log_failure
from web.request_id import request_id

# The code of a status that is refused before any endpoint sees the request.
CODES: Final = {
    401: "unauthorized",
    403: "insufficient_scope",
    404: "not_found",
    405: "method_not_allowed",
    413: "payload_too_large",
    415: "unsupported_media_type",
    429: "rate_limited",
    500: "internal_error",
    503: "unavailable",
}

MESSAGES: Final = {
    404: "There is nothing at this address.",
    405: "This address does not take this method.",
    413: "The body is larger than 1 MiB.",
    500: "Something went wrong on our side.",
    503: "The warehouse does not answer. Try again in a moment.",
}


class Refusal(Exception):
    """A request that is answered with an error: status, code, a sentence for people, headers."""

    def __init__(
        self, status: int, code: str, message: str, headers: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        self.message = message
        self.headers = headers or {}


def malformed(code: str, message: str) -> Refusal:
    """A 400."""
    return Refusal(400, code, message)


def not_found() -> Refusal:
    """The same 404 for whatever does not exist or is another shop's."""
    return Refusal(404, CODES[404], MESSAGES[404])


def unauthorized() -> Refusal:
    """The same 401 for every key that does not open anything: the reason would help to guess."""
    return Refusal(
        401,
        CODES[401],
        "A valid API key is needed: `Authorization: Bearer <API_KEY>`.",
        {"WWW-Authenticate": "Bearer"},
    )


def register(app: Flask) -> None:
    app.register_error_handler(Refusal, _refused)
    app.register_error_handler(HTTPException, _http)
    app.register_error_handler(Exception, _failed)


def _refused(refusal: Refusal) -> Response:
    g.error = refusal.code
    if is_page(request.path):
        page: Response = current_app.extensions["error_page"](refusal)
        return page
    body = {
        "error": {
            "code": refusal.code,
            "message": refusal.message,
            "requestId": request_id(),
        }
    }
    return Response(
        orjson.dumps(body), refusal.status, dict(refusal.headers), mimetype="application/json"
    )


def _http(error: HTTPException) -> Response:
    """What Flask itself refuses: unknown paths and methods, bodies that are too large."""
    status = error.code or 500
    code = CODES.get(status, error.name.lower().replace(" ", "_"))
    # Only `Allow` and its like: the type and length belong to the HTML page that is not sent.
    headers = {
        name: value
        for name, value in error.get_headers()
        if name.lower() not in ("content-type", "content-length")
    }
    return _refused(Refusal(status, code, MESSAGES.get(status, error.name + "."), headers))


def _failed(error: Exception) -> Response:
    log_failure(request_id(), error)
    status = 503 if is_unavailable(error) else 500
    return _refused(Refusal(status, CODES[status], MESSAGES[status]))


def is_unavailable(error: Exception) -> bool:
    """Whether an exception says that the warehouse does not answer."""
    return isinstance(error, OperationalError | InterfaceError | PoolTimeout) or (
        isinstance(error, DBAPIError) and error.connection_invalidated
    )
