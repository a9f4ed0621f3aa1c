"""Figures as the pages of the dashboard write them in English, and the answers behind those of a page."""

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from flask.testing import FlaskClient

from tests.web.dashboard.conftest import Seen
from web.dashboard import formatting

Write = Callable[[int], str]


@contextmanager
def english(client: FlaskClient) -> Iterator[None]:
    """Formats as the pages do for the browser of the tests."""
    with client.application.test_request_context(headers={"Accept-Language": "en"}):
        yield


def nothing(reason: str) -> str:
    return f"— ({reason})"


def money(currency: str, *, exact: bool = False) -> Write:
    return lambda cents: formatting.money(cents, currency, exact=exact)


def points(difference: float) -> str:
    return f"{_with_sign(formatting.decimal(difference, 1))} points"


def _with_sign(text: str) -> str:
    """A change that is written as nothing has no sign."""
    if not re.search("[1-9]", text):
        return text.lstrip("-")
    return text if text.startswith("-") else f"+{text}"


def cell(*texts: str | list[str]) -> str:
    return " ".join(text for each in texts for text in ([each] if isinstance(each, str) else each))


def with_digit(texts: list[str]) -> list[str]:
    """Those that `Section.check` asks for: a name can have a digit, too."""
    return [text for text in texts if re.search(r"\d", text)]


def shop_of(seen: Seen, days: str) -> tuple[str, str]:
    """Currency and timezone of the shop."""
    meta = seen.product.get("/v1/attribution", {"range": days}, seen.shop_id)[1]["meta"]
    return meta["currency"], meta["timezone"]
