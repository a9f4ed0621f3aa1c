"""A server on loopback that answers as a test says, and remembers what it was asked."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Protocol


@dataclass
class Asked:
    """A request. Names of `headers` are in lower case."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes


@dataclass
class Answer:
    """`cut`: after so many bytes of the body the connection is closed. `pause`: seconds between two bytes."""

    status: int = 200
    body: bytes = b""
    headers: dict[str, str] = field(default_factory=dict)
    cut: int | None = None
    pause: float = 0


class Answering(Protocol):
    def __call__(self, asked: Asked) -> Answer: ...


class Served:
    """`url` is the address; `asked` has all requests in their order. `unread`: how many answers the client
    did not read to their end."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.asked: list[Asked] = []
        self.unread = 0


@contextmanager
def serving(answering: Answering, host: str = "127.0.0.1") -> Iterator[Served]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            self._answer()

        def do_POST(self) -> None:
            self._answer()

        def _answer(self) -> None:
            length = int(self.headers.get("Content-Length") or 0)
            headers = {name.lower(): value for name, value in self.headers.items()}
            asked = Asked(self.command, self.path, headers, self.rfile.read(length))
            served.asked.append(asked)
            answer = answering(asked)
            self.send_response(answer.status)
            for name, value in answer.headers.items():
                self.send_header(name, value)
            if answer.status != 304:
                self.send_header("Content-Length", str(len(answer.body)))
            self.end_headers()
            try:
                self._send(answer)
            except OSError:
                served.unread += 1
            if answer.cut is not None:
                self.close_connection = True

        def _send(self, answer: Answer) -> None:
            if not answer.pause:
                self.wfile.write(answer.body[: answer.cut])
                return
            for number in range(len(answer.body)):
                self.wfile.write(answer.body[number : number + 1])
                time.sleep(answer.pause)

        def log_message(self, format: str, *args: object) -> None:
            pass

    server = ThreadingHTTPServer((host, 0), Handler)
    server.daemon_threads = True
    served = Served(f"http://{host}:{server.server_port}")
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield served
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
