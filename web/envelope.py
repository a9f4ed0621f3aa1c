"""`{data, meta}`: what every successful answer is wrapped in."""

from collections.abc import Mapping
from typing import Any

import orjson
from flask import Response

from web.callers import Caller
from web.ranges import Window
from web.request_id import request_id


def envelope(
    data: Any,
    caller: Caller,
    window: Window,
    status: int,
    headers: Mapping[str, str],
    meta: Mapping[str, Any],
) -> Response:
    body = {
        "data": data,
        "meta": {
            "requestId": request_id(),
            "shopId": caller.shop.shop_id,
            "credentialId": caller.credential_id,
            "range": {"from": window.start_text, "to": window.end_text},
            **meta,
        },
    }
    return Response(orjson.dumps(body), status, dict(headers), mimetype="application/json")
