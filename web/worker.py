"""gunicorn's worker, with five things of our own: errors in the API's shape, threads that wait for
nobody and hand back nothing, a start that leaves no garbage to look for, and an end that is soon.

gunicorn gives a new connection to a thread, which waits five seconds for the first byte, so that a few
silent clients keep all threads from their work; and it waits in its main loop, two seconds each, until
a client closes its side, one client after the other, while nobody is served or let go. Here both wait
in the poller. After each answer, it wakes its main thread, to have the connection wait for the next
request; here the thread that gave the answer does so itself, which takes a tenth off the server's time
for a request. And while it ends, it lets clients connect whom nobody will serve.
"""

import gc
import socket
import time
from collections import deque
from functools import partial
from selectors import EVENT_READ
from threading import RLock
from typing import Any, Final

import orjson
from gunicorn import util
from gunicorn.http.errors import LimitRequestHeaders, LimitRequestLine, UnsupportedTransferCoding
from gunicorn.workers.gthread import ThreadWorker

from web.app import wall_clock
from web.logs import log_failure, log_unreadable
from web.uuid7 import uuid7

# For how long a connection that was answered for the last time is kept, for the client to read it.
_LINGER_SECONDS: Final = 2.0

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

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._lingering: deque[Any] = deque()
        # Whoever lets a connection wait for its next request, or ends that; one that has sent it already
        # goes through here again.
        self._keeping = RLock()

    def run(self) -> None:
        # What there is by now stays to the end. To look all of it through for garbage, as Python does
        # now and then, takes a tenth of a second, in which every request would wait.
        gc.collect()
        gc.freeze()
        super().run()

    def enqueue_req(self, conn: Any) -> None:
        """A thread for a connection that has something to say; until then, it waits."""
        if conn.initialized or conn.data_ready:
            answered = self.tpool.submit(self.handle, conn)
            answered.add_done_callback(partial(self._keep, conn))
            return
        conn.sock.setblocking(False)
        conn.set_timeout()
        self.pending_conns.append(conn)
        self.poller.register(conn.sock, EVENT_READ, partial(self.on_pending_socket_readable, conn))

    def _keep(self, conn: Any, answered: Any) -> None:
        """Called by the thread that has answered: what is to be kept open, waits from here on."""
        with self._keeping:
            if self.alive and not answered.exception() and answered.result() is True:
                super().finish_request(conn, answered)
                return
        self.method_queue.defer(self.finish_request, conn, answered)

    def finish_request(self, conn: Any, fs: Any) -> None:
        """After its last answer, a connection is closed when the client has closed it, or soon."""
        if fs.cancelled() or fs.exception() or fs.result() is not False:
            super().finish_request(conn, fs)
            return
        try:
            conn.sock.setblocking(False)
            conn.sock.shutdown(socket.SHUT_WR)
        except OSError:
            self._let_go(conn)
            return
        conn.timeout = time.monotonic() + _LINGER_SECONDS
        self._lingering.append(conn)
        self.poller.register(conn.sock, EVENT_READ, partial(self._drain, conn))

    def murder_pending(self) -> None:
        super().murder_pending()
        now = time.monotonic()
        while self._lingering and self._lingering[0].timeout <= now:
            conn = self._lingering.popleft()
            self.poller.unregister(conn.sock)
            self._let_go(conn)

    def _cap_keepalive(self, deadline: float) -> None:
        """Called once, when the worker is to end. Who has come so far is served, and who comes now is
        refused at once, and not kept in the backlog until the end; connections that say nothing are
        not waited for."""
        for listener in self.sockets:
            waiting = -1
            while waiting != self.nr_conns:
                waiting = self.nr_conns
                self.accept(listener)
            listener.close()
        with self._keeping:
            super()._cap_keepalive(deadline)
        for conn in self.pending_conns:
            conn.timeout = min(conn.timeout, deadline)

    def _drain(self, conn: Any, _client: Any) -> None:
        try:
            more = conn.sock.recv(65_536)
        except OSError:
            more = b""
        if not more:
            self._lingering.remove(conn)
            self.poller.unregister(conn.sock)
            self._let_go(conn)

    def _let_go(self, conn: Any) -> None:
        self.nr_conns -= 1
        conn.close()

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
