"""START HERE: the application factory, and what happens around every request.

A request whose answer is known gets it at once (`http/known_answers.py`). Another passes, in this order: the
number of requests in progress (429, 503), its key (401), the limits of its shop (429), its `Host` (400), the
route (404, 405), then its endpoint (`api/endpoint.py`: 403, 404, the request itself). `http/errors.py`
answers what goes wrong on the way. An answer is then compressed, gets the headers of CORS, its id and its
rate limit, and is logged.
"""

from collections.abc import Callable
from time import perf_counter

from flask import Flask, Response, g, request
from werkzeug.exceptions import MethodNotAllowed
from werkzeug.routing import BaseConverter

from warehouse.domain.time import now_micros
from warehouse.settings import WAREHOUSE_URL, replica_url
from web import mcp, pages
from web.api.endpoint import ROW_LIMITS, VERSION
from web.api.row_limit import RowLimits
from web.auth.sign_in_limits import KnownRefusals
from web.dashboard import views as dashboard
from web.db.database import Database
from web.db.dimensions import Dimensions
from web.db.shop_cache import ShopCache
from web.http import cors, errors, health, response_headers
from web.http.admission import Admission
from web.http.api_key_auth import LOOK_UP, authenticate, sent_key
from web.http.background_writes import BackgroundWrites
from web.http.compression import compress
from web.http.current_request import CurrentRequest, new_request_id
from web.http.errors import Refusal
from web.http.host_and_proxy import believe_proxies, mark_malformed_hosts, require_host
from web.http.known_answers import KnownAnswers
from web.http.rate_limits import RateLimits
from web.http.request_bodies import bounded_requests
from web.http.request_log import HandledRequest, handled_request, log_request
from web.http.services import KEY, Services, services, services_of
from web.mcp.views import serve as serve_assistants
from web.openapi import views as openapi
from web.pages.rendering import error_page
from web.reports import ENDPOINTS


class TextConverter(BaseConverter):
    """Any text, slashes too: the id of an order is its shop's."""

    regex = ".+"
    part_isolating = False


class FormIdConverter(BaseConverter):
    """Any segment but `funnel`, which is an address of its own and never a form's id."""

    regex = "(?!funnel$)[^/]+"
    part_isolating = True


def create_app(
    url: str | None = None,
    clock: Callable[[], int] = now_micros,
    rate_buckets: str | None = None,
    observe: Callable[[HandledRequest], None] | None = None,
) -> Flask:
    """The API over the warehouse at `url` (default: the setting `WAREHOUSE_URL`), which must have
    been migrated, and its read replica, if it has one. `clock` gives the present instant in microseconds.
    `rate_buckets` is the file in which the processes of one server count requests (see `rate_limits.py`).
    `observe` is told of every request that was answered."""
    app = Flask(__name__, static_folder=None)
    app.request_class = bounded_requests()
    app.config[ROW_LIMITS] = RowLimits()
    app.config["PROVIDE_AUTOMATIC_OPTIONS"] = False
    # An address has one spelling: neither `/v1/forms/` nor `//v1/forms` redirects to it.
    app.url_map.strict_slashes = True
    app.url_map.merge_slashes = False
    app.url_map.converters["form_id"] = FormIdConverter
    app.url_map.converters["text"] = TextConverter
    database = Database(url or WAREHOUSE_URL.get(), replica_url())
    app.extensions[KEY] = shared = Services(
        clock=clock,
        database=database,
        dimensions=Dimensions(),
        shop_cache=ShopCache(),
        background_writes=BackgroundWrites(database),
        rate_limits=RateLimits(rate_buckets),
        known_refusals=KnownRefusals(),
        admission=Admission(),
        health=health.Health(database, clock),
    )

    def finish(response: Response) -> Response:
        response = response_headers.add(compress(response))
        handled = handled_request(response, clock())
        log_request(handled)
        if observe:
            observe(handled)
        return response

    errors.register(app, error_page)
    app.before_request(_begin)
    # The function that is registered last sees an answer first.
    cors.register(app)
    app.after_request(finish)
    app.teardown_request(_end)
    for endpoint in ENDPOINTS:
        endpoint.register(app)
    shared.health.register(app)
    app.register_blueprint(openapi.blueprint)
    app.add_url_rule(mcp.PATH, "mcp", serve_assistants, methods=["POST"])
    pages.register(app)
    app.register_blueprint(dashboard.blueprint)
    mark_malformed_hosts(app)
    if look_ups := database.look_ups(LOOK_UP):
        known = KnownAnswers(app.wsgi_app, look_ups, shared, observe)
        app.wsgi_app = known  # type: ignore[method-assign]
    believe_proxies(app)
    return app


def close_app(app: Flask) -> None:
    """Write what is still to be written, and close the connections, before a process ends."""
    shared = services_of(app)
    shared.background_writes.stop()
    shared.health.settle()
    shared.rate_limits.close()
    shared.database.close()


def _begin() -> Response | None:
    """The key comes first: without a valid one, nothing under /v1 says whether it exists, except the
    description of the whole."""
    shared = services()
    now = shared.clock()
    current = CurrentRequest(new_request_id(now), now, started=perf_counter(), key=sent_key())
    g.current_request = current
    refused = request.routing_exception
    if isinstance(refused, MethodNotAllowed) and request.method == "OPTIONS":
        allowed = ", ".join(sorted({*(refused.valid_methods or ()), "OPTIONS"}))
        response = Response(status=204, headers={"Allow": allowed})
        del response.headers["Content-Type"]
        return response
    if request.path not in health.PATHS:
        shared.admission.admit(current)
    path = request.path
    is_of_api = path == VERSION or (path.startswith(f"{VERSION}/") and path != openapi.PATH)
    if is_of_api or path == mcp.PATH:
        if request.method in ("GET", "HEAD"):
            _find_caller(shared, current)
        else:
            # Nothing of the warehouse is held while a body comes, for as long as its client takes.
            with shared.admission.reading(current):
                _find_caller(shared, current)
                _release(current)
            if refused is None:
                request.stream  # noqa: B018 (it is read, and kept)
            if request.path == mcp.PATH:
                shared.admission.admit_read(current)
            else:
                shared.admission.admit_write(current)
            authenticate(shared.database, current)
    require_host()
    return None


def _find_caller(shared: Services, current: CurrentRequest) -> None:
    """Authenticate the request at hand, and count it. Raises the 401 and the 429."""
    try:
        caller = authenticate(shared.database, current)
    except Refusal:
        shared.admission.forget(current.credential)
        shared.rate_limits.count_failure(current.now)
        raise
    shared.admission.remember(current.credential, caller.shop.key)
    shared.rate_limits.count_request(caller.shop.key, current.now, current.rate_limit_headers)
    used = caller.credential_id, caller.last_used_at
    shared.background_writes.record_use(*used, current.now)


def _end(_error: BaseException | None) -> None:
    current: CurrentRequest | None = g.get("current_request")
    if current is None:
        return
    with current.slots:
        _release(current)


def _release(current: CurrentRequest) -> None:
    connection, current.connection = current.connection, None
    if connection:
        services().database.release(connection)
