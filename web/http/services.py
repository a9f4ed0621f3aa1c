"""Services: the objects that the requests of one process share. `create_app` (`app.py`) makes them."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from flask import Flask, current_app

from web.auth.sign_in_limits import KnownRefusals
from web.db.database import Database
from web.db.dimensions import Dimensions
from web.db.shop_cache import ShopCache
from web.http.admission import Admission
from web.http.background_writes import BackgroundWrites
from web.http.health import Health
from web.http.rate_limits import RateLimits

KEY: Final = "formrevenue"
"""The extension of an application under which it has them."""


@dataclass
class Services:
    """The objects that the requests of one process share. `clock` gives the present instant in
    microseconds."""

    clock: Callable[[], int]
    database: Database
    dimensions: Dimensions
    shop_cache: ShopCache
    background_writes: BackgroundWrites
    rate_limits: RateLimits
    known_refusals: KnownRefusals
    admission: Admission
    health: Health


def services_of(app: Flask) -> Services:
    services: Services = app.extensions[KEY]
    return services


def services() -> Services:
    """The services of the application at hand."""
    return services_of(current_app)
