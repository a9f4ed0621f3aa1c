"""For every code of an error, a request that is refused with it: an operation's own, and one thing wrong."""

import os
import re
from dataclasses import replace
from typing import Any, Final
from unittest.mock import patch

from werkzeug.test import TestResponse

from tests.web.openapi.described import QUESTIONS, REQUEST, Described
from warehouse.shops import notes
from web.api.endpoint import Endpoint
from web.http.errors import CODES
from web.http.request_bodies import MAX_BYTES
from web.openapi.responses import errors_of, request_errors

# The fault of each code: in the address, in headers, or in the body's place.
_QUERY: Final = {
    "invalid_limit": {"limit": "0"},
    "invalid_range": {"range": "2026-02-30"},
    "invalid_format": {"format": "xml"},
    "invalid_form_ids": {"form_ids": "1"},
    "invalid_dimension": {"dimension": "colour"},
    "invalid_field": {"fieldA": ""},
    "invalid_clock": {"clock": "sun"},
    "invalid_within": {"within": "31"},
    "unknown_parameter": {"colour": "blue"},
    "invalid_filter": {"visitor": "sun"},
}
_HEADERS: Final = {
    "unauthorized": {"Authorization": "Bearer unknown"},
    "unsupported_media_type": {"Content-Type": "text/plain"},
    "invalid_idempotency_key": {"Idempotency-Key": "one, two"},
    "idempotency_key_reused": {"Idempotency-Key": "reused"},
    "precondition_failed": {"If-Match": 'W/"another"'},
}
_BODY: Final[dict[str, Any]] = {
    "invalid_json": b"{",
    "invalid_body": b"{}",
    "payload_too_large": b" " * (MAX_BYTES + 1),
}
_SETTINGS: Final = {"quota_exceeded": {"FORM_BYTES_PER_SHOP": "10"}}


# No request brings these about: too many requests, a fault, a warehouse that does not answer.
_BEYOND: Final = {429, 500, 503}


def codes_of(endpoint: Endpoint) -> dict[str, int]:
    """The codes that a request can bring about, with their statuses."""
    statuses = {int(status) for status in errors_of(endpoint)} - _BEYOND
    general = {CODES[status]: status for status in statuses & CODES.keys()}
    own = {code: status for status, codes in request_errors(endpoint).items() for code in codes}
    return general | own


def refused(service: Described, endpoint: Endpoint, code: str) -> TestResponse:
    """The answer to a request of the endpoint with that wrong which `code` stands for."""
    asked = next(one for one in QUESTIONS if one.operation == endpoint.operation)
    headers = dict(_HEADERS.get(code, {}))
    if code == "insufficient_scope":
        headers["Authorization"] = f"Bearer {service.keys_without[endpoint.scope or '']}"
    if code == "not_found":
        asked = replace(asked, path=f"/v1{re.sub('{.*?}', 'unknown', endpoint.path)}")
    if code == "idempotency_key_reused":
        service.send(asked, headers)
        asked = replace(asked, body={**(asked.body or {}), "name": "Another"})
    if code == "quota_exceeded" and endpoint.method == "PUT":
        # Longer than the draft that it replaces.
        asked = replace(asked, body={"draft_schema": {"text": "x" * 10_000}})
    if code == "idempotency_key_reused" and endpoint.path == "/notes":
        asked = replace(asked, body={**(asked.body or {}), "text": "Another"})
    most = 0 if code == "quota_exceeded" else notes.MOST
    asked = replace(asked, query=asked.query | _QUERY.get(code, {}))
    with patch.dict(os.environ, _SETTINGS.get(code, {})), patch.object(notes, "MOST", most):
        return service.send(asked, headers, _BODY.get(code))


def example(answer: TestResponse) -> Any:
    """The body of a refusal, with a fixed value for what differs from one run to the next."""
    body = answer.get_json()
    body["error"]["requestId"] = REQUEST
    return body
