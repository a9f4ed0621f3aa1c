"""Errors on the pages: a page, where the API has JSON. Neither shows more than its sentence."""

from typing import Final

from flask import Response, make_response, render_template

from web.errors import Refusal
from web.request_id import request_id
from web.settings.pages import add_headers

_TITLES: Final = {
    400: "That did not work",
    403: "Not allowed",
    404: "Not found",
    405: "Not found",
    413: "Too much at once",
    500: "Something went wrong",
    503: "Try again in a moment",
}


def page(refusal: Refusal) -> Response:
    """The page of a refusal; it asks nothing of the warehouse, which may be what does not answer."""
    title = _TITLES.get(refusal.status, "That did not work")
    body = render_template(
        "settings/error.html", title=title, message=refusal.message, request_id=request_id()
    )
    return add_headers(make_response(body, refusal.status, dict(refusal.headers)))
