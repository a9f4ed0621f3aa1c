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
import os
import socket
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
from threading import Lock, Thread
from typing import IO, Any, Final

from web.auth.gcra import client_network, plain_address

PER_NETWORK: Final = 100
"""Connections of one address to one process; of IPv6, of a /64."""

BODY_SECONDS: Final = 15
"""The longest that a body may take to arrive."""

UNREAD_SECONDS: Final = 30
"""The longest that a client may take nothing of an answer that waits for it."""

_OPEN_FILES: Final = Path("/proc/self/fd")
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
    """Those of one process. `proxies` may have any number."""

    def __init__(self, proxies: Sequence[IPv4Network | IPv6Network] = ()) -> None:
        self._proxies = proxies
        self._lock = Lock()
        self._bodies: set[_Body] = set()
        self._in_progress = 0
        self._last_end = 0.0
        # The client's address by the number of the socket, the oldest first; None for other sockets.
        self._clients: dict[int, str | None] = {}
        self._listeners: set[int] = set()
        self._port: int | None = None

    def watch(self) -> None:
        """Look after them in a thread, until the process ends."""
        if _OPEN_FILES.is_dir() and hasattr(socket, "TCP_USER_TIMEOUT"):
            Thread(target=self._watch, name="connections", daemon=True).start()

    @contextmanager
    def request(self) -> Iterator[None]:
        """A request is in progress during the block."""
        with self._lock:
            self._in_progress += 1
        try:
            yield
        finally:
            with self._lock:
                self._in_progress -= 1
                self._last_end = time.monotonic()

    @contextmanager
    def body(self, address: str) -> Iterator[None]:
        """A body is received from this address during the block."""
        body = _Body(address, time.monotonic())
        with self._lock:
            self._bodies.add(body)
        try:
            yield
        finally:
            with self._lock:
                self._bodies.discard(body)

    def _watch(self) -> None:
        while True:
            time.sleep(_LOOK_SECONDS)
            # Where files have run out, the next look finds what this one missed.
            with suppress(OSError):
                self._look()

    def _look(self) -> None:
        sockets = _sockets()
        for number in self._clients.keys() - sockets.keys():
            del self._clients[number]
        for number, descriptor in sockets.items():
            if number not in self._clients and number not in self._listeners:
                self._meet(number, descriptor)
        ends: list[_End] = [
            (number, socket.SHUT_RDWR, _always) for number in self._beyond_the_limit()
        ]
        ends += self._late_bodies()
        has_stopped = self._listeners and not self._listeners & sockets.keys()
        if has_stopped and self._is_quiet():
            ends += [(number, socket.SHUT_RD, _has_sent_all) for number in self._of_clients()]
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

    def _of_clients(self) -> Iterator[int]:
        return (number for number, address in self._clients.items() if address)

    def _beyond_the_limit(self) -> Iterator[int]:
        held: Counter[str] = Counter()
        for number, address in self._clients.items():
            if address and not self._is_proxy(address):
                network = client_network(address)
                held[network] += 1
                if held[network] > PER_NETWORK:
                    yield number

    def _is_proxy(self, address: str) -> bool:
        return any(ip_address(plain_address(address)) in network for network in self._proxies)

    def _late_bodies(self) -> Iterator["_End"]:
        """granian does not say which connection a request came by. It is one of its client's, to which
        nothing has been sent since the body began."""
        now = time.monotonic()
        with self._lock:
            late = [body for body in self._bodies if now - body.began > BODY_SECONDS]
        for body in late:
            silent = now - body.began - _CONTINUE_SECONDS
            for number, address in self._clients.items():
                if address == body.address:
                    yield number, socket.SHUT_RD, partial(_was_sent_nothing, seconds=silent)

    def _is_quiet(self) -> bool:
        with self._lock:
            return not self._in_progress and time.monotonic() - self._last_end > _QUIET_SECONDS


# A socket's number, the half of it that ends, and whether it does.
_End = tuple[int, int, Callable[[socket.socket], bool]]


def limit_unread(listener: socket.socket, seconds: int) -> None:
    """Have the system end each connection from this listener whose client takes nothing of what waits for
    it for so long. (Linux)"""
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, seconds * 1000)


def _sockets() -> dict[int, int]:
    """The descriptors of this process's sockets, by the socket's number."""
    found = {}
    for name in os.listdir(_OPEN_FILES):
        with suppress(OSError):  # closed since the folder was listed
            target = os.readlink(f"{_OPEN_FILES}/{name}")
            if target.startswith("socket:["):
                found[int(target[8:-1])] = int(name)
    return found


@contextmanager
def _duplicate(number: int, descriptor: int) -> Iterator[socket.socket | None]:
    """A socket by a descriptor of our own; None where granian's is another's by now."""
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


def _always(_connection: socket.socket) -> bool:
    return True


def _has_sent_all(connection: socket.socket) -> bool:
    unsent = fcntl.ioctl(connection, termios.TIOCOUTQ, bytes(4))
    return not any(unsent)


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
    """The stream of a body, which ends early when it has taken too long. It is read in one go; a file in
    pieces, each of which has that time."""

    def __init__(self, stream: IO[bytes], connections: Connections, address: str) -> None:
        self._stream, self._connections, self._address = stream, connections, address

    def read(self, size: int = -1) -> bytes:
        with self._connections.body(self._address):
            return self._stream.read(size)
