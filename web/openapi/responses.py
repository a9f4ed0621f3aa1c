"""The headers of all responses; and the error responses, which operations share by reference."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final

import orjson

from web.api.endpoint import Endpoint
from web.api.meta import ERROR
from web.api.rows import Schema
from web.http.content_type import FORMAT
from web.http.errors import CODES

EXAMPLES_FILE: Final = Path(__file__).with_name("examples.json")
EXAMPLES: Final[dict[str, Any]] = orjson.loads(EXAMPLES_FILE.read_bytes())
"""`answers` by operation and name, the bodies of `requests` by operation, `errors` by code."""

# On every response.
_ALL: Final = {
    "X-Request-Id": "The id of the request. It is also in `meta`, in errors and in the service's log.",
    "X-Content-Type-Options": "Always `nosniff`: the content is of the type that `Content-Type` names.",
    "Vary": "The request headers on which the answer depends.",
}
_VALIDATORS: Final = {
    "ETag": "The version of the answer, for `If-None-Match`. The one of a form also works in `If-Match`.",
    "Last-Modified": "When the data last changed.",
    "Cache-Control": "Only the client may keep the answer, and it must ask before every use whether the "
    "answer is still the same.",
}
_LIMITS: Final = {
    "RateLimit-Policy": "If the service limits requests: the keys of the shop together may send `q` "
    "requests in `w` seconds.",
    "RateLimit": "If the service limits requests: `r` requests are left, and in `t` seconds there are more.",
}
_TRANSPORT: Final = {
    "Strict-Transport-Security": "If the service is reached over HTTPS: browsers use nothing else.",
}
_TABLE: Final = {
    "Content-Disposition": "CSV only: the name of the file.",
    "X-Shop-Id": "CSV only: `meta.shopId`, percent-encoded.",
    "X-Credential-Id": "CSV only: `meta.credentialId`.",
    "X-Range-From": "CSV only: `meta.range.from`.",
    "X-Range-To": "CSV only: `meta.range.to`.",
    "X-Currency": "CSV only: `meta.currency`.",
    "X-Timezone": "CSV only: `meta.timezone`.",
    "X-Data-Through": "CSV only: `meta.dataThrough`. Absent if that is null.",
    "X-Other-Rows": "CSV only: `meta.otherRows`. Absent if the table has all rows.",
}
_SCHEMAS: Final = {
    "X-Request-Id": {"type": "string", "pattern": "^req_[0-9a-f-]{36}$"},
    "X-Content-Type-Options": {"type": "string", "const": "nosniff"},
    "ETag": {"type": "string", "pattern": '^W/"[^"]+"$'},
}

HEADERS: Final[dict[str, Schema]] = {
    name: {
        "description": description,
        "required": name in _ALL or name in _VALIDATORS,
        "schema": _SCHEMAS.get(name, {"type": "string"}),
    }
    for name, description in (_ALL | _TRANSPORT | _VALIDATORS | _LIMITS | _TABLE).items()
}

# Errors that any endpoint can answer with; those of `_REQUEST` are about the request itself.
_GENERAL: Final = {
    401: "There is no key, or it is malformed, unknown, expired or revoked.",
    403: "The key lacks the scope that the endpoint needs.",
    404: "The form id is not a UUID, is unknown, or belongs to another shop. These cases look the same.",
    413: "The body is larger than 1 MiB.",
    415: "The request has no `Content-Type: application/json`.",
    429: "The keys of the shop have sent more requests than the service allows, too many requests of the "
    "shop are in progress, or the address has sent too many requests without a valid key.",
    500: "The service failed. Its log has the cause under the `requestId`.",
    503: "The warehouse does not answer, or the service is too busy.",
}
_REQUEST: Final = {
    400: "The request is malformed",
    409: "The shop has as many forms, or as many bytes of forms, as its quota allows",
    412: "The form is no longer the version that `If-Match` names",
    422: "The `Idempotency-Key` was already used with another body",
}
_RETRY_AFTER: Final[dict[str, Schema]] = {
    "Retry-After": {
        "description": "Wait this many seconds before the next request.",
        "required": True,
        "schema": {"type": "integer", "minimum": 1},
    }
}
_OWN_HEADERS: Final[dict[int, dict[str, Schema]]] = {
    401: {
        "WWW-Authenticate": {
            "description": "How to send a key.",
            "required": True,
            "schema": {"type": "string", "const": "Bearer"},
        }
    },
    429: _RETRY_AFTER,
    503: _RETRY_AFTER,
}


def answer_headers(endpoint: Endpoint) -> dict[str, Schema]:
    """The headers of an endpoint's answer."""
    own: dict[str, Schema] = {
        name: {"description": description, "schema": {"type": "string"}}
        for name, description in endpoint.response_headers.items()
    }
    names = [*_ALL, *_TRANSPORT, *_LIMITS]
    names += [*_VALIDATORS, *_TABLE] if endpoint.method == "GET" else ["ETag"]
    return own | _headers(names)


def not_modified() -> Schema:
    return {
        "description": "The client already has this answer.",
        "headers": _headers([*_ALL, *_TRANSPORT, "ETag", "Cache-Control", *_LIMITS]),
    }


def errors_of(endpoint: Endpoint) -> dict[str, Schema]:
    """The error responses of an endpoint by status: references to those of `error_responses`."""
    statuses = [401, 429, 500, 503]
    statuses += [403] if endpoint.scope else []
    statuses += [404] if "{id}" in endpoint.path else []
    statuses += [413, 415] if endpoint.body else []
    names = {status: CODES[status] for status in statuses}
    names |= {status: _name(codes) for status, codes in request_errors(endpoint).items()}
    return {
        str(status): {"$ref": f"#/components/responses/{name}"}
        for status, name in sorted(names.items())
    }


def error_responses(endpoints: Iterable[Endpoint]) -> dict[str, Schema]:
    """Every error response of the endpoints, by its codes."""
    responses = {CODES[status]: _general(status, meaning) for status, meaning in _GENERAL.items()}
    for endpoint in endpoints:
        for status, codes in request_errors(endpoint).items():
            names = " or ".join(f"`{code}`" for code in codes)
            responses[_name(codes)] = _response(f"{_REQUEST[status]}: {names}.", codes)
    return responses


def request_errors(endpoint: Endpoint) -> dict[int, list[str]]:
    """The codes of what can be wrong with a request itself, by status."""
    pairs: list[tuple[int, str]] = []
    if endpoint.body:
        pairs += [(400, "invalid_json"), (400, "invalid_body")]
    pairs += [(400, parameter.code) for parameter in endpoint.parameters if parameter.code]
    if endpoint.ranged:
        pairs.append((400, "invalid_range"))
    if endpoint.method == "GET" and FORMAT.code:
        pairs.append((400, FORMAT.code))
    for header in endpoint.request_headers:
        pairs += header.refusals.items()
    pairs += endpoint.refusals.items()
    by_status: dict[int, list[str]] = {}
    for status, code in dict.fromkeys(pairs):
        by_status.setdefault(status, []).append(code)
    return by_status


def _name(codes: Iterable[str]) -> str:
    return "-or-".join(codes)


def _headers(names: Iterable[str]) -> dict[str, Schema]:
    return {name: {"$ref": f"#/components/headers/{name}"} for name in names}


def _general(status: int, meaning: str) -> Schema:
    code = CODES[status]
    return _response(f"{meaning} The code is `{code}`.", [code], _OWN_HEADERS.get(status, {}))


def _response(
    description: str, codes: Iterable[str], own_headers: Mapping[str, Schema] = {}
) -> Schema:
    recorded = EXAMPLES["errors"]
    examples = {code: {"value": recorded[code]} for code in codes if code in recorded}
    content: Schema = {"schema": ERROR.reference}
    if examples:
        content["examples"] = examples
    return {
        "description": description,
        "headers": {**_headers([*_ALL, *_TRANSPORT, *_LIMITS]), **own_headers},
        "content": {"application/json": content},
    }
