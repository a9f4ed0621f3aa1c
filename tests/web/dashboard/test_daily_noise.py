"""The verdict of each count and of all money follows from the daily values of its own row: said by a plain
sum of the rows that the shop was made of."""

import random
from collections import defaultdict
from datetime import date, timedelta

import pytest

from tests.support.people import Browser
from tests.support.shop_builder import ShopBuilder, day
from tests.web.dashboard.page_figures import Figure, figures
from web.dashboard.statistics import noise_of, p_changed

HTML = {"Accept": "text/html"}
FORMS = [f"{digit * 8}-1111-4111-8111-111111111111" for digit in "123"]
SOURCE, CAMPAIGNS, CODES = "meta", ["spring", "autumn", "winter"], ["d1", "d2", "d3"]
# The days that are shown, and the week before; now is noon of 2026-03-31.
LAST = date(2026, 3, 30)
DAYS, DAYS_BEFORE = "2026-03-24..2026-03-30", "2026-03-17..2026-03-23"
# Those that say how much a value moves.
NOISE_DAYS = 56
COUNTS = ("orders", "submissions", "issued")
PHONES = {"device": "mobile"}
# By page: the tables, and what names a row of each.
TABLES = {
    "/forms": {"forms": "form"},
    "/discounts": {"codes": "row"},
}

# By the key of a row and the name of a figure, its value of each day.
Daily = dict[tuple[str, str], dict[date, int]]


@pytest.fixture(params=[{}, PHONES], ids=["all", "phones"])
def filters(request: pytest.FixtureRequest) -> dict[str, str]:
    """Those of the pages."""
    found: dict[str, str] = request.param
    return found


@pytest.fixture
def daily(shop: ShopBuilder, filters: dict[str, str]) -> Daily:
    """The values of a shop of 60 days, in whose last week the first form, campaign and code earned thrice as
    much: of all form sessions, or of those on phones alone, while all of them together are far more."""
    chance, known = random.Random(7), defaultdict[tuple[str, str], dict[date, int]](dict)
    for form_id in FORMS:
        shop.form(form_id, name="A form")
    for ago in range(60):
        on = LAST - timedelta(ago)
        text, all_orders, all_gross = f"{on}", 0, 0
        for place, (form, campaign, code) in enumerate(zip(FORMS, CAMPAIGNS, CODES, strict=True)):
            many = 3 if ago < 7 and place == 0 else 1
            orders = many * chance.randrange(8, 13)
            gross = orders * chance.randrange(900, 1_100)
            submissions, issued = orders + chance.randrange(20, 40), orders + chance.randrange(5)
            others = 50 * chance.randrange(1, 20) if filters else 0
            visits = {"form": form, "views": 200, "submissions": submissions}
            shop.daily("funnel", text, **{**visits, "submissions": submissions + others})
            shop.daily("all_forms", text, cells=[(form, submissions)])
            bought = {"orders": orders, "gross": gross}
            all_of_form = {"orders": orders + others, "gross": gross + 1_000 * others}
            shop.daily("form_orders", text, form=form, **all_of_form)
            attributes = {"device": "mobile", "is_first_session": 1, "utm": {}, "variant": 0}
            shop.daily("crossed_session", text, **visits, visitor=1, events=1, **attributes)
            shop.daily("crossed_orders", text, form=form, **bought, **attributes)
            utm = {"source": SOURCE, "campaign": campaign}
            shop.daily("utm_submission", text, cells=[(utm, submissions)])
            shop.daily("utm_order", text, cells=[("discount_code", utm, orders, gross)])
            shop.daily("discount", text, cells=[(code, issued, orders, orders, 90, gross)])
            for key in (form, code):
                known[key, "netRevenueCents"][on] = gross
                known[key, "orders"][on] = orders
                known[key, "submissions"][on] = submissions
                known[key, "issued"][on] = issued
            all_orders, all_gross = all_orders + orders, all_gross + gross
        shop.daily("attribution", text, type="discount_code", orders=all_orders, gross=all_gross)
    return known


def p_of(daily: Daily, figure: Figure, mark: str) -> float | None:
    values = daily[figure.row[mark], figure.name]
    first, former = (date.fromisoformat(days[:10]) for days in (DAYS, DAYS_BEFORE))
    now, before = (
        sum(values[begin + timedelta(place)] for place in range(7)) for begin in (first, former)
    )
    assert (figure.now, figure.before) == (now, before), figure
    newest = [values[LAST - timedelta(ago)] for ago in reversed(range(NOISE_DAYS))]
    noise = noise_of(day(f"{LAST}") - NOISE_DAYS + 1, newest)
    assert noise
    is_count = figure.name in COUNTS
    return p_changed(noise, now, before, day(f"{first}"), day(f"{former}"), 7, is_count=is_count)


def test_each_row_has_the_noise_of_its_days(
    browser: Browser, daily: Daily, filters: dict[str, str]
) -> None:
    browser.signed_in()
    for path, marks in TABLES.items():
        if filters and path != "/forms":
            continue
        asked = {"range": DAYS, "numbers": ",".join(marks), **filters}
        answer = browser.get(path, query_string=asked, headers=HTML)
        compared = [each for each in figures(answer.get_data(as_text=True)) if each.change]
        judged = set()
        for figure in compared:
            mark = marks.get(figure.table, "")
            key = figure.row.get(mark, "")
            if figure.before is None or figure.within or (key, figure.name) not in daily:
                continue
            p = p_of(daily, figure, mark)
            assert p is not None
            # None is coloured that would not stand alone, and none is grey that stands among any others.
            if figure.change in ("up", "down"):
                assert p <= 0.05, figure
            else:
                assert figure.change == "within-chance", figure
                assert p > 0.02 / len(compared), figure
            judged.add((key, figure.change))
        assert len({key for key, _ in judged}) == 3, path
        assert {(FORMS[0], "up"), (CODES[0], "up")} & judged, path


def test_usual_days(browser: Browser, daily: Daily, filters: dict[str, str]) -> None:
    """A day that is not over stands beside a whole one, and charts have an area of usual days."""
    browser.signed_in()
    path = f"/forms/{FORMS[1]}"
    page = browser.get(path, query_string={"range": "today", **filters}, headers=HTML).text
    orders = next(each for each in figures(page) if each.name == "netRevenueCents")
    tuesdays = [
        daily[FORMS[1], "netRevenueCents"][LAST + timedelta(1 - 7 * week)] for week in range(1, 9)
    ]
    assert orders.change == "not-compared"
    assert orders.usual == round(sum(tuesdays) / 8)
    assert "a whole Tuesday usually has" in page
    shown = browser.get(path, query_string={"range": DAYS, **filters}, headers=HTML).text
    assert shown.count('<polygon class="usual-') == 3
    # Two filters side by side differ by themselves.
    beside = {"device": "mobile", "against": "device:desktop"}
    page = browser.get(path, query_string={"range": DAYS, **beside}, headers=HTML).text
    assert "<polygon" not in page


def test_money_has_verdicts(
    browser: Browser, shop: ShopBuilder, daily: Daily, filters: dict[str, str]
) -> None:
    assert daily
    for ago in range(60):
        shop.spend(f"{LAST - timedelta(ago)}", SOURCE, CAMPAIGNS[0], "100")
    browser.signed_in()
    names = ("netRevenueCents", "attributedNetRevenueCents")
    for path in ("/", "/revenue", "/ads", f"/forms/{FORMS[0]}"):
        asked = {"range": DAYS, "numbers": "campaigns,days", **filters}
        page = browser.get(path, query_string=asked, headers=HTML).get_data(as_text=True)
        changes = {each.change for each in figures(page) if each.name in names and each.change}
        assert "up" in changes, path
        assert "no-verdict" not in changes, path
