"""Load: many connections that ask again as soon as they are answered, from one thread."""

import selectors
import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass

import psutil

CONNECTIONS = 8
_END = b"\r\n\r\n"
_LENGTH = b"content-length: "


@dataclass(frozen=True)
class Load:
    """`p99_ms` of the time to an answer; `cpu_us` of the server, per answer, all its processes."""

    requests_per_second: int
    p99_ms: float
    cpu_us: int


class _Client:
    """One connection that is kept open, with its answer as far as it has come."""

    def __init__(self, port: int) -> None:
        self.socket = socket.create_connection(("127.0.0.1", port))
        self._received = b""

    def ask(self, request: bytes) -> None:
        self.began = time.perf_counter()
        self.socket.sendall(request)

    def status(self) -> int:
        """The status of the answer, once it is whole; 0 before."""
        part = self.socket.recv(1 << 18)
        if not part:
            raise RuntimeError("the server has closed a connection")
        self._received += part
        head, end, body = self._received.partition(_END)
        lowered = head.lower()
        length = 0
        if _LENGTH in lowered:
            length = int(lowered.partition(_LENGTH)[2].partition(b"\r\n")[0])
        if not end or len(body) < length:
            return 0
        self._received = b""
        return int(head[9:12])


def run(
    port: int, server: psutil.Process, requests: Iterator[bytes], status: int, seconds: float
) -> Load:
    """Ask for so long: each connection asks again as soon as it is answered. Raises where an answer has
    another status."""
    times: list[float] = []
    cpu, began = _cpu(server), time.perf_counter()
    with ExitStack() as stack, selectors.DefaultSelector() as selector:
        clients = [_Client(port) for _ in range(CONNECTIONS)]
        for client in clients:
            stack.enter_context(client.socket)
            selector.register(client.socket, selectors.EVENT_READ, client)
            client.ask(next(requests))
        while time.perf_counter() < began + seconds:
            for key, _ in selector.select():
                client = key.data
                if found := client.status():
                    if found != status:
                        raise RuntimeError(f"answered with {found} instead of {status}")
                    times.append(time.perf_counter() - client.began)
                    client.ask(next(requests))
    took, cpu = time.perf_counter() - began, _cpu(server) - cpu
    times.sort()
    return Load(
        requests_per_second=round(len(times) / took),
        p99_ms=round(times[int(len(times) * 0.99)] * 1000, 2),
        cpu_us=round(cpu / len(times) * 1e6),
    )


def _cpu(server: psutil.Process) -> float:
    """Seconds of all the server's processes."""
    spent = [one.cpu_times() for one in (server, *server.children(recursive=True))]
    return sum(times.user + times.system for times in spent)
