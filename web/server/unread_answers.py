"""Clients that do not read their answers hold no thread, and no connection for long.

An answer that comes in pieces would hold a thread until the client has taken all of them: granian asks
for the next piece only when there is room for it. So an answer leaves Python as a whole. granian then
keeps it in memory until it is read; the operating system ends connections whose client takes nothing.
"""

import os
import socket
import stat
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

UNREAD_SECONDS: Final = 30
"""The longest that a client may take nothing of an answer that waits for it."""

_OPEN_FILES: Final = Path("/proc/self/fd")


class WholeAnswers:
    """WSGI middleware: each answer is a list of one piece, which granian takes off the thread at once."""

    def __init__(self, app: Callable[..., Any]) -> None:
        self._app = app
        self._limits_connections = False

    def __call__(self, environ: dict[str, Any], start_response: Callable[..., Any]) -> list[bytes]:
        if not self._limits_connections:
            # Not before the first request: the socket is opened after the application.
            self._limits_connections = True
            end_unread_connections(UNREAD_SECONDS)
        answer = self._app(environ, start_response)
        try:
            return [b"".join(answer)]
        finally:
            if hasattr(answer, "close"):
                answer.close()


def end_unread_connections(seconds: int) -> None:
    """Have the system end each connection to this process whose client takes nothing of what waits for
    it for so long. Linux only; elsewhere this does nothing."""
    for listener in _listening_sockets():
        with listener:
            # Connections have the option of the socket that they came from.
            listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, seconds * 1000)


def _listening_sockets() -> Iterator[socket.socket]:
    """The sockets on which this process takes connections: granian does not say which one it opened."""
    if not (_OPEN_FILES.is_dir() and hasattr(socket, "TCP_USER_TIMEOUT")):
        return
    for name in os.listdir(_OPEN_FILES):
        try:
            copy = os.dup(int(name))
        except OSError:
            continue  # closed since the folder was listed
        if not stat.S_ISSOCK(os.fstat(copy).st_mode):
            os.close(copy)
            continue
        found = socket.socket(fileno=copy)
        is_inet = found.family in (socket.AF_INET, socket.AF_INET6)
        if is_inet and found.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN):
            yield found
        else:
            found.close()
