"""The errors that an endpoint can answer with, each with its status, its codes and its headers."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from web.endpoint import Endpoint
from web.errors import CODES, MESSAGES, Refusal, unauthorized
from web.openapi import headers
from web.openapi.requests import headers_of, query_of
from web.openapi.schemas import Schema, reference
from web.shapes.envelope import ErrorDetail

_MEANINGS: Final = {
    401: "No key, or a malformed, unknown, expired or revoked one.",
    403: "The key lacks the scope that the endpoint requires.",
    404: "The form id is no UUID, is unknown, or is another shop's, which look the same.",
    413: "The body is larger than 1 MiB.",
    415: "The body does not come as `application/json`.",
    429: "The key has been used more often than the service allows; or too many requests without a "
    "valid key came from the address.",
    500: "Something went wrong in the service; its log has the cause under the `requestId`.",
    503: "The warehouse does not answer.",
}
_OWN_MEANINGS: Final = {
    400: "The request is malformed, as `code` says.",
    412: "The form is no longer the one that `If-Match` names.",
    422: "The `Idempotency-Key` came with another body before.",
}
_SAMPLE_ID: Final = "req_0199b7c2-7d5e-7000-8000-000000000000"


def responses() -> dict[str, Schema]:
    """Every error that means the same wherever it comes, by its code."""
    return {CODES[status]: _shared(status, meaning) for status, meaning in _MEANINGS.items()}


def refusals_of(endpoint: Endpoint, examples: Mapping[str, Any]) -> dict[str, Schema]:
    """By status, the errors of an endpoint; with examples of its own, by code."""
    statuses = [401, *_if(endpoint.scope, 403), *_if("{id}" in endpoint.path, 404)]
    statuses += [*_if(endpoint.body, 413), *_if(endpoint.body, 415), 429, 500, 503]
    found = {
        str(status): {"$ref": f"#/components/responses/{CODES[status]}"} for status in statuses
    }
    by_status: dict[int, list[str]] = {}
    for status, code in own_refusals(endpoint):
        by_status.setdefault(status, []).append(code)
    for status, codes in by_status.items():
        response = _response(_OWN_MEANINGS[status], list(dict.fromkeys(codes)))
        content = response["content"]["application/json"]
        content["examples"] = {code: {"value": examples[code]} for code in codes}
        found[str(status)] = response
    return dict(sorted(found.items()))


def own_refusals(endpoint: Endpoint) -> Iterator[tuple[int, str]]:
    """Statuses and codes of what is wrong with a request itself; a code can come twice."""
    if endpoint.body:
        yield from ((400, "invalid_json"), (400, "invalid_body"))
    yield from ((400, one.code) for one in query_of(endpoint) if one.code)
    if endpoint.ranged:
        yield 400, "invalid_range"
    for header in headers_of(endpoint):
        yield from header.refusals.items()


def _if(condition: Any, status: int) -> list[int]:
    return [status] if condition else []


def _shared(status: int, meaning: str) -> Schema:
    code = CODES[status]
    response = _response(meaning, [code])
    if status == 401:
        raised = unauthorized()
        response["headers"]["WWW-Authenticate"] = {
            "description": "How to give a key.",
            "required": True,
            "schema": {"type": "string", "const": raised.headers["WWW-Authenticate"]},
        }
        response["content"]["application/json"]["example"] = _example(raised)
    elif status == 429:
        response["headers"]["Retry-After"] = {
            "description": "The seconds after which to try again.",
            "required": True,
            "schema": {"type": "integer", "minimum": 1},
        }
    elif status in MESSAGES:
        refusal = Refusal(status, code, MESSAGES[status])
        response["content"]["application/json"]["example"] = _example(refusal)
    return response


def _response(description: str, codes: list[str]) -> Schema:
    detail = {"allOf": [reference(ErrorDetail), {"properties": {"code": {"enum": codes}}}]}
    schema = {"type": "object", "required": ["error"], "properties": {"error": detail}}
    return {
        "description": description,
        "headers": headers.of_refusal(),
        "content": {"application/json": {"schema": schema}},
    }


def _example(refusal: Refusal) -> Schema:
    return {"error": {"code": refusal.code, "message": refusal.message, "requestId": _SAMPLE_ID}}
