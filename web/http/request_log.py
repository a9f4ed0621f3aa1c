"""The log: one JSON line per request, and one per failure, on standard error.

A line never holds a key, a query string, a body, or an exception's own message (a database driver
puts the statement's parameters into it). Paths are logged as the route's template, since a client can
put anything, an e-mail too, into an unknown one. `clientAddress` tells who sent what was refused.
"""

import sys
import traceback
from contextlib import suppress
from time import perf_counter, time_ns
from typing import Any, Final, NamedTuple

import orjson
from flask import Response, request

from warehouse.domain.time import iso_millis
from web.http.current_request import current_request

# Clients can send anything as a method, 60,000 letters too.
_METHODS: Final = ("GET", "HEAD", "OPTIONS", "POST", "PUT", "PATCH", "DELETE")


class HandledRequest(NamedTuple):
    """A request that was answered. Shop and credential are None without a valid key."""

    request_id: str
    method: str
    """`other` for an unknown one."""
    path: str | None
    """The template of the address, None for an unknown one."""
    status: int
    seconds: float
    ended: int
    """The instant of the answer, in microseconds."""
    shop_id: str | None
    credential_id: str | None
    error: str | None
    """The code of a refusal."""
    client_address: str | None
    """A trusted proxy's word for it, where there is one."""


def handled_request(response: Response, ended: int) -> HandledRequest:
    """The request at hand, which is answered."""
    current, rule = current_request(), request.url_rule
    caller = current.caller
    return HandledRequest(
        request_id=current.request_id,
        method=request.method if request.method in _METHODS else "other",
        path=current.template or (rule.rule if rule else None),
        status=response.status_code,
        seconds=perf_counter() - current.started,
        ended=ended,
        shop_id=caller.shop.shop_id if caller else None,
        credential_id=caller.credential_id if caller else None,
        error=current.error,
        client_address=request.remote_addr,
    )


def log_request(handled: HandledRequest) -> None:
    line = {
        "time": iso_millis(handled.ended),
        "requestId": handled.request_id,
        "method": handled.method,
        "path": handled.path,
        "status": handled.status,
        "ms": round(handled.seconds * 1000, 2),
        "shopId": handled.shop_id,
        "credentialId": handled.credential_id,
        "clientAddress": handled.client_address,
    }
    _write({**line, "error": handled.error} if handled.error else line)


def log_failure(request_id: str, error: Exception) -> None:
    """Log where an unexpected exception came from: its type and frames, not its message."""
    frames = [
        f"{frame.filename}:{frame.lineno} {frame.name}"
        for frame in traceback.extract_tb(error.__traceback__)
    ]
    kind = f"{type(error).__module__}.{type(error).__qualname__}"
    _write({"requestId": request_id, "exception": kind, "frames": frames})


def log_trouble(sentence: str) -> None:
    """Log a sentence on something that an operator must correct, and that is no request's fault."""
    _write({"time": iso_millis(time_ns() // 1000), "trouble": sentence})


class Trouble:
    """Something that may fail many times in a row: it is logged once, until it works again."""

    _lasts = False

    def begins(self, sentence: str) -> None:
        if not self._lasts:
            self._lasts = True
            log_trouble(sentence)

    def ends(self) -> None:
        self._lasts = False


def _write(line: dict[str, Any]) -> None:
    # In one piece, so that lines of several threads do not mix. Where nobody reads the log any more, requests
    # are answered all the same.
    with suppress(OSError, ValueError):
        sys.stderr.write(f"{orjson.dumps(line).decode()}\n")
