"""`{data, meta}`: what every successful answer is wrapped in."""

from collections.abc import Mapping
from typing import Any

import orjson
from flask import Response

from web.http.current_request import request_id
from web.http.parsed_request import ParsedRequest


def envelope(
    parsed: ParsedRequest,
    data: bytes,
    status: int,
    headers: Mapping[str, str],
    meta: Mapping[str, Any],
) -> Response:
    """A successful answer; `data` is JSON."""
    all_meta = {
        "requestId": request_id(),
        "shopId": parsed.caller.shop.shop_id,
        "credentialId": parsed.caller.credential_id,
        "range": {"from": parsed.window.start_text, "to": parsed.window.end_text},
        "currency": parsed.caller.shop.currency,
        "timezone": parsed.caller.shop.timezone,
        **meta,
    }
    body = b'{"data":%b,"meta":%b}' % (data, orjson.dumps(all_meta))
    return Response(body, status, dict(headers), mimetype="application/json")
