"""Answers that are known: given again to a request in the same words, while nothing has changed.

A program asks the same again and again. The answer follows from the words of the request, from what the
look-up of its key finds (the key, its shop with the version of its data, the form: `api_key_auth.py`), and
from the time. So it is kept with what was found, and given again as long as one look-up finds the same and
its time is not over: without a route, a slot or a snapshot. A key that is revoked opens nothing at the next
request, whichever process revokes it. An answer that is given again has an id of its own, and is counted and
logged as any other.
"""

from collections.abc import Callable, Iterable, Mapping
from contextlib import closing
from hashlib import sha256
from time import perf_counter
from typing import Any, Final, NamedTuple

from flask import request

from warehouse.connections.look_ups import LookUps
from web.http.compression import with_other_id
from web.http.current_request import Caller, current_request, new_request_id
from web.http.errors import Refusal
from web.http.request_log import HandledRequest, log_request
from web.http.services import Services

# The words, beside the key, that decide about the answer to a GET which is none of the `_ROUTED`.
_WORDS: Final = (
    *("PATH_INFO", "QUERY_STRING", "HTTP_HOST", "SERVER_PROTOCOL"),
    *("HTTP_ACCEPT", "HTTP_ACCEPT_ENCODING", "HTTP_IF_NONE_MATCH"),
)
# CORS answers pages of other origins. A GET needs no body.
_ROUTED: Final = {"HTTP_ORIGIN", "HTTP_TRANSFER_ENCODING", "CONTENT_LENGTH"}
_NOTE: Final = "formrevenue.known_until"

Application = Callable[..., Iterable[bytes]]


class _Known(NamedTuple):
    """An answer that holds from the instant `since` on. `parameters` are those of the look-up, and `found` is
    what it found, but the key's last use. `body` gives the body with the id of another request."""

    since: int
    parameters: Any
    found: tuple[Any, ...]
    caller: Caller
    template: str | None
    status: str
    headers: list[tuple[str, str]]
    body: Callable[[bytes], bytes]


def keep_until(until: int) -> None:
    """Note that the answer to the request at hand stays the same until this instant, as long as the look-up
    of its key finds the same."""
    request.environ[_NOTE] = current_request(), until


class KnownAnswers:
    """WSGI middleware around an application. `observe` is told of each request that it answers."""

    def __init__(
        self,
        app: Application,
        look_ups: LookUps,
        shared: Services,
        observe: Callable[[HandledRequest], None] | None,
    ) -> None:
        self._app = app
        self._look_ups = look_ups
        self._shared = shared
        self._observe = observe

    def __call__(
        self, environ: dict[str, Any], start_response: Callable[..., Any]
    ) -> Iterable[bytes]:
        words = _words(environ)
        if words is None:
            return self._app(environ, start_response)
        if again := self._again(words, environ):
            status, headers, body = again
            start_response(status, headers)
            return [body]
        head: list[Any] = []

        def start(*given: Any) -> Any:
            head[:] = given
            return start_response(*given)

        answer: Any = self._app(environ, start)
        status, headers, *_ = head
        if _NOTE not in environ or status[:3] not in ("200", "304"):
            return answer
        with closing(answer):
            body = b"".join(answer)
        current, until = environ[_NOTE]
        values, row = current.looked_up
        named, request_id = dict(headers), current.request_id.encode()
        if named.get("Content-Type") == "application/json" and request_id not in body:
            return [body]  # The id is packed.
        known = _Known(
            since=current.now,
            parameters=self._look_ups.written.parameters(values),
            found=tuple(row)[1:],
            caller=current.caller,
            template=current.template,
            status=status,
            headers=headers,
            body=with_other_id(body, request_id, is_packed="Content-Encoding" in named),
        )
        size = len(body) + len(repr((words, headers)))
        until = min(until, row.expires_at, row.revoked_at)
        self._shared.shop_cache.keep(words, known, size, until)
        return [body]

    def _again(
        self, words: tuple[Any, ...], environ: Mapping[str, Any]
    ) -> tuple[str, list[tuple[str, str]], bytes] | None:
        started, now = perf_counter(), self._shared.clock()
        known: _Known | None = self._shared.shop_cache.find(words, now)
        if known is None or now < known.since:
            return None
        last_used_at, *found = self._look_ups.find(known.parameters) or (0,)
        if tuple(found) != known.found:
            return None
        caller, request_id = known.caller, new_request_id(now)
        fresh = {"X-Request-Id": request_id}
        try:
            self._shared.rate_limits.count_request(caller.shop.key, now, fresh)
        except Refusal:
            return None  # The application refuses it, too: what is refused counts nowhere.
        self._shared.background_writes.record_use(caller.credential_id, last_used_at, now)
        handled = HandledRequest(
            request_id=request_id,
            method="GET",
            path=known.template,
            status=int(known.status[:3]),
            seconds=perf_counter() - started,
            ended=self._shared.clock(),
            shop_id=caller.shop.shop_id,
            credential_id=caller.credential_id,
            error=None,
            client_address=environ["REMOTE_ADDR"],
        )
        log_request(handled)
        if self._observe:
            self._observe(handled)
        headers = [(name, fresh.get(name, text)) for name, text in known.headers]
        return known.status, headers, known.body(request_id.encode())


def _words(environ: Mapping[str, Any]) -> tuple[Any, ...] | None:
    """The words of a request from which its answer follows; None for a request that is always routed."""
    key = environ.get("HTTP_AUTHORIZATION")
    if key is None or environ["REQUEST_METHOD"] != "GET" or not _ROUTED.isdisjoint(environ):
        return None
    # Keys are kept nowhere as they are.
    hashed = sha256(key.encode("utf-8", "surrogatepass")).digest()
    return hashed, *map(environ.get, _WORDS)
