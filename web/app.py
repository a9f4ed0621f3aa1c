"""START HERE: the application factory, and what happens around every request.

A request passes, in this order: the number of requests in progress (503), its key (401), the limits of its
shop (429), its `Host` (400), the route (404, 405), then its endpoint (`api/endpoint.py`: 403, 404, the
request itself). `http/errors.py` answers what goes wrong on the way. An answer is then compressed, gets the
headers of CORS, its id and its rate limit, and is logged.
"""

from collections.abc import Callable
from time import perf_counter

from flask import Flask, Response, g, request
from werkzeug.exceptions import MethodNotAllowed
from werkzeug.routing import BaseConverter

from warehouse.settings import TRUSTED_PROXIES, WAREHOUSE_URL, replica_url
from web import pages
from web.api.endpoint import ROW_LIMITS, VERSION
from web.api.row_limit import RowLimits
from web.auth.sign_in_limits import KnownRefusals
from web.clock import wall_clock
from web.dashboard import views as dashboard
from web.db.background_writes import BackgroundWrites, LastUse
from web.db.database import Database
from web.db.dimensions import Dimensions
from web.db.probe import settle
from web.db.shop_cache import ShopCache
from web.http import compression, cors, errors, health, request_log, response_headers
from web.http.api_key_auth import authenticate
from web.http.concurrency_limits import ConcurrencyLimits
from web.http.errors import Refusal
from web.http.host_header import CheckedHosts, refuse_malformed_host
from web.http.proxies import TrustedProxies
from web.http.rate_limits import RateLimits
from web.http.request_bodies import MAX_BYTES, BodyReader, BoundedRequest, Turns
from web.http.request_id import new_request_id
from web.http.response_cache import ResponseCache
from web.http.state import RequestState, Services, install, services, services_of
from web.openapi import views as openapi
from web.pages import page_request
from web.pages.rendering import error_page
from web.reports import ENDPOINTS


class FormIdConverter(BaseConverter):
    """Any segment but `funnel`, which is an address of its own and never a form's id."""

    regex = "(?!funnel$)[^/]+"
    part_isolating = True


def create_app(
    url: str | None = None,
    clock: Callable[[], int] = wall_clock,
    rate_buckets: str | None = None,
) -> Flask:
    """The API over the warehouse at `url` (default: the setting `WAREHOUSE_URL`), which must have
    been migrated, and its read replica, if it has one. `clock` gives the present instant in microseconds.
    `rate_buckets` is the file in which the processes of one server count requests (see `rate_limits.py`)."""
    app = Flask(__name__, static_folder=None)
    app.request_class = BoundedRequest
    app.config[ROW_LIMITS] = RowLimits()
    # An address has one spelling: neither `/v1/forms/` nor `//v1/forms` redirects to it.
    app.url_map.strict_slashes = True
    app.url_map.merge_slashes = False
    app.url_map.converters["form_id"] = FormIdConverter
    database = Database(url or WAREHOUSE_URL.get(), replica_url())
    writes = BackgroundWrites(database)
    shared = Services(
        clock=clock,
        database=database,
        response_cache=ResponseCache(),
        dimensions=Dimensions(),
        shop_cache=ShopCache(),
        background_writes=writes,
        last_use=LastUse(writes),
        rate_limits=RateLimits(rate_buckets),
        known_refusals=KnownRefusals(),
        concurrency=ConcurrencyLimits(),
        readiness=health.probes(database),
        operator_needs=health.needs_probe(database, clock),
        api_bodies=BodyReader(MAX_BYTES, Turns(at_once=6, queued=4)),
        page_bodies=BodyReader(page_request.MAX_FORM_BYTES, Turns(at_once=2, queued=28)),
        listeners=[request_log.log_request],
    )
    install(app, shared)
    errors.register(app, error_page)
    app.before_request(_begin)
    # The function that is registered last sees an answer first.
    app.after_request(request_log.report)
    app.after_request(response_headers.add)
    cors.register(app)
    compression.register(app)
    app.teardown_request(_end)
    for endpoint in ENDPOINTS:
        endpoint.register(app)
    app.register_blueprint(health.blueprint)
    app.register_blueprint(openapi.blueprint)
    pages.register(app)
    app.register_blueprint(dashboard.blueprint)
    proxies = TRUSTED_PROXIES.get()
    app.wsgi_app = TrustedProxies(CheckedHosts(app.wsgi_app), proxies)  # type: ignore[method-assign]
    return app


def close_app(app: Flask) -> None:
    """Write what is still to be written, and close the connections, before a process ends."""
    shared = services_of(app)
    shared.background_writes.stop()
    settle([*shared.readiness.values(), shared.operator_needs])
    shared.rate_limits.close()
    shared.database.close()


def _begin() -> Response | None:
    """The key comes first: without a valid one, nothing under /v1 says whether it exists, except the
    description of the whole."""
    shared = services()
    now = shared.clock()
    g.state = RequestState(new_request_id(now), now, started=perf_counter())
    refused = request.routing_exception
    if isinstance(refused, MethodNotAllowed) and request.method == "OPTIONS":
        allowed = ", ".join(sorted({*(refused.valid_methods or ()), "OPTIONS"}))
        response = Response(status=204, headers={"Allow": allowed})
        del response.headers["Content-Type"]
        return response
    if request.blueprint != health.blueprint.name:
        g.state.admission = shared.concurrency.admit()
    if _needs_key(request.path):
        try:
            caller = authenticate()
        except Refusal:
            shared.rate_limits.count_failure(now)
            raise
        shared.rate_limits.count_request(caller.shop.key, now)
        g.state.admission.enter(caller.shop.key, takes_turns=request.method in ("GET", "HEAD"))
        shared.last_use.record(caller.credential_id, caller.last_used_at, now)
    refuse_malformed_host(request)
    return None


def _needs_key(path: str) -> bool:
    return path == VERSION or (path.startswith(f"{VERSION}/") and path != openapi.PATH)


def _end(_error: BaseException | None) -> None:
    current: RequestState | None = g.get("state")
    if current is None:
        return
    try:
        if current.connection:
            services().database.release(current.connection)
    finally:
        if current.admission:
            current.admission.end()
