"""`Services`: what every part of a process shares. `RequestState`: what is known of one request."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from flask import Flask, current_app, g

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from web.auth.sign_in_limits import KnownRefusals
    from web.db.background_writes import BackgroundWrites, LastUse
    from web.db.database import Database
    from web.db.dimensions import Dimensions
    from web.db.probe import Probe
    from web.db.shop_cache import ShopCache
    from web.http.api_key_auth import Caller
    from web.http.concurrency_limits import Admission, ConcurrencyLimits
    from web.http.health import Readiness
    from web.http.rate_limits import RateLimits
    from web.http.request_bodies import BodyReader
    from web.http.request_log import HandledRequest
    from web.http.response_cache import ResponseCache

_KEY: Final = "formrevenue"


@dataclass
class Services:
    """One per process. `clock` gives the present instant in microseconds; `listeners` are called with
    every request that was answered. Requests with a key and pages read their bodies apart, so that
    visitors without a key do not take the readers of those who have one."""

    clock: Callable[[], int]
    database: Database
    response_cache: ResponseCache
    dimensions: Dimensions
    shop_cache: ShopCache
    background_writes: BackgroundWrites
    last_use: LastUse
    rate_limits: RateLimits
    known_refusals: KnownRefusals
    concurrency: ConcurrencyLimits
    readiness: dict[str, Probe[Readiness]]
    operator_needs: Probe[dict[str, int]]
    api_bodies: BodyReader
    page_bodies: BodyReader
    listeners: list[Callable[[HandledRequest], None]] = field(default_factory=list)


@dataclass
class RequestState:
    """One per request; `now` is the instant at which it came, `started` the reading of a stopwatch.

    `connection` is closed with the request: a request with a key has one snapshot, in which its `caller`
    was found. `form_exists`: whether the form id in the address is a form of the caller's shop. `template`
    is the address with `{id}` for ids. `error` is the code of a refusal. `admission` is the request's place
    among those in progress, which it gives back at its end.
    """

    request_id: str
    now: int
    started: float
    connection: Connection | None = None
    admission: Admission | None = None
    caller: Caller | None = None
    form_exists: bool = False
    template: str | None = None
    rate_limit_headers: dict[str, str] = field(default_factory=dict)
    error: str | None = None


def install(app: Flask, services: Services) -> None:
    app.extensions[_KEY] = services


def services_of(app: Flask) -> Services:
    services: Services = app.extensions[_KEY]
    return services


def services() -> Services:
    """Those of the application at hand."""
    return services_of(current_app)


def state() -> RequestState:
    """That of the request at hand."""
    current: RequestState = g.state
    return current
