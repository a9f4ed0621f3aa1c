"""Numbers, money and dates in the language of the browser; the words of the pages are English."""

from collections.abc import Callable
from copy import copy
from datetime import date, datetime, timedelta
from decimal import Decimal
from functools import lru_cache
from typing import Final

from babel import Locale, UnknownLocaleError
from babel.dates import format_date, format_datetime, format_time, format_timedelta
from babel.numbers import NumberPattern, format_currency, format_decimal
from flask import request

from warehouse.domain.currencies import minor_units
from web.dashboard.statistics import Interval

NOTHING: Final = "\N{EM DASH}"
"""Stands where a figure is not known; a 0 is one that is."""

_SECOND: Final = timedelta(seconds=1)
# From here on the cents of an amount say nothing at a glance.
_WHOLE_FROM: Final = 1_000


def locale() -> Locale:
    """The first language of the browser that Babel knows, else English."""
    for language, _ in request.accept_languages:
        if found := _locale(language):
            return found
    return Locale("en", "US")


@lru_cache(maxsize=256)
def _locale(language: str) -> Locale | None:
    try:
        return Locale.parse(language, sep="-")
    except (UnknownLocaleError, ValueError):
        return None


def count(number: int) -> str:
    return format_decimal(number, locale=locale())


def money(cents: int, currency: str, *, exact: bool = False) -> str:
    """An amount in minor units; at a glance without them, from 1,000 on."""
    amount = Decimal(cents) / minor_units(currency)
    if exact or abs(amount) < _WHOLE_FROM:
        return format_currency(amount, currency, locale=locale())
    pattern = _with_digits(locale().currency_formats["standard"], 0, 0)
    return str(pattern.apply(amount, locale(), currency=currency, currency_digits=False))


def percent(value: float) -> str:
    """A rate of the API: 12.34 stands for 12.34 %. One decimal at most."""
    pattern = _with_digits(locale().percent_formats[None], 0, 1)
    return str(pattern.apply(Decimal(str(value)) / 100, locale()))


def _with_digits(pattern: NumberPattern, least: int, most: int) -> NumberPattern:
    """A pattern of the language with another number of decimals."""
    changed = copy(pattern)
    changed.frac_prec = (least, most)
    return changed


def decimal(value: float, digits: int = 2) -> str:
    return format_decimal(round(value, digits), locale=locale())


def day(value: date) -> str:
    return format_date(value, "medium", locale=locale())


def instant(value: datetime) -> str:
    return format_datetime(value, "medium", tzinfo=value.tzinfo, locale=locale())


def moment(value: datetime, now: datetime) -> str:
    """The time of an instant, and its day where that is not today. Both in the same time zone."""
    time = format_time(value, "short", tzinfo=value.tzinfo, locale=locale())
    return time if value.date() == now.date() else f"{day(value)}, {time}"


def ago(value: datetime, now: datetime) -> str:
    """How long ago an instant is: `3 min ago`."""
    age = value - now
    if -_SECOND < age <= timedelta(0):
        # A difference of 0 would be said to lie ahead.
        age = -_SECOND
    return format_timedelta(age, add_direction=True, format="short", threshold=1, locale=locale())


def amount(value: float, currency: str) -> str:
    """An amount in major units, as ad spend has them."""
    return money(round(value * minor_units(currency)), currency)


def signed_percent(value: float) -> str:
    return f"{'+' if value > 0 else ''}{percent(value)}"


def signed_points(value: float) -> str:
    return f"{'+' if value > 0 else ''}{decimal(value, 1)} points"


def interval(value: Interval) -> str:
    """An interval of a rate."""
    return f"{percent(100 * value.low)} to {percent(100 * value.high)}"


FILTERS: Final[dict[str, Callable[..., str]]] = {
    "count": count,
    "money": money,
    "amount": amount,
    "percent": percent,
    "decimal": decimal,
    "signed_percent": signed_percent,
    "signed_points": signed_points,
    "interval": interval,
    "day": day,
    "instant": instant,
    "moment": moment,
    "ago": ago,
}
