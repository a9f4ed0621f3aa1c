"""The headers of answers, each described once."""

from typing import Final

from web.endpoint import Endpoint
from web.openapi.schemas import Schema

_TEXT: Final = {"type": "string"}

HEADERS: Final[dict[str, Schema]] = {
    "X-Request-Id": {
        "description": "The id of the request, as in `meta`, in errors and in the service's log.",
        "required": True,
        "schema": {"type": "string", "pattern": "^req_[0-9a-f-]{36}$"},
    },
    "ETag": {
        "description": "Of this answer, for `If-None-Match`; of a form, also for `If-Match`.",
        "required": True,
        "schema": {"type": "string", "pattern": '^W/"[^"]+"$'},
    },
    "Last-Modified": {
        "description": "When the data last changed.",
        "required": True,
        "schema": _TEXT,
    },
    "Cache-Control": {
        "description": "An answer is for the client alone, and to be asked about before every use.",
        "required": True,
        "schema": _TEXT,
    },
    "Vary": {
        "description": "Which headers of the request the answer depends on.",
        "required": True,
        "schema": _TEXT,
    },
}


def reference(name: str) -> Schema:
    return {"$ref": f"#/components/headers/{name}"}


def sent_with(endpoint: Endpoint) -> dict[str, Schema]:
    """The headers of an endpoint's answer."""
    own: dict[str, Schema] = {
        name: {"description": description, "required": True, "schema": _TEXT}
        for name, description in endpoint.says.items()
    }
    names = HEADERS if endpoint.method == "GET" else ("X-Request-Id", "ETag")
    return own | {name: reference(name) for name in names}
