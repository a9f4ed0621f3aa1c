"""START HERE: the collector's application, and how a request passes.

In this order: the limit of its address (429), write keys that were read (503), the type and size of the
body (415, 400), its JSON (400), its calls by the limit of the address (429), the write key (401), the
origin (403), the limits of the key and of the shop (429), the disk (503). Calls that are not about forms are
answered 200 and dropped. Nothing here asks the warehouse.
"""

import zlib
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from time import perf_counter
from typing import Final, NamedTuple

import orjson
from flask import Flask, Response, g, request
from werkzeug.exceptions import HTTPException, MethodNotAllowed

from warehouse.operations.collectors import NO_ID, TOO_MANY_BYTES
from web.collector import snippet
from web.collector.calls import (
    MAX_BATCH_BYTES,
    MAX_EVENT_BYTES,
    REFUSED,
    TAKEN,
    UNREADABLE,
    MalformedCalls,
    PostedCalls,
    is_finding,
    read_batch,
    read_call,
    reduce_calls,
)
from web.collector.known_keys import KnownKeys
from web.collector.landing_writer import LandingWriter, NotWritten
from web.collector.limits import SendLimits
from web.collector.warehouse_writer import WarehouseWriter
from web.http import response_headers
from web.http.current_request import (
    CurrentRequest,
    current_request,
    new_request_id,
    request_id,
)
from web.http.errors import CODES, MESSAGES, Refusal
from web.http.host_and_proxy import believe_proxies
from web.http.request_bodies import BodyReader
from web.http.request_log import log_failure
from web.limits.gcra import client_network

# Libraries for servers use the long names, those for browsers the short ones.
_TRACK: Final = ("/v1/track", "/v1/t")
_BATCH: Final = ("/v1/batch", "/v1/b")
_DROPPED: Final = (
    *("/v1/identify", "/v1/i", "/v1/page", "/v1/p", "/v1/screen", "/v1/s"),
    *("/v1/group", "/v1/g", "/v1/alias", "/v1/a", "/v1/m"),
)
_MEDIA_TYPES: Final = ("application/json", "text/plain")
_SUCCESS: Final = orjson.dumps({"success": True})
# The time for which a browser remembers what it may send.
_PREFLIGHT_SECONDS: Final = "7200"
# Seconds after which a client may try again.
_KEYS_RETRY: Final = {"Retry-After": "5"}
_DISK_RETRY: Final = {"Retry-After": "10"}


class HandledPost(NamedTuple):
    """A request that was answered: its path, "" for an unknown one; seconds until its answer; calls by
    outcome; bytes that it added to the landing folder."""

    path: str
    status: int
    seconds: float
    outcomes: Counter[str]
    bytes: int


@dataclass
class Collector:
    """The objects that the requests of one process share. `clock` gives the present instant."""

    keys: KnownKeys
    writer: LandingWriter
    limits: SendLimits
    warehouse_writer: WarehouseWriter
    clock: Callable[[], int]
    observe: Callable[[HandledPost], None] = lambda _post: None
    # Threads are left for those that ask whether the process lives.
    bodies: BodyReader = field(default_factory=partial(BodyReader, at_once=14, queued=32))

    def close(self) -> None:
        """Write what waits, and let go of everything."""
        self.writer.close()
        self.keys.close()
        self.warehouse_writer.close()
        self.limits.close()


def create_collector(shared: Collector) -> Flask:
    """The application. It does not close what it is given."""
    app = Flask(__name__, static_folder=None)
    app.url_map.strict_slashes = True
    app.url_map.merge_slashes = False

    def begin() -> None:
        now = shared.clock()
        g.current_request = CurrentRequest(new_request_id(now), now, started=perf_counter())
        g.outcomes, g.bytes = Counter(), 0

    def drop() -> Response:
        _check_address(shared)
        return _json(_SUCCESS)

    def is_ready() -> Response:
        _check_ready(shared)
        return _json(_SUCCESS)

    def end(response: Response) -> Response:
        origin = request.headers.get("Origin")
        if origin and shared.keys.allows(origin):
            response.headers["Access-Control-Allow-Origin"] = origin
            response.headers["Access-Control-Expose-Headers"] = "Retry-After"
        response.vary.add("Origin")
        path = request.url_rule.rule if request.url_rule else ""
        seconds = perf_counter() - current_request().started
        handled = HandledPost(path, response.status_code, seconds, g.outcomes, g.bytes)
        shared.observe(handled)
        return response_headers.add(response)

    def refuse_as_flask(error: HTTPException) -> Response:
        """An unknown address or method; a browser's question whether it may send (OPTIONS)."""
        if isinstance(error, MethodNotAllowed) and request.method == "OPTIONS":
            return _preflight(shared)
        status = error.code or 500
        allowed = ", ".join(getattr(error, "valid_methods", None) or ())
        headers = {"Allow": allowed} if allowed else {}
        code = CODES.get(status, "invalid_body")
        return _refused(Refusal(status, code, MESSAGES.get(status, f"{error.name}."), headers))

    def fail(error: Exception) -> Response:
        log_failure(request_id(), error)
        return _refused(Refusal(500, CODES[500], MESSAGES[500]))

    app.before_request(begin)
    app.after_request(end)
    take_call = partial(_take, shared, read_call, MAX_EVENT_BYTES)
    take_batch = partial(_take, shared, read_batch, MAX_BATCH_BYTES)
    for paths, view in ((_TRACK, take_call), (_BATCH, take_batch), (_DROPPED, drop)):
        for path in paths:
            app.add_url_rule(path, path, view, methods=["POST"], provide_automatic_options=False)
    for path, script in snippet.SCRIPTS.items():
        app.add_url_rule(path, path, snippet.answer_of(script))
    app.add_url_rule("/healthz", "/healthz", lambda: _json(_SUCCESS))
    app.add_url_rule("/readyz", "/readyz", is_ready)
    app.register_error_handler(Refusal, _refused)
    app.register_error_handler(HTTPException, refuse_as_flask)
    app.register_error_handler(Exception, fail)
    believe_proxies(app)
    return app


def _take(shared: Collector, read: Callable[[bytes], PostedCalls], max_bytes: int) -> Response:
    _check_address(shared)
    _check_ready(shared)
    try:
        posted = read(_body(shared.bodies, max_bytes))
    except MalformedCalls as error:
        raise Refusal(400, "invalid_body", str(error)) from None
    # Until they are on disk.
    calls = len(posted.calls) + posted.dropped
    g.outcomes = Counter({REFUSED: calls})
    now, limits, address = shared.clock(), shared.limits, request.remote_addr or ""
    _check_wait(limits.count_calls(address, calls, now), "This address", "events")
    text = request.authorization.username if request.authorization else None
    text = text or posted.write_key
    key = shared.keys.find(text) if isinstance(text, str) else None
    origin = request.headers.get("Origin")
    # The line without a key says where it is: to the shop of that page.
    if text is None and origin and posted.calls and all(map(is_finding, posted.calls)):
        key = shared.keys.naming(origin)
    if key is None:
        raise Refusal(
            401,
            CODES[401],
            "A write key that works is needed: as `writeKey` in the body, or as the user name of Basic "
            "authentication.",
        )
    if origin and not key.allows(origin):
        raise _refused_origin("This write key is", origin)
    # A library for servers names the visitor's user agent in the call, if it knows it.
    agent = request.headers.get("User-Agent", "") if origin else ""
    reduced = reduce_calls(posted, key, agent, now, on_own_page=key.names(origin or ""))
    shared.warehouse_writer.add(key.shop_key, NO_ID, reduced.outcomes[NO_ID])
    if reduced.lines:
        kept = reduced.outcomes[TAKEN]
        _check_wait(limits.count_kept(str(text), address, kept, now), "This write key", "events")
        seconds = limits.count_bytes(key.shop_id, len(reduced.lines), now)
        shared.warehouse_writer.add(key.shop_key, TOO_MANY_BYTES, kept if seconds else 0)
        _check_wait(seconds, "This shop", "bytes")
        try:
            shared.writer.append(reduced.lines, reduced.forms)
        except NotWritten as error:
            raise Refusal(
                503,
                CODES[503],
                f"The events cannot be written: {error}. Send them again in 10 s.",
                _DISK_RETRY,
            ) from None
    shared.warehouse_writer.see(key.shop_key, reduced.sightings)
    g.outcomes, g.bytes = (
        reduced.outcomes + Counter({UNREADABLE: posted.dropped}),
        len(reduced.lines),
    )
    dropped = posted.dropped + reduced.outcomes[NO_ID]
    return _json(orjson.dumps({"success": True, "dropped": dropped}) if dropped else _SUCCESS)


def _check_address(shared: Collector) -> None:
    seconds = shared.limits.count_request(request.remote_addr or "", shared.clock())
    _check_wait(seconds, "This address", "events")


def _check_wait(seconds: int, sender: str, what: str) -> None:
    if seconds:
        raise Refusal(
            429,
            CODES[429],
            f"{sender} has sent too many {what}; try again in {seconds} s.",
            {"Retry-After": str(seconds)},
        )


def _check_ready(shared: Collector) -> None:
    if not shared.keys.were_read:
        raise Refusal(
            503,
            CODES[503],
            "The write keys could not be read from the warehouse yet; try again in 5 s.",
            _KEYS_RETRY,
        )


def _body(reader: BodyReader, max_bytes: int) -> bytes:
    """The body as it was before it was compressed. Raises the 415, the 503, and the 400s."""
    if request.mimetype not in _MEDIA_TYPES:
        raise Refusal(
            415, CODES[415], "The body is not JSON; send it as application/json or text/plain."
        )
    too_large = Refusal(
        400, "payload_too_large", f"The body is too large; send at most {max_bytes} bytes."
    )
    if (request.content_length or 0) > max_bytes:
        raise too_large
    sender = client_network(request.remote_addr or "")
    body = reader.read(request.stream, sender, max_bytes)
    if request.headers.get("Content-Encoding", "").lower() == "gzip":
        try:
            body = zlib.decompressobj(wbits=31).decompress(body, max_bytes + 1)
        except zlib.error:
            raise Refusal(
                400, "invalid_body", "The body is not gzip, as its `Content-Encoding` says."
            ) from None
    if len(body) > max_bytes:
        raise too_large
    return body


def _json(body: bytes, status: int = 200, headers: dict[str, str] | None = None) -> Response:
    return Response(body, status, headers, mimetype="application/json")


def _refused(refusal: Refusal) -> Response:
    error = {"code": refusal.code, "message": refusal.message}
    body = orjson.dumps({"success": False, "error": error})
    return _json(body, refusal.status, dict(refusal.headers))


def _preflight(shared: Collector) -> Response:
    """Answer a browser that asks whether it may send. The key comes with the request itself: here an origin
    counts that any key allows."""
    origin = request.headers.get("Origin", "")
    if not shared.keys.allows(origin):
        return _refused(_refused_origin("No write key is", origin))
    headers = {
        "Access-Control-Allow-Methods": "POST",
        # Each library has headers of its own for what it sends, and sends again. None of them opens anything.
        "Access-Control-Allow-Headers": request.headers.get(
            "Access-Control-Request-Headers", "Authorization, Content-Encoding, Content-Type"
        ),
        "Access-Control-Max-Age": _PREFLIGHT_SECONDS,
    }
    response = Response(status=204, headers=headers)
    del response.headers["Content-Type"]
    return response


def _refused_origin(subject: str, origin: str) -> Refusal:
    if origin == "null":
        why = (
            f"{subject} not for pages without an origin (`Origin: null`): a file that was opened from a "
            "disk, or a sandboxed frame. Open the page at an address of http or https whose origin the key "
            "names, or give the frame `allow-same-origin`"
        )
    else:
        why = f"{subject} not for pages of {origin[:255]}; create one that names this origin"
    return Refusal(403, "origin_not_allowed", f"{why}.")
