"""Clients that do not read their answers hold no thread.

An answer that comes in pieces would hold a thread until the client has taken all of them: granian asks
for the next piece only when there is room for it. So an answer leaves Python as a whole. granian then
keeps it in memory until it is read (`connections.py` says for how long).
"""

from collections.abc import Callable
from typing import IO, Any

from web.server.connections import Connections


class WholeAnswers:
    """WSGI middleware: each answer is a list of one piece, which granian takes off the thread at once.
    `connections` are told of the requests in progress, and of the bodies that are received."""

    def __init__(self, app: Callable[..., Any], connections: Connections) -> None:
        self._app = app
        self._connections = connections

    def __call__(self, environ: dict[str, Any], start_response: Callable[..., Any]) -> list[bytes]:
        with self._connections.request():
            body, address = environ["wsgi.input"], environ["REMOTE_ADDR"]
            environ["wsgi.input"] = _BoundedBody(body, self._connections, address)
            answer = self._app(environ, start_response)
            try:
                return [b"".join(answer)]
            finally:
                if hasattr(answer, "close"):
                    answer.close()


class _BoundedBody:
    """The stream of a body, which ends early when it has taken too long. It is read in one go."""

    def __init__(self, stream: IO[bytes], connections: Connections, address: str) -> None:
        self._stream, self._connections, self._address = stream, connections, address

    def read(self, size: int = -1) -> bytes:
        with self._connections.body(self._address):
            return self._stream.read(size)
