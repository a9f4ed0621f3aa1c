"""The log: one JSON line per request, and one per failure, on standard error.

A line never holds a key, a query string, a body, or an exception's own message (a database driver
puts the statement's parameters into it). Addresses are logged as the route's template, since a
client can put anything, an e-mail too, into an unknown path.
"""

import logging
import sys
import traceback
from time import perf_counter
from typing import Any, Final

import orjson
from flask import Response, g, request

from web.request_id import request_id

logger: Final = logging.getLogger("web")


def configure() -> None:
    """Send the log's lines, as they are, to standard error. Calling it again changes nothing."""
    if not logger.handlers:
        handler = logging.StreamHandler(sys.stderr)
        handler.setFormatter(logging.Formatter("%(message)s"))
        logger.addHandler(handler)
        logger.setLevel(logging.INFO)
        logger.propagate = False
        # No line has them.
        logging.logThreads = logging.logProcesses = logging.logMultiprocessing = False


def log_request(response: Response, time: str) -> None:
    """One line for the request that was answered; `time` is its end."""
    known: dict[str, Any] = g.__dict__
    caller = known.get("caller")
    line = {
        "time": time,
        "requestId": request_id(),
        "method": request.method,
        "path": known.get("template") or (request.url_rule and request.url_rule.rule),
        "status": response.status_code,
        "ms": round((perf_counter() - known["started"]) * 1000, 2),
        "shopId": caller and caller.shop.shop_id,
        "credentialId": caller and caller.credential_id,
    }
    if "error" in known:
        line["error"] = known["error"]
    _write(line)


def log_unreadable(request_id: str, status: int, code: str) -> None:
    """What the server could not read as a request: nothing of it is repeated."""
    _write({"requestId": request_id, "status": status, "error": code})


def log_failure(request_id: str, error: Exception) -> None:
    """Where an unexpected exception came from: its type and frames, not its message."""
    frames = [
        f"{frame.filename}:{frame.lineno} {frame.name}"
        for frame in traceback.extract_tb(error.__traceback__)
    ]
    kind = type(error)
    _write(
        {
            "requestId": request_id,
            "exception": f"{kind.__module__}.{kind.__qualname__}",
            "frames": frames,
        }
    )


def _write(line: dict[str, Any]) -> None:
    if logger.isEnabledFor(logging.INFO):
        # Without looking for the line of code that logs, which nobody is told.
        text = orjson.dumps(line).decode()
        logger.handle(logging.LogRecord(logger.name, logging.INFO, "", 0, text, None, None))
