"""The log: one JSON line per request, and one per failure, on standard error.

A line never holds a key, a query string, a body, or an exception's own message (a database driver
puts the statement's parameters into it). Addresses are logged as the route's template, since a
client can put anything, an e-mail too, into an unknown path.
"""

import logging
import sys
import traceback
from typing import Any, Final

import orjson

from warehouse.days import iso_millis
from web.handled import Handled

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


def log_request(handled: Handled) -> None:
    line = {
        "time": iso_millis(handled.ended),
        "requestId": handled.request_id,
        "method": handled.method,
        "path": handled.path,
        "status": handled.status,
        "ms": round(handled.seconds * 1000, 2),
        "shopId": handled.shop_id,
        "credentialId": handled.credential_id,
    }
    if handled.error:
        line["error"] = handled.error
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
