"""The headers of answers, each described once."""

from typing import Final

from web.endpoint import Endpoint
from web.openapi.schemas import Schema

# On every answer.
_ALL: Final = {
    "X-Request-Id": "The id of the request, as in `meta`, in errors and in the service's log.",
    "Vary": "Which headers of the request the answer depends on.",
}
_VALIDATORS: Final = {
    "ETag": "Of this answer, for `If-None-Match`; of a form, also for `If-Match`.",
    "Last-Modified": "When the data last changed.",
    "Cache-Control": "An answer is for the client alone, and to be asked about before every use.",
}
_LIMITS: Final = {
    "RateLimit-Policy": "How often the key may be used, where the service limits that: `q` requests in "
    "`w` seconds.",
    "RateLimit": "How many of them are left (`r`), and in how many seconds there are more (`t`).",
}
# What stands in `meta` of an answer as JSON.
_TABLE: Final = {
    "Content-Disposition": "Of a table: the name of the file.",
    "X-Shop-Id": "Of a table: the shop that the key belongs to, percent-encoded.",
    "X-Credential-Id": "Of a table: the API key used; never the key itself.",
    "X-Range-From": "Of a table: the first instant of the window.",
    "X-Range-To": "Of a table: the last instant of the window.",
}
_SCHEMAS: Final = {
    "X-Request-Id": {"type": "string", "pattern": "^req_[0-9a-f-]{36}$"},
    "ETag": {"type": "string", "pattern": '^W/"[^"]+"$'},
}

HEADERS: Final[dict[str, Schema]] = {
    name: {
        "description": description,
        "required": name in _ALL or name in _VALIDATORS,
        "schema": _SCHEMAS.get(name, {"type": "string"}),
    }
    for name, description in (_ALL | _VALIDATORS | _LIMITS | _TABLE).items()
}


def reference(name: str) -> Schema:
    return {"$ref": f"#/components/headers/{name}"}


def of_refusal() -> dict[str, Schema]:
    """The headers of any error."""
    return {name: reference(name) for name in (*_ALL, *_LIMITS)}


def of_answer(endpoint: Endpoint) -> dict[str, Schema]:
    """The headers of an endpoint's answer."""
    own: dict[str, Schema] = {
        name: {"description": description, "schema": {"type": "string"}}
        for name, description in endpoint.says.items()
    }
    names = [*_ALL, *_LIMITS]
    names += [*_VALIDATORS, *_TABLE] if endpoint.method == "GET" else ["ETag"]
    return own | {name: reference(name) for name in names}


def of_unchanged() -> dict[str, Schema]:
    """The headers of a 304."""
    return {name: reference(name) for name in (*_ALL, "ETag", "Cache-Control", *_LIMITS)}
