"""The origins whose pages may read the API: those that the setting CORS_ORIGINS names (`*`: all of them).

A key is all that opens the API, and the page itself sends it: cookies have no part in it, so no answer
allows credentials. The settings pages are open to no other origin.
"""

import re
from typing import Final

from flask import Flask
from flask_cors import CORS

from warehouse.settings import CORS_ORIGINS
from web.http.errors import PAGES
from web.http.response_headers import EXPOSED

_METHODS: Final = ("GET", "HEAD", "OPTIONS", "POST", "PUT", "DELETE")
_REQUEST_HEADERS: Final = (
    "Authorization",
    "Content-Type",
    "Idempotency-Key",
    "If-Match",
    "If-None-Match",
    # of an assistant
    "MCP-Protocol-Version",
    "Mcp-Method",
    "Mcp-Name",
)
# The time for which a browser remembers what it may send.
_MAX_AGE_SECONDS: Final = 7_200


def register(app: Flask) -> None:
    """Let the origins of the setting in; without one, add nothing to any answer."""
    origins: tuple[str, ...] = CORS_ORIGINS.get()
    if not origins:
        return
    CORS(
        app,
        resources=re.compile(rf"(?!/(({'|'.join(PAGES)})(/|$)|$)).*"),
        # Patterns that match the whole: the library would take an origin with a `*` for one that
        # matches the beginning.
        origins="*" if "*" in origins else [re.compile(f"{re.escape(o)}$") for o in origins],
        methods=_METHODS,
        allow_headers=_REQUEST_HEADERS,
        expose_headers=EXPOSED,
        max_age=_MAX_AGE_SECONDS,
        send_wildcard=True,
        intercept_exceptions=False,
    )
