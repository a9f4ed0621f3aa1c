"""`{data, meta}`: what every successful answer is wrapped in."""

from collections.abc import Mapping
from typing import Any

import orjson
from flask import Response

from web.asking import Asked
from web.request_id import request_id


def envelope(
    asked: Asked, data: bytes, status: int, headers: Mapping[str, str], meta: Mapping[str, Any]
) -> Response:
    """`data` is JSON already: an answer may be given many times, and is encoded once."""
    own = {
        "requestId": request_id(),
        "shopId": asked.caller.shop.shop_id,
        "credentialId": asked.caller.credential_id,
        "range": {"from": asked.window.start_text, "to": asked.window.end_text},
        **meta,
    }
    body = b'{"data":%b,"meta":%b}' % (data, orjson.dumps(own))
    return Response(body, status, dict(headers), mimetype="application/json")
