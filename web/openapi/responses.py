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
from web.http.parameters import UNKNOWN_PARAMETER
from web.http.response_headers import ALL, GET, HTTPS, LIMITED, RESPONSE_HEADERS, SOME, TABLE

EXAMPLES_FILE: Final = Path(__file__).with_name("examples.json")
EXAMPLES: Final[dict[str, Any]] = orjson.loads(EXAMPLES_FILE.read_bytes())
"""`answers` by operation and name, the bodies of `requests` by operation, `errors` by code."""


def _described(name: str, **required: bool) -> Schema:
    """A header of responses."""
    header = RESPONSE_HEADERS[name]
    schema = {"type": "string", **header.schema}
    return {"description": header.sentence, **required, "schema": schema}


HEADERS: Final[dict[str, Schema]] = {
    name: _described(name, required=header.group in (ALL, GET))
    for name, header in RESPONSE_HEADERS.items()
    if header.group != SOME
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
    409: "The shop has as many forms, bytes of forms, or notes as it may have",
    412: "The form is no longer the version that `If-Match` names",
    422: "The `Idempotency-Key` was already used with another body",
}
# The headers that an error has besides those of all answers.
_OF_ERRORS: Final = {401: "WWW-Authenticate", 429: "Retry-After", 503: "Retry-After"}


def answer_headers(endpoint: Endpoint) -> dict[str, Schema]:
    """The headers of an endpoint's answer."""
    own = {name: _described(name) for name in endpoint.response_headers}
    of_get = _headers(GET, TABLE) if endpoint.method == "GET" else _refer("ETag")
    return own | _headers(ALL, HTTPS, LIMITED) | of_get


def not_modified() -> Schema:
    headers = _headers(ALL, HTTPS) | _refer("ETag", "Cache-Control") | _headers(LIMITED)
    return {"description": "The client already has this answer.", "headers": headers}


def errors_of(endpoint: Endpoint) -> dict[str, Schema]:
    """The error responses of an endpoint by status: references to those of `error_responses`."""
    statuses = [401, 429, 500, 503]
    statuses += [403] if endpoint.scope else []
    statuses += [404] if "{" in endpoint.path else []
    statuses += [413, 415] if endpoint.body else []
    names = {status: CODES[status] for status in statuses}
    names |= {status: _name(codes) for status, codes in request_errors(endpoint).items()}
    return {
        str(status): {"$ref": f"#/components/responses/{name}"}
        for status, name in sorted(names.items())
    }


def error_responses(endpoints: Iterable[Endpoint]) -> dict[str, Schema]:
    """Every error response of the endpoints, by its codes."""
    responses = {}
    for status, meaning in _GENERAL.items():
        header, code = _OF_ERRORS.get(status), CODES[status]
        own = {header: _described(header, required=True)} if header else {}
        responses[code] = _response(f"{meaning} The code is `{code}`.", [code], own)
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
    pairs.append((400, UNKNOWN_PARAMETER))
    for header in endpoint.request_headers:
        pairs += header.refusals.items()
    pairs += endpoint.refusals.items()
    by_status: dict[int, list[str]] = {}
    for status, code in dict.fromkeys(pairs):
        by_status.setdefault(status, []).append(code)
    return by_status


def _name(codes: Iterable[str]) -> str:
    return "-or-".join(codes)


def _headers(*groups: str) -> dict[str, Schema]:
    """The headers of these groups, each group in its turn."""
    return _refer(
        *(
            name
            for group in groups
            for name, header in RESPONSE_HEADERS.items()
            if header.group == group
        )
    )


def _refer(*names: str) -> dict[str, Schema]:
    return {name: {"$ref": f"#/components/headers/{name}"} for name in names}


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
        "headers": {**_headers(ALL, HTTPS, LIMITED), **own_headers},
        "content": {"application/json": content},
    }
