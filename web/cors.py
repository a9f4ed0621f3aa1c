"""Pages of other origins may read the API where the setting CORS_ORIGINS names them (`*`: all of them).

A key is all that opens the API, and is sent by the page itself: cookies have no part in it, and no
origin is ever let in with the browser's own. The settings pages are for no other origin.
"""

from typing import Final

from flask import Flask, Response, request

from warehouse.settings import CORS_ORIGINS
from web.addresses import is_page
from web.varying import vary_by

_SENT: Final = "Authorization, Content-Type, Idempotency-Key, If-Match, If-None-Match"
_SHOWN: Final = ", ".join(
    (
        "Content-Disposition",
        "ETag",
        "Link",
        "Location",
        "RateLimit",
        "RateLimit-Policy",
        "Retry-After",
        "X-Credential-Id",
        "X-Range-From",
        "X-Range-To",
        "X-Request-Id",
        "X-Shop-Id",
    )
)
# For how long a browser remembers what it may send, as long as any does.
_REMEMBERED_SECONDS: Final = 7_200


def register(app: Flask) -> None:
    """Let the origins of the setting in; without one, say nothing at all."""
    origins: tuple[str, ...] = CORS_ORIGINS.get()

    def share(response: Response) -> Response:
        if is_page(request.path):
            return response
        origin = request.headers.get("Origin", "")
        if "*" in origins:
            origin = "*"
        else:
            vary_by(response, "Origin")
            if origin not in origins:
                return response
        response.headers["Access-Control-Allow-Origin"] = origin
        asked = request.headers.get("Access-Control-Request-Method")
        if request.method == "OPTIONS" and asked and "Allow" in response.headers:
            response.headers["Access-Control-Allow-Methods"] = response.headers["Allow"]
            response.headers["Access-Control-Allow-Headers"] = _SENT
            response.headers["Access-Control-Max-Age"] = str(_REMEMBERED_SECONDS)
        else:
            response.headers["Access-Control-Expose-Headers"] = _SHOWN
        return response

    if origins:
        app.after_request(share)
