"""Numbers, money and dates in the language of the browser; the words of the pages are English."""

from collections.abc import Callable
from copy import copy
from datetime import date, datetime, timedelta
from decimal import Decimal
from functools import lru_cache, wraps
from typing import Any, Concatenate, Final, ParamSpec

from babel import Locale
from babel.dates import format_date, format_datetime, format_skeleton, format_time, format_timedelta
from babel.numbers import (
    NumberPattern,
    format_compact_currency,
    format_compact_decimal,
    format_currency,
    format_decimal,
)

from warehouse.domain.vocabulary import minor_units
from web.dashboard.statistics import Interval
from web.pages.language import locale

# From here on the cents of an amount say nothing at a glance.
_WHOLE_FROM: Final = 1_000
# From here on an axis has "1.5M" in place of all digits.
_COMPACT_FROM: Final = 1_000_000
_Values = ParamSpec("_Values")


def language_tag() -> str:
    """The language for a browser's own formatting, with the digits that Babel writes."""
    return f"{str(locale()).replace('_', '-')}-u-nu-latn"


def in_language(
    write: Callable[Concatenate[Locale, _Values], str],
) -> Callable[_Values, str]:
    """Write in the language of the browser. A page has hundreds of numbers, and the next one has most of them
    again."""
    known = lru_cache(maxsize=8192)(write)

    @wraps(write)
    def localized(*values: _Values.args, **named: _Values.kwargs) -> str:
        return known(locale(), *values, **named)  # type: ignore[arg-type]

    return localized


@in_language
def count(language: Locale, number: int) -> str:
    return format_decimal(number, locale=language)


def counted(number: int, noun: str) -> str:
    """`1 day`, `7 days`: the words of the pages are English."""
    return f"{count(number)} {noun}{'' if number == 1 else 's'}"


@in_language
def money(language: Locale, cents: int, currency: str, *, exact: bool = False) -> str:
    """An amount in minor units; at a glance without them, from 1,000 on."""
    amount = Decimal(cents) / minor_units(currency)
    if exact or abs(amount) < _WHOLE_FROM:
        return format_currency(amount, currency, locale=language)
    return _whole_money(amount, currency, language)


def _whole_money(amount: Decimal, currency: str, locale: Locale) -> str:
    pattern = _with_digits(locale.currency_formats["standard"], 0, 0)
    return str(pattern.apply(amount, locale, currency=currency, currency_digits=False))


def short_money(cents: int, currency: str) -> str:
    """A round amount on an axis."""
    amount = Decimal(cents) / minor_units(currency)
    if abs(amount) >= _COMPACT_FROM:
        return format_compact_currency(amount, currency, locale=locale(), fraction_digits=1)
    if amount % 1:
        return format_currency(amount, currency, locale=locale())
    return _whole_money(amount, currency, locale())


def short_count(number: int) -> str:
    """A round number on an axis."""
    if abs(number) >= _COMPACT_FROM:
        return format_compact_decimal(number, locale=locale(), fraction_digits=1)
    return count(number)


@in_language
def percent(language: Locale, value: float) -> str:
    """A rate of the API: 12.34 stands for 12.34 %. One decimal at most."""
    pattern = _with_digits(language.percent_formats[None], 0, 1)
    return str(pattern.apply(Decimal(str(value)) / 100, language))


def _with_digits(pattern: NumberPattern, least: int, most: int) -> NumberPattern:
    """A pattern of the language with another number of decimals."""
    changed = copy(pattern)
    changed.frac_prec = (least, most)
    return changed


def decimal(value: float, digits: int = 2) -> str:
    return format_decimal(round(value, digits), locale=locale())


def times(value: float) -> str:
    """A ratio, to two decimals."""
    return f"{format_decimal(value, '#,##0.00', locale=locale())}\N{NO-BREAK SPACE}\N{MULTIPLICATION SIGN}"


@in_language
def day(language: Locale, value: date) -> str:
    return format_date(value, "medium", locale=language)


def stated_day(text: str) -> str:
    """A day that is stored as `2026-11-24`."""
    return day(date.fromisoformat(text))


def short_day(value: date) -> str:
    """The day without its year."""
    return str(format_skeleton("MMMd", value, locale=locale()))


def weekday(value: date) -> str:
    return format_date(value, "EEEE", locale=locale())


def age(days: int) -> str:
    """`7 days`"""
    return format_timedelta(timedelta(days), granularity="day", threshold=1_000, locale=locale())


def month(value: date) -> str:
    return str(format_skeleton("yMMM", value, locale=locale()))


def instant(value: datetime) -> str:
    return format_datetime(value, "medium", tzinfo=value.tzinfo, locale=locale())


def moment(value: datetime, now: datetime) -> str:
    """The time of an instant, and its day where that is not today. Both in the same time zone."""
    time = format_time(value, "short", tzinfo=value.tzinfo, locale=locale())
    return time if value.date() == now.date() else f"{day(value)}, {time}"


def amount(value: float, currency: str, *, exact: bool = False) -> str:
    """An amount in major units, as ad spend has them."""
    return money(round(value * minor_units(currency)), currency, exact=exact)


# A change that is too small to be shown has no sign: adding 0 makes 0.0 of -0.0.


def signed_points(value: float) -> str:
    shown = round(value, 1) + 0.0
    return f"{'+' if shown > 0 else ''}{decimal(shown, 1)} points"


def interval(value: Interval) -> str:
    """An interval of a rate."""
    return f"{percent(100 * value.low)} to {percent(100 * value.high)}"


def duration(ms: float) -> str:
    """A time in milliseconds, as a clock has it: 42.3 s, 3 min 20 s, 1 h 5 min."""
    seconds = ms / 1000
    if round(seconds, 1) < 60:
        return f"{decimal(seconds, 1)} s"
    if round(seconds) < 3_600:
        minutes, rest = divmod(round(seconds), 60)
        return f"{minutes} min {rest} s" if rest else f"{minutes} min"
    hours, rest = divmod(round(seconds / 60), 60)
    return f"{count(hours)} h {rest} min" if rest else f"{count(hours)} h"


FILTERS: Final[dict[str, Callable[..., str]]] = {
    filter.__name__: filter
    for filter in (
        *(count, counted, money, amount, percent, decimal, times, interval, duration),
        *(signed_points, day, stated_day, instant, moment),
    )
}


def seconds(ms: float) -> str:
    """A time in milliseconds, as a number of seconds."""
    return decimal(ms / 1000)


_UNITS: Final[dict[str, Callable[[Any], str]]] = {
    "count": count,
    "percent": percent,
    "number": decimal,
    "tenths": lambda value: decimal(value, 1),
    "milliseconds": seconds,
    "return": lambda value: times(value / 10_000),
}


def figure(value: Any, unit: str, currency: str = "", is_exact: bool = False) -> str:
    """A figure in its unit: money and `spend` in minor units (at a glance, if not exact), an `amount` in
    major ones, milliseconds as seconds, a `return` in ten-thousandths."""
    if unit in ("money", "spend"):
        return money(value, currency, exact=is_exact)
    return amount(value, currency) if unit == "amount" else _UNITS[unit](value)


def plain(value: Any, unit: str, currency: str) -> str:
    """A figure as a spreadsheet of the browser's language reads it: without a sign of money or per cent, and
    without separators of thousands. Money is in major units. "" stands for no value."""
    if value is None:
        return ""
    if unit in ("money", "spend"):
        units = minor_units(currency)
        pattern = "0." + "0" * (len(f"{units}") - 1) if units > 1 else "0"
        return format_decimal(Decimal(value) / units, pattern, locale=locale())
    scale = {"milliseconds": 1_000, "return": 10_000}.get(unit, 1)
    return format_decimal(Decimal(f"{value}") / scale, "0.####", locale=locale())


def decimal_mark() -> str:
    """The decimal mark of the browser's language."""
    return str(locale().number_symbols["latn"]["decimal"])
