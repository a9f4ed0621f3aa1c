"""The language of the browser, in which pages write numbers, days and times; their words are English."""

from datetime import date, datetime
from functools import lru_cache
from typing import Final

from babel import Locale, UnknownLocaleError
from babel.dates import format_date, format_time
from flask import g, request
from werkzeug.datastructures import LanguageAccept
from werkzeug.http import parse_accept_header

_DEFAULT: Final = Locale("en", "US")
# Languages of a browser that are looked at; Firefox sends four.
_LANGUAGES: Final = 10


def locale() -> Locale:
    """The first language of the browser that Babel knows, else English. Found once for a request: a page
    has hundreds of numbers."""
    try:
        found: Locale = g.locale
    except AttributeError:
        first = ",".join(
            request.headers.get("Accept-Language", "").split(",", _LANGUAGES)[:_LANGUAGES]
        )
        languages = parse_accept_header(first, LanguageAccept)
        found = g.locale = next(
            filter(None, (_locale(language) for language, _ in languages)), _DEFAULT
        )
    return found


@lru_cache(maxsize=256)
def _locale(language: str) -> Locale | None:
    try:
        return Locale.parse(language, sep="-")
    except (UnknownLocaleError, ValueError):
        return None


def day(value: date) -> str:
    return format_date(value, "medium", locale=locale())


def utc_instant(value: datetime) -> str:
    """An instant in UTC: settings are of no shop's calendar."""
    time = format_time(value, "short", tzinfo=value.tzinfo, locale=locale())
    return f"{day(value)}, {time} UTC"
