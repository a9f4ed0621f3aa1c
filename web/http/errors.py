"""Errors: one JSON shape for every status, and the table of codes; pages for people have a page.

`{"error": {"code", "message", "requestId"}}`. A `Refusal` is raised wherever a request cannot be
answered; anything else that goes wrong becomes a 503 (the warehouse does not answer) or a 500, which
tells its cause to the log alone.
"""

import errno
from collections.abc import Callable, Mapping
from typing import Final

import orjson
from flask import Flask, Response, request
from sqlalchemy.exc import DBAPIError, InterfaceError, OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeout
from werkzeug.exceptions import HTTPException

from warehouse.connections.errors import Unavailable, is_damaged, is_full
from web.http.current_request import current_request, request_id
from web.http.request_log import log_failure

SETTINGS: Final = "/settings"
STATIC: Final = f"{SETTINGS}/static"
"""Where files of pages are: for everyone, and the page of an error loads some."""

PAGES: Final = (
    "settings",
    "forms",
    "revenue",
    "discounts",
    "ads",
    "customers",
    "orders",
    "notes",
    "shops",
    "data",
    "setup",
)
"""The first parts of the addresses of pages for people; `/` is a page, too. Every other address belongs to
the API."""

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

# Files have run out, of this process or of the machine: some are closed soon.
_NO_MORE_FILES: Final = (errno.EMFILE, errno.ENFILE)
# Seconds after which a client may ask again.
RETRY_SOON: Final = {"Retry-After": "1"}


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
    """A 404, the same for what does not exist and for what is another shop's."""
    return Refusal(404, CODES[404], MESSAGES[404])


def unauthorized() -> Refusal:
    """A 401, the same for every key that does not open anything: the reason would help to guess."""
    return Refusal(
        401,
        CODES[401],
        "A valid API key is needed: `Authorization: Bearer <API_KEY>`.",
        {"WWW-Authenticate": "Bearer"},
    )


def is_page(path: str) -> bool:
    return path == "/" or path.split("/", 2)[1] in PAGES


def asks_for_page() -> bool:
    """Whether the request at hand is for a page, or for a table of one; at `/`, programs get JSON."""
    return request.path != "/" or _is_browser() or "csv" in request.args


def _is_browser() -> bool:
    return "text/html" in request.headers.get("Accept", "")


def register(app: Flask, error_page: Callable[[Refusal], Response]) -> None:
    """Answer what goes wrong in an application: to pages with `error_page`, else as JSON."""

    def answer_refusal(refusal: Refusal) -> Response:
        # On pages, and for unknown addresses opened in a browser.
        wants_page = is_page(request.path) and asks_for_page()
        if request.url_rule is None and not request.path.startswith("/v1"):
            wants_page = _is_browser() or is_page(request.path)
        if not wants_page:
            headers = dict(refusal.headers)
            return Response(
                error_body(refusal), refusal.status, headers, mimetype="application/json"
            )
        current_request().error = refusal.code
        return error_page(refusal)

    def answer_flask(error: HTTPException) -> Response:
        """The answer to what Flask itself refuses: unknown paths and methods, bodies that are too large."""
        status = error.code or 500
        code = CODES.get(status, error.name.lower().replace(" ", "_"))
        # Only `Allow` and its like: the type and length belong to the HTML page that is not sent.
        headers = {
            name: value
            for name, value in error.get_headers()
            if name.lower() not in ("content-type", "content-length")
        }
        message = MESSAGES.get(status, error.name + ".")
        return answer_refusal(Refusal(status, code, message, headers))

    app.register_error_handler(Refusal, answer_refusal)
    app.register_error_handler(HTTPException, answer_flask)
    app.register_error_handler(Exception, lambda error: answer_refusal(refusal_of_failure(error)))


def error_body(refusal: Refusal) -> bytes:
    """An error as JSON; the log of the request gets its code."""
    current_request().error = refusal.code
    error = {"code": refusal.code, "message": refusal.message, "requestId": request_id()}
    return orjson.dumps({"error": error})


def refusal_of_failure(error: Exception) -> Refusal:
    """The 503 or the 500 for what went wrong, which is written to the log."""
    log_failure(request_id(), error)
    if is_unavailable(error):
        message = str(error) if isinstance(error, Unavailable) else MESSAGES[503]
        if is_full(error):
            message = (
                "The disk of the warehouse is full. Nothing can be written until some is free."
            )
        return Refusal(503, CODES[503], message, RETRY_SOON)
    return Refusal(500, CODES[500], MESSAGES[500])


def is_unavailable(error: Exception) -> bool:
    """Whether an exception says that the warehouse does not answer, or that there are no more files."""
    if isinstance(error, OSError) and error.errno in _NO_MORE_FILES:
        return True
    if not isinstance(error, DBAPIError):
        return isinstance(error, PoolTimeout | Unavailable)
    is_lost = isinstance(error, OperationalError | InterfaceError) or error.connection_invalidated
    return is_lost or is_damaged(error.orig or error)
