"""Requests that come again word for word, answered without the framework.

A dashboard asks for the same again and again, mostly with the tag of what it has. Of such a request
nine tenths are spent on contexts, routing, parameters and headers, which come out as they did before.
So an answer that was given from what is kept (`answers.py`) is remembered as it was sent, under the
words of its request; where they come again, it is sent again, with a request id of its own.

No rule has a second home here. Whatever an answer followed from, beside its request's words, is looked
at with every request, by the same functions as ever: the key and its expiry, the shop and its version,
the day, the answer that is kept. Where any of it is another than it was, or the request is one too
many, the request goes the ordinary way, as if nothing were remembered. So does all but GET.
"""

import gzip
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass
from hashlib import sha256
from time import perf_counter
from typing import Any, Final

from flask import Flask, Response, g, request
from sqlalchemy.exc import SQLAlchemyError

from warehouse.days import local_day
from web import rate_limits
from web.answers import Kept
from web.asking import Asked
from web.callers import Caller, found
from web.compression import Packed
from web.errors import Refusal
from web.handled import Handled, listeners
from web.recent import Recent
from web.request_id import new_request_id, request_id

MOST_BYTES: Final = 16 * 1024 * 1024
# What an answer takes beside its body.
_OVERHEAD: Final = 4096

# The headers that answers depend on: those that `Vary` can name, and whether the client has the answer.
_VARY: Final = frozenset({"Authorization", "Accept", "Accept-Encoding", "Origin"})
_WORDS: Final = (
    *("PATH_INFO", "QUERY_STRING", "HTTP_HOST", "HTTP_AUTHORIZATION"),
    *("HTTP_ACCEPT", "HTTP_ACCEPT_ENCODING", "HTTP_ORIGIN", "HTTP_IF_NONE_MATCH"),
)
# What is said of each request anew.
_ANEW: Final = frozenset({"X-Request-Id", "RateLimit", "RateLimit-Policy"})

Environ = dict[str, Any]
Wsgi = Callable[[Environ, Callable[..., Any]], Iterable[bytes]]


@dataclass(frozen=True, slots=True)
class _Sent:
    """An answer as it was sent; `body` of a request id. The rest is what it followed from, and `path`
    the template of its address."""

    looked_up: dict[str, str]
    caller: Caller
    form_is_known: bool
    today: int
    key: Hashable
    kept: Kept
    path: str
    status: str
    code: int
    headers: tuple[tuple[str, str], ...]
    body: Callable[[bytes], bytes]


class Repeats:
    """WSGI, around an application; one per process."""

    def __init__(self, app: Flask, ordinary: Wsgi) -> None:
        self._ordinary = ordinary
        self._extensions = app.extensions
        self._clock: Callable[[], int] = app.extensions["clock"]
        self._look_up = app.extensions["look_up"]
        self._last_use = app.extensions["last_use"]
        self._listeners = listeners(app)
        self._sent: Recent[_Sent] = Recent(MOST_BYTES)

    def __call__(self, environ: Environ, start_response: Callable[..., Any]) -> Iterable[bytes]:
        started = perf_counter()
        if environ["REQUEST_METHOD"] == "GET":
            sent = self._sent.get(_words(environ))
            if sent:
                answer = self._again(sent, start_response, started)
                if answer is not None:
                    return answer
        return self._ordinary(environ, start_response)

    def _again(
        self, sent: _Sent, start_response: Callable[..., Any], started: float
    ) -> Iterable[bytes] | None:
        """The answer; None where the request has to go the ordinary way."""
        now = self._clock()
        caller = self._entitled(sent, now)
        if caller is None:
            return None
        own_id = new_request_id(now)
        spent = rate_limits.spend(self._extensions, caller, now, own_id)
        if spent and spent.taken.wait:
            return None
        self._last_use.note(caller, now)
        headers = [*sent.headers, ("X-Request-Id", own_id)]
        if spent:
            headers += spent.headers.items()
        body = sent.body(own_id.encode())
        start_response(sent.status, headers)
        handled = Handled(
            request_id=own_id,
            method="GET",
            path=sent.path,
            status=sent.code,
            seconds=perf_counter() - started,
            ended=self._clock(),
            shop_id=caller.shop.shop_id,
            credential_id=caller.credential_id,
            error=None,
        )
        for listener in self._listeners:
            listener(handled)
        return (body,) if body else ()

    def _entitled(self, sent: _Sent, now: int) -> Caller | None:
        """Who asks, where this is still the answer to them at the instant `now`."""
        try:
            caller, form_is_known = found(self._look_up.one(sent.looked_up), now)
        except (Refusal, SQLAlchemyError):
            return None
        shop = caller.shop
        is_still = (
            caller == sent.caller
            and form_is_known == sent.form_is_known
            and local_day(now, shop.timezone) == sent.today
            and self._extensions["answers"].get(sent.key, shop, now) is sent.kept
            and not _is_from_later(sent.kept, now)
        )
        return caller if is_still else None

    def remember(self, response: Response) -> Response:
        """Remember the answer to the request at hand, as it is sent, where it is what is kept."""
        again: tuple[Asked, Kept] | None = g.get("again")
        if not again or request.method != "GET":
            return response
        asked, kept = again
        varies = response.headers["Vary"].split(", ")
        headers, body = response.get_wsgi_headers(request.environ), _body(response)
        if "Content-Length" in headers:
            # Compressed in another way, it has another length; an id has always the same.
            headers["Content-Length"] = str(len(body(request_id().encode())))
        sent = _Sent(
            looked_up=g.looked_up,
            caller=asked.caller,
            form_is_known=g.form_is_known,
            today=asked.today,
            key=asked.key,
            kept=kept,
            path=g.template,
            status=response.status,
            code=response.status_code,
            headers=tuple((name, text) for name, text in headers if name not in _ANEW),
            body=body,
        )
        if _VARY.issuperset(varies) and not _is_from_later(kept, asked.now):
            size = _OVERHEAD + 2 * len(response.get_data())
            self._sent.keep(_words(request.environ), sent, size)
        return response


def register(app: Flask) -> None:
    """Give what is asked for again; called before anything else that sees the application's answers,
    or its requests."""
    repeats = Repeats(app, app.wsgi_app)
    app.wsgi_app = repeats  # type: ignore[method-assign]
    app.after_request(repeats.remember)


def _words(environ: Environ) -> bytes:
    """What tells a request from others, without its key, in so many bytes."""
    return sha256(repr([environ.get(name) for name in _WORDS]).encode()).digest()


def _is_from_later(kept: Kept, now: int) -> bool:
    """Whether the state came about after the instant `now`, by another machine's clock: then the answer
    says that it did so now."""
    return kept.state.since > now


def _body(response: Response) -> Callable[[bytes], bytes]:
    """The body with another request id in the place of its own, which a table does not have."""
    data, is_packed = response.get_data(), response.content_encoding == "gzip"
    own = request_id().encode()
    before, has_id, after = (gzip.decompress(data) if is_packed else data).partition(own)
    if not has_id:
        return lambda _: data
    if is_packed:
        return Packed(before, after).around
    return lambda other: before + other + after
