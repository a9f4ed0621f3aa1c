"""Every figure of every page is the API's: of the days that are shown, of those that are compared, and of
those before; and the days that are compared are whole, as many on both sides, and old enough."""

from collections.abc import Callable
from datetime import date, timedelta
from typing import Any

import pytest

from tests.web.dashboard.api_figures import Source, is_equal, shown_days
from tests.web.dashboard.conftest import Seen
from tests.web.dashboard.page_figures import Figure, figures
from tests.web.dashboard.written import english
from web.dashboard import formatting

Ask = Callable[..., Any]
# By page: range, comparison, clock, days to buy.
QUERIES = (
    {"range": "30-days"},
    # The API's days, with today.
    {"range": "30d"},
    {"range": "90d", "compare": "none", "clock": "submission"},
    {"range": "7d", "within": "1", "clock": "submission"},
    {"range": "last-month", "compare": "year"},
    {"range": "today"},
)
# The queries and the filters of filtered pages.
FILTERED = ({"range": "30-days"}, {"range": "90d", "within": "3", "clock": "submission"})
FILTERS: tuple[dict[str, str], ...] = (
    {"device": "mobile"},
    {"visitor": "returning", "utm_source": "(none)"},
    {"utm_source": "google"},
    {"variant": "a"},
    {"utm_campaign": "nobody"},
)
PAGES = ("/", "/forms", "/revenue", "/discounts", "/ads", "/customers")
# Figures that follow from submissions, on every clock.
OF_SUBMISSIONS = {"convertedSubmissions", "conversionRate", "purchasers", "purchaseRate"}


@pytest.mark.parametrize("query", QUERIES, ids=lambda query: "-".join(query.values()))
@pytest.mark.parametrize("path", PAGES)
def test_every_figure(seen: Seen, path: str, query: dict[str, str]) -> None:
    check(seen, path, query)


@pytest.mark.parametrize("query", QUERIES[:4], ids=lambda query: "-".join(query.values()))
def test_every_figure_of_one_form(seen: Seen, query: dict[str, str]) -> None:
    forms = [row["formId"] for row in seen.api("/forms/funnel", range="90d") if row["formName"]]
    for form in forms:
        check(seen, f"/forms/{form}", query)


@pytest.mark.parametrize("filters", FILTERS, ids=lambda filters: "-".join(filters.values()))
@pytest.mark.parametrize("query", FILTERED, ids=lambda query: query["range"])
def test_every_figure_of_some_form_sessions(
    seen: Seen, query: dict[str, str], filters: dict[str, str]
) -> None:
    forms = [row["formId"] for row in seen.api("/forms/funnel", range="90d") if row["formName"]]
    for path in ("/", "/forms", f"/forms/{forms[0]}"):
        check(seen, path, {**query, **filters})


def check(seen: Seen, path: str, query: dict[str, str]) -> None:
    shown = shown_days(seen, query)
    # `test_revenue.py` has the tree.
    page = [each for each in figures(seen.page(path, **query)) if each.section != "By UTM"]
    assert page or path != "/"
    currency = currency_of(seen)
    compared = checked = 0
    for figure in page:
        source = Source(seen, path, figure, query)
        days, within = (figure.days, figure.within) if figure.days else (shown, None)
        known = source.value(days, within)
        assert known is None or is_equal(figure.name, figure.now, known), (figure, known)
        checked += known is not None or figure.table == "days"
        with english(seen.browser.client):
            assert is_written(figure, currency), figure
        if not figure.change:
            assert figure.before is None, figure
            if figure.within and figure.days:
                check_age(seen, figure)
            continue
        compared += 1
        check_change(seen, figure)
        if figure.before is not None:
            known = source.value(figure.days_before, figure.within)
            assert known is None or is_equal(figure.name, figure.before, known), (figure, known)
            check_days(seen, figure, query)
    assert bool(compared) == (query.get("compare") != "none" and bool(page))
    assert checked >= len(page) / 4, (checked, len(page))


def check_age(seen: Seen, figure: Figure) -> None:
    last = date.fromisoformat(figure.days.split("..")[1])
    today = date.fromisoformat(shown_days(seen, {"range": "today"}).split("..")[0])
    assert figure.within
    assert last + timedelta(figure.within) < today, figure


def check_days(seen: Seen, figure: Figure, query: dict[str, str]) -> None:
    first, last, former_first, former_last = (
        date.fromisoformat(day)
        for days in (figure.days, figure.days_before)
        for day in days.split("..")
    )
    today = date.fromisoformat(shown_days(seen, {"range": "today"}).split("..")[0])
    assert last - first == former_last - former_first, figure
    assert last < today, figure
    if query.get("compare") != "year":
        assert former_last == first - timedelta(1), figure
    if figure.within:
        check_age(seen, figure)
    is_aged = figure.name in OF_SUBMISSIONS or (
        query.get("clock") == "submission"
        and figure.name in ("orders", "netRevenueCents")
        and figure.section in ("Forms", "All forms", "From view to order")
    )
    assert bool(figure.within) >= is_aged, figure


def check_change(seen: Seen, figure: Figure) -> None:
    words = {"up", "down", "within-chance", "few", "no-verdict"}
    reasons = {"too-young", "no-data", "not-compared"}
    assert figure.change in words | reasons, figure
    if figure.change in reasons:
        # The days of a figure at equal age are said, whether or not there are others beside it.
        assert not figure.days_before, figure
    if figure.change in ("up", "down"):
        assert figure.before is not None
        assert (figure.now > figure.before) == (figure.change == "up"), figure


def is_written(figure: Figure, currency: str) -> bool:
    """Whether the element begins with its number, as a text of the page's language; or has it after the one
    before."""
    text = figure.text
    text = text.partition(": ")[2] if ": " in text else text
    value, name = figure.now, figure.name.lower()
    if text.startswith("—") or name in ("spend", "costperlead", "costperacquisition"):
        return True
    if name.endswith("cents"):
        texts = [formatting.money(int(value), currency, exact=exact) for exact in (True, False)]
    elif name == "roas":
        texts = [formatting.times(value)]
    elif name.endswith("ms"):
        texts = [formatting.seconds(value)]
    elif "rate" in name or "percent" in name or "share" in name:
        texts = [formatting.percent(value), f"{round(value)}"]
    else:
        texts = [formatting.decimal(value), formatting.decimal(value, 1)]
    return any(_plain(text).startswith(_plain(each)) for each in texts)


def _plain(text: str) -> str:
    return text.replace("\N{NO-BREAK SPACE}", " ")


def currency_of(seen: Seen) -> str:
    return str(seen.product.get("/v1/attribution", {}, seen.shop_id)[1]["meta"]["currency"])
