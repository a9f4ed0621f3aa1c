"""START HERE: the application factory, and what happens around every request.

A request passes, in this order: its key (401), the route (404, 405), then its endpoint (`endpoint.py`:
403, 404, the request itself). Whatever goes wrong on the way is answered by `errors.py`. One that comes
again word for word takes a shorter way (`repeats.py`).
"""

import time
from collections.abc import Callable
from time import perf_counter
from typing import Final

from flask import Flask, Response, current_app, g, request
from werkzeug.exceptions import MethodNotAllowed
from werkzeug.routing import BaseConverter

from warehouse.settings import TRUSTED_PROXIES, WAREHOUSE_URL
from web import (
    ads,
    attribution,
    cors,
    customers,
    discounts,
    errors,
    form_analytics,
    forms,
    health,
    rate_limits,
    repeats,
    revenue,
    settings,
)
from web.admission import admit
from web.answers import Answers
from web.callers import LOOK_UP, Caller
from web.campaigns import KnownCampaigns
from web.compression import compress
from web.database import Database
from web.dimensions import Dimensions
from web.endpoint import VERSION
from web.errors import Refusal
from web.handled import Handled, listen, listeners
from web.last_use import LastUse
from web.later import Later
from web.logs import log_request
from web.openapi import views as openapi
from web.proxies import TrustedProxies
from web.request_id import request_id

RESOURCES: Final = (forms, form_analytics, attribution, discounts, revenue, ads, customers)


class FormIdConverter(BaseConverter):
    """Any segment but `funnel`, which is an address of its own and never a form's id."""

    regex = "(?!funnel$)[^/]+"
    part_isolating = True


def wall_clock() -> int:
    """The present instant, in microseconds."""
    return time.time_ns() // 1000


def create_app(
    url: str | None = None,
    clock: Callable[[], int] = wall_clock,
    counts: str | None = None,
) -> Flask:
    """The API over the warehouse at `url` (default: the setting `WAREHOUSE_URL`), which must have
    been migrated. `clock` gives the present instant in microseconds. `counts` is the file in which
    the processes of one server count requests (see `rate_limits.py`)."""
    app = Flask(__name__, static_folder=None)
    # Nothing here is a coroutine, and no function need be asked at each request whether it is one.
    app.ensure_sync = lambda func: func  # type: ignore[method-assign]
    # An address has one spelling: neither `/v1/forms/` nor `//v1/forms` redirects to it.
    app.url_map.strict_slashes = True
    app.url_map.merge_slashes = False
    app.url_map.converters["form_id"] = FormIdConverter
    database = Database(url or WAREHOUSE_URL.get())
    app.extensions["clock"] = clock
    app.extensions["database"] = database
    app.extensions["look_up"] = database.keep(LOOK_UP)
    app.extensions["answers"] = Answers()
    app.extensions["dimensions"] = Dimensions()
    app.extensions["campaigns"] = KnownCampaigns()
    app.extensions["later"] = Later(database)
    app.extensions["last_use"] = LastUse(app.extensions["later"])
    listen(app, log_request)
    errors.register(app)
    app.before_request(_admit)
    # The last one here is the first to see an answer.
    repeats.register(app)
    app.after_request(compress)
    cors.register(app)
    rate_limits.register(app, counts)
    app.after_request(_sign_and_tell)
    app.teardown_request(_close_snapshot)
    for resource in RESOURCES:
        app.register_blueprint(resource.blueprint)
    app.register_blueprint(health.blueprint)
    app.register_blueprint(openapi.blueprint)
    settings.register(app)
    app.wsgi_app = TrustedProxies(app.wsgi_app, TRUSTED_PROXIES.get())  # type: ignore[method-assign]
    return app


def close_app(app: Flask) -> None:
    """Write what is still to be written, and close the connections, before a process ends."""
    app.extensions["later"].stop()
    app.extensions["counts"].close()
    app.extensions["database"].close()


def _admit() -> Response | None:
    """The key comes first: without a valid one, nothing under /v1 says whether it exists (but the
    description of it all)."""
    g.started = perf_counter()
    request_id()
    path, refused = request.path, request.routing_exception
    if isinstance(refused, MethodNotAllowed) and request.method == "OPTIONS":
        allowed = ", ".join(sorted({*(refused.valid_methods or ()), "OPTIONS"}))
        answer = Response(status=204, headers={"Allow": allowed})
        del answer.headers["Content-Type"]
        return answer
    if _needs_key(path):
        now = current_app.extensions["clock"]()
        try:
            admit(now)
        except Refusal:
            rate_limits.count_failure(now)
            raise
        rate_limits.count_request(g.caller, now)
        current_app.extensions["last_use"].note(g.caller, now)
    return None


def _needs_key(path: str) -> bool:
    return path == VERSION or (path.startswith(f"{VERSION}/") and path != openapi.PATH)


def _sign_and_tell(response: Response) -> Response:
    response.headers["X-Request-Id"] = request_id()
    known, rule = g.__dict__, request.url_rule
    caller: Caller | None = known.get("caller")
    handled = Handled(
        request_id(),
        request.method,
        known.get("template") or (rule.rule if rule else None),
        response.status_code,
        perf_counter() - known["started"],
        current_app.extensions["clock"](),
        caller.shop.shop_id if caller else None,
        caller.credential_id if caller else None,
        known.get("error"),
    )
    for listener in listeners(current_app):
        listener(handled)
    return response


def _close_snapshot(_error: BaseException | None) -> None:
    connection = g.pop("connection", None)
    if connection is not None:
        connection.close()
