"""Every figure of every page is the API's: of the days that are shown, of those that are compared, and of
those before; and the days that are compared are whole, as many on both sides, and old enough."""

from collections.abc import Callable
from datetime import date, timedelta
from typing import Any

import pytest

from tests.web.dashboard.conftest import Seen
from tests.web.dashboard.page_figures import Figure, figures
from tests.web.dashboard.written import english
from warehouse.domain.rounding import cents, percent
from web.api.filters import NAMES
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
TOTALS = ("total", "earlier")


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
    page = figures(seen.page(path, **query))
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


def is_equal(name: str, one: float, other: float) -> bool:
    # Spend has fractions of a cent, or of a yen, which pages round.
    unit = 1 if one == int(one) else 0.01
    return abs(one - other) <= unit / 2 + 1e-9 if name == "spend" else one == other


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


def shown_days(seen: Seen, query: dict[str, str]) -> str:
    """The days of a range, as the API takes them."""
    today = date.fromisoformat(seen.api("/attribution/daily", range="7d")[-1]["date"])
    text = query["range"]
    if text == "today":
        return f"{today}..{today}"
    if text == "last-month":
        last = today.replace(day=1) - timedelta(1)
        return f"{last.replace(day=1)}..{last}"
    if text.endswith("-days"):
        # Those of pages end with the last whole day.
        return f"{today - timedelta(int(text[:-5]))}..{today - timedelta(1)}"
    return f"{today - timedelta(int(text[:-1]) - 1)}..{today}"


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


# The answer behind a table: its path, parameters, and the names of its keys by the attribute of a line.
TABLES: dict[str, tuple[str, dict[str, str], dict[str, str]]] = {
    "forms": ("/revenue/by-form", {"clock": ""}, {"form": "formId"}),
    "parts": ("/attribution", {}, {"row": "attributionType"}),
    "campaigns": (
        "/revenue/by-utm",
        {"dimension": "campaign"},
        {"source": "utmSource", "row": "utmCampaign"},
    ),
    "codes": ("/discounts/performance", {}, {"row": "discountId"}),
    "steps": ("/forms/{id}/steps/dropoff", {}, {"row": "stepId"}),
    "devices": ("/forms/{id}/devices", {}, {"row": "deviceType"}),
    "visitors": ("/forms/{id}/visitor-conversion", {}, {"row": "visitorType"}),
    "times": ("/forms/{id}/time-to-complete", {}, {"row": "deviceType"}),
    "answers": ("/forms/{id}/response-revenue", {}, {"field": "fieldId", "row": "value"}),
    "days": ("/forms/{id}/trends", {"clock": ""}, {"row": "date"}),
    "delays": ("/forms/{id}/time-to-order", {}, {"row": "days"}),
    "segment": ("/customers/ltv", {"dimension": "segment"}, {"field": "fieldId", "row": "value"}),
    "form": ("/customers/ltv", {"dimension": "form"}, {"form": "formId"}),
}
ADS = {
    "campaigns": {"provider": "provider", "currency": "currency", "row": "campaignId"},
    "providers": {"provider": "provider", "currency": "currency"},
}
CARDS = {
    ("Overview", "Net revenue"): "parts",
    ("Not filtered: the whole shop", "Net revenue"): "parts",
    ("Overview", "Credited to forms"): "forms",
    ("Overview", "Submissions"): "forms",
    ("Overview", "Sign-ups that bought"): "forms",
    ("Discounts", "Issued"): "codes",
    ("Discounts", "Used"): "codes",
    ("Discounts", "Cost"): "codes",
    ("Discounts", "Net revenue"): "codes",
    ("From view to order", "Submitted"): "days",
    ("From view to order", "Sign-ups that bought"): "days",
    ("From view to order", "Net revenue"): "days",
}
QUOTIENTS = {
    "submissionRate": ("submissions", "views"),
    "conversionRate": ("convertedSubmissions", "submissions"),
    "revenuePerSubmissionCents": ("netRevenueCents", "submissions"),
    "averageOrderValueCents": ("grossRevenueCents", "orders"),
}


# A page has hundreds of figures of few answers.
_ANSWERS: dict[tuple[Any, ...], Any] = {}


class Source:
    """The number that the API has for a figure of a page, over any days; None where it has none: at equal
    age it answers for one form of the list alone."""

    def __init__(self, seen: Seen, path: str, figure: Figure, query: dict[str, str]) -> None:
        self.seen, self.path, self.figure = seen, path, figure
        self.clock = query.get("clock", "order")
        self.filters = {name: text for name, text in query.items() if name in NAMES}
        self.form = path.partition("/forms/")[2]
        self.table = figure.table or CARDS.get((figure.section, figure.card), "")

    def _api(self, path: str, **query: str) -> Any:
        if path.startswith("/forms/") or path == "/revenue/by-form":
            query |= self.filters
        key = self.seen.shop_id, path, tuple(query.items())
        if key not in _ANSWERS:
            _ANSWERS[key] = self.seen.api(path, **query)
        return _ANSWERS[key]

    def value(self, days: str, within: int | None) -> float | None:
        name, key = self.figure.name, self.figure.row.get("row", "")
        if within and not name.startswith("horizons."):
            form = self.form if self.table in ("days", "stages") else self.figure.row.get("form")
            if not form or self.table not in ("forms", "days"):
                return None
            if form not in {each["id"] for each in self._api("/forms", limit="200")}:
                return None  # Only events know it.
            funnel = self._api(f"/forms/{form}/funnel", range=days, within=f"{within}")
            return self._of([funnel], name)
        if not self.table or (self.table == "days" and not self.form):
            return None
        if self.path == "/ads" and self.table in ADS and key != "total":
            path, asked, keys = "/ads/spend", dict[str, str](), ADS[self.table]
        elif self.path == "/ads" or self.table not in TABLES:
            return None
        else:
            path, asked, keys = TABLES[self.table]
        # Per submission is always of those who submitted.
        clock = "submission" if name == "revenuePerSubmissionCents" else self.clock
        asked = {each: text or clock for each, text in asked.items()}
        data = self._api(path.replace("{id}", self.form), range=days, **asked)
        rows = data["rows"] if isinstance(data, dict) else data
        if self.table == "forms":
            rows = [row for row in rows if row["formId"]]
        if key == "earlier":
            return float(sum(row["fromEarlierSubmissions"][name] for row in rows))
        if key != "total" and not self.figure.card:
            values = self.figure.row
            rows = [
                row
                for row in rows
                if all(
                    f"{'' if row[at] is None else row[at]}" == values[mark]
                    for mark, at in keys.items()
                )
            ]
        if name.startswith("horizons."):
            return float(rows[0]["horizons"][0]["ltvCents"]) if rows else 0.0
        return self._of(rows, name)

    def _of(self, rows: list[dict[str, Any]], name: str) -> float | None:
        if len(rows) == 1 and name in rows[0]:
            return float(rows[0][name])
        if name in QUOTIENTS:
            above, below = (sum(row[part] for row in rows) for part in QUOTIENTS[name])
            divide = cents if name.endswith("Cents") else percent
            return float(divide(above, below)) if below else 0.0
        if all(isinstance(row[name], int) for row in rows):
            return float(sum(row[name] for row in rows))
        return None
