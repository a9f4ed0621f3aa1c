"""Conversion windows: two ranges of submissions can be compared where their orders count for as many days."""

from typing import Any, Final

from warehouse.domain.time import NEVER
from warehouse.settings import ATTRIBUTION_WINDOW_DAYS
from web.api.query import Query
from web.http.current_request import Shop
from web.http.errors import malformed
from web.http.parameters import Parameter, days_of

WITHIN: Final = Parameter(
    "within",
    "within",
    days_of("within", "invalid_within"),
    "The days to buy, from 1 to the days of the attribution window: only submissions of days that are at "
    "least so many whole days old count, with their orders less than `within` x 24 hours after them. So two "
    "windows can be compared. Without `within`, all submissions count with all their orders to date.",
    {"type": "integer", "minimum": 1},
    "invalid_within",
)


def window_days(shop: Shop) -> int:
    """The days of the shop's attribution window: those that its figures were made with, or will be."""
    return shop.window_days or ATTRIBUTION_WINDOW_DAYS.get()


def require_within_window(shop: Shop, within: int | None, **_others: Any) -> None:
    """Raise the 400 for a conversion window that is longer than the shop's attribution window."""
    if within and within > window_days(shop):
        raise malformed(
            "invalid_within",
            f"`within` is `{within}`. Give at most {window_days(shop)}, the days of the attribution window.",
        )


def age_clock(query: Query) -> tuple[int, int]:
    """A clock that moves with the day until every submission of the window is old enough for `within`."""
    return (0, NEVER) if query.within is None else old_enough_clock(query, query.within)


def old_enough_clock(query: Query, days: int) -> tuple[int, int]:
    """A clock that moves with the day until every submission of the window is so many whole days old."""
    return min(query.today, query.window.last + days + 1), NEVER
