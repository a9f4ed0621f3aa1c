"""The connections of one process, looked after from beside granian: it counts none of them, bounds no body,
and waits after SIGTERM for every head that was begun.

A thread looks at the sockets of this process a few times a second. It ends connections by `shutdown`, which
granian takes for the end of what the client sends; so the descriptor stays granian's own. Linux only;
elsewhere nothing is bounded, and nothing else changes.

- One network has at most PER_NETWORK connections. The oldest stay. Proxies that TRUSTED_PROXIES names bring
  the connections of many, and are not counted.
- A body has BODY_SECONDS in all, from the first reading to its end; of a file each piece has them.
- A client that takes nothing of its answer for UNREAD_SECONDS is disconnected, by the system itself.
- After SIGTERM, connections that carry no request end as soon as no request is in progress.

An answer that comes in pieces would hold a thread until the client has taken all of them: granian asks for
the next piece only when there is room for it. So an answer leaves Python as a whole (`WholeAnswers`). granian
then keeps it in memory until it is read.
"""

import fcntl
import math
import os
import socket
import stat
import struct
import termios
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from ipaddress import IPv4Network, IPv6Network, ip_address
from pathlib import Path
from threading import Thread
from typing import IO, Any, Final

from web.limits.gcra import client_network, plain_address

PER_NETWORK: Final = 100
"""Connections of one address to one process; of IPv6, of a /64."""

BODY_SECONDS: Final = 15
"""The longest that a body may take to arrive."""

UNREAD_SECONDS: Final = 30
"""The longest that a client may take nothing of an answer that waits for it."""

_OPEN_FILES: Final = Path("/dev/fd")
_LOOK_SECONDS: Final = 0.1
# No request has been in progress for so long when connections end after SIGTERM: one that waited for a
# thread has begun by then.
_QUIET_SECONDS: Final = 0.5
# `100 Continue`, which is sent when the reading begins, is no answer.
_CONTINUE_SECONDS: Final = 1.0
# `struct tcp_info` of Linux up to `tcpi_last_data_sent`: 8 numbers of one byte, 10 of four.
_TCP_INFO: Final = struct.Struct("=8B10I")


@dataclass(eq=False, slots=True)
class _Body:
    """A body that is being received from a client's address, since a reading of the stopwatch."""

    address: str
    began: float


class Connections:
    """The connections of one process. `proxies` may have any number."""

    def __init__(self, proxies: Sequence[IPv4Network | IPv6Network] = ()) -> None:
        self._proxies = proxies
        # Threads add and discard in one step, so no lock is needed.
        self._bodies: set[_Body] = set()
        self._requests: set[object] = set()
        self._last_end = 0.0
        # The client's address by the number of the socket, the oldest first; None for other sockets.
        self._clients: dict[int, str | None] = {}
        self._listeners: set[int] = set()
        self._port: int | None = None

    def watch(self) -> None:
        """Bound the connections from a thread, until the process ends."""

        def watch() -> None:
            while True:
                time.sleep(_LOOK_SECONDS)
                # Where files have run out, the next look finds what this one missed.
                with suppress(OSError):
                    self._look()

        if _OPEN_FILES.is_dir() and hasattr(socket, "TCP_USER_TIMEOUT"):
            Thread(target=watch, name="connections", daemon=True).start()

    def begin(self, request: object) -> None:
        """Note that a request is in progress until its `end`."""
        self._requests.add(request)

    def end(self, request: object) -> None:
        self._last_end = time.monotonic()
        self._requests.discard(request)

    @contextmanager
    def body(self, address: str) -> Iterator[None]:
        """Note that a body is received from this address during the block."""
        body = _Body(address, time.monotonic())
        self._bodies.add(body)
        try:
            yield
        finally:
            self._bodies.discard(body)

    def _look(self) -> None:
        # The descriptors of this process's sockets, by the socket's number.
        sockets = {}
        for name in os.listdir(_OPEN_FILES):
            with suppress(OSError):  # closed since the folder was listed
                status = os.fstat(int(name))
                if stat.S_ISSOCK(status.st_mode):
                    sockets[status.st_ino] = int(name)
        for number in self._clients.keys() - sockets.keys():
            del self._clients[number]
        for number, descriptor in sockets.items():
            if number not in self._clients and number not in self._listeners:
                self._meet(number, descriptor)
        ends: list[_End] = [
            (number, socket.SHUT_RDWR, lambda _: True) for number in self._beyond_the_limit()
        ]
        ends += self._late_bodies()
        has_stopped = self._listeners and not self._listeners & sockets.keys()
        is_quiet = not self._requests and time.monotonic() - self._last_end > _QUIET_SECONDS
        if has_stopped and is_quiet:
            ends += [
                (
                    number,
                    socket.SHUT_RD,
                    lambda one: not any(fcntl.ioctl(one, termios.TIOCOUTQ, bytes(4))),
                )
                for number, address in self._clients.items()
                if address
            ]
        for number, half, is_meant in ends:
            with _duplicate(number, sockets[number]) as connection, suppress(OSError):
                if connection and is_meant(connection):
                    connection.shutdown(half)

    def _meet(self, number: int, descriptor: int) -> None:
        """Note a socket that was not there before."""
        with _duplicate(number, descriptor) as met:
            if met is None:
                return
            if met.family not in (socket.AF_INET, socket.AF_INET6):
                self._clients[number] = None
            elif met.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN):
                # Connections have the option of the socket that they came from.
                limit_unread(met, UNREAD_SECONDS)
                self._listeners.add(number)
                self._port = met.getsockname()[1]
            elif self._port is not None:
                is_client = met.getsockname()[1] == self._port
                with suppress(OSError):  # one that has gone already
                    self._clients[number] = met.getpeername()[0] if is_client else None

    def _beyond_the_limit(self) -> Iterator[int]:
        held: Counter[str] = Counter()
        for number, address in self._clients.items():
            if address and not any(
                ip_address(plain_address(address)) in network for network in self._proxies
            ):
                network = client_network(address)
                held[network] += 1
                if held[network] > PER_NETWORK:
                    yield number

    def _late_bodies(self) -> Iterator["_End"]:
        """Connections whose bodies take too long. granian does not say which connection a request came by. It
        is one of its client's, to which nothing has been sent since the body began."""
        now = time.monotonic()
        late = [body for body in tuple(self._bodies) if now - body.began > BODY_SECONDS]
        for body in late:
            silent = now - body.began - _CONTINUE_SECONDS
            for number, address in self._clients.items():
                if address == body.address:
                    yield number, socket.SHUT_RD, partial(_was_sent_nothing, seconds=silent)


# A socket's number, the half of it that ends, and whether it does.
_End = tuple[int, int, Callable[[socket.socket], bool]]


def limit_unread(listener: socket.socket, seconds: int) -> None:
    """Let the system end connections from this listener whose clients read nothing for so many seconds.
    (Linux)"""
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, seconds * 1000)


@contextmanager
def _duplicate(number: int, descriptor: int) -> Iterator[socket.socket | None]:
    """A socket by a duplicate of granian's descriptor; None where that is another socket's by now."""
    try:
        copy = os.dup(descriptor)
    except OSError:
        yield None
        return
    if os.fstat(copy).st_ino != number:
        os.close(copy)
        yield None
        return
    with socket.socket(fileno=copy) as duplicate:
        yield duplicate


def _was_sent_nothing(connection: socket.socket, seconds: float) -> bool:
    """Whether the client was sent nothing for so long."""
    told = connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, _TCP_INFO.size)
    milliseconds = _TCP_INFO.unpack(told)[-1]
    return bool(milliseconds >= seconds * 1000)


class WholeAnswers:
    """WSGI middleware: each answer is a list of one piece, which granian takes off the thread at once.
    `connections` are told of the requests in progress, and of the bodies that are received."""

    def __init__(self, app: Callable[..., Any], connections: Connections) -> None:
        self._app = app
        self._connections = connections

    def __call__(self, environ: dict[str, Any], start_response: Callable[..., Any]) -> list[bytes]:
        environ["wsgi.input"] = body = _BoundedBody(environ, self._connections)

        def start(status: str, headers: list[tuple[str, str]], *words: Any) -> Any:
            # granian ends a connection after a body that was not read to its end, and does not announce
            # it. A proxy would send another client's request by it, and answer that client with 502.
            if not body.is_received:
                headers = [*headers, ("Connection", "close")]
            return start_response(status, headers, *words)

        self._connections.begin(body)
        try:
            answer = self._app(environ, start)
            try:
                return [b"".join(answer)]
            finally:
                if hasattr(answer, "close"):
                    answer.close()
        finally:
            self._connections.end(body)


class _BoundedBody:
    """The stream of a body, which ends early when it has taken too long. It is read in one go; a file in
    pieces, each of which has that time."""

    def __init__(self, environ: dict[str, Any], connections: Connections) -> None:
        self._stream: IO[bytes] = environ["wsgi.input"]
        self._connections, self._address = connections, environ["REMOTE_ADDR"]
        is_chunked = "HTTP_TRANSFER_ENCODING" in environ
        # The bytes that are still to be read: of chunks, an unknown number.
        self._left = math.inf if is_chunked else int(environ.get("CONTENT_LENGTH") or 0)

    @property
    def is_received(self) -> bool:
        """Whether the body was read to its end."""
        return self._left <= 0

    def read(self, size: int = -1) -> bytes:
        with self._connections.body(self._address):
            received = self._stream.read(size)
        is_end = size < 0 or len(received) < size
        self._left = 0 if is_end else self._left - len(received)
        return received
