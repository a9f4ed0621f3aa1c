"""The production server: gunicorn, several processes, a few threads each.

On two cores, 16 connections, a funnel of 90 days: gunicorn's threads 1,256 requests/s, granian 960,
gunicorn's sync worker (no keep-alive) 696. Each process opens its own connections.
"""

from typing import Any, Final

import click
import orjson
from gunicorn import util
from gunicorn.app.base import BaseApplication
from gunicorn.http.errors import LimitRequestHeaders, LimitRequestLine, UnsupportedTransferCoding
from gunicorn.workers.gthread import ThreadWorker

from web.app import close_app, create_app, wall_clock
from web.logs import configure, log_failure, log_unreadable
from web.uuid7 import uuid7

THREADS: Final = 4
GRACE_SECONDS: Final = 30

# What cannot be read as a request at all: status, reason, code.
_UNREADABLE: Final = (400, "Bad Request", "bad_request")
_UNREADABLE_BY_CAUSE: Final = {
    LimitRequestLine: (414, "URI Too Long", "uri_too_long"),
    LimitRequestHeaders: (431, "Request Header Fields Too Large", "headers_too_large"),
    UnsupportedTransferCoding: (501, "Not Implemented", "not_implemented"),
}


class Worker(ThreadWorker):
    """Answers also what never reaches the application in the API's own error shape, and keeps
    request lines and headers, which can hold keys, out of the log."""

    def handle_error(self, _request: Any, client: Any, _address: Any, error: Exception) -> None:
        request_id = f"req_{uuid7(wall_clock())}"
        if type(error).__module__ == LimitRequestLine.__module__:
            status, reason, code = _UNREADABLE_BY_CAUSE.get(type(error), _UNREADABLE)
            log_unreadable(request_id, status, code)
        else:
            status, reason, code = 500, "Internal Server Error", "internal_error"
            log_failure(request_id, error)
        body = orjson.dumps(
            {"error": {"code": code, "message": f"{reason}.", "requestId": request_id}}
        )
        head = (
            f"HTTP/1.1 {status} {reason}\r\nConnection: close\r\n"
            f"Content-Type: application/json\r\nX-Request-Id: {request_id}\r\n"
            f"Content-Length: {len(body)}\r\n\r\n"
        )
        try:
            util.write_nonblock(client, head.encode("ascii") + body)
        except OSError:
            self.log.debug("The client is gone.")


class Server(BaseApplication):
    """gunicorn, told everything here and nothing by its own files and variables."""

    def __init__(self, host: str, port: int, workers: int) -> None:
        shown = f"[{host}]" if ":" in host else host
        self._options = {
            "bind": f"{shown}:{port}",
            "workers": workers,
            "threads": THREADS,
            "worker_class": "web.server.Worker",
            "keepalive": 30,
            "graceful_timeout": GRACE_SECONDS,
            "limit_request_line": 8190,
            # Whom to believe is decided in web/proxies.py.
            "forwarded_allow_ips": "",
            "secure_scheme_headers": {},
            "loglevel": "warning",
            "control_socket_disable": True,
            "worker_exit": _close,
            "when_ready": lambda _: click.echo(f"Serving on http://{shown}:{port}", err=True),
        }
        super().__init__()

    def load_config(self) -> None:
        for name, value in self._options.items():
            self.cfg.set(name, value)

    def load(self) -> Any:
        """The application of one process."""
        configure()
        return create_app()


def _close(_server: Any, worker: Any) -> None:
    if worker.wsgi is not None:
        close_app(worker.wsgi)


def run(host: str, port: int, workers: int) -> None:
    """Serve until SIGTERM or SIGINT, then finish the requests in flight (for at most 30 s)."""
    Server(host, port, workers).run()
