"""Two filters side by side (`against=device:desktop`): each column has the API's figures under its filter,
and their differences have verdicts."""

import csv
import random
import re
from datetime import date, timedelta
from html import unescape
from io import StringIO
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from tests.support.people import Browser
from tests.support.shop_builder import ShopBuilder, day
from tests.web.dashboard.api_figures import Source, is_equal, shown_days
from tests.web.dashboard.conftest import Seen
from tests.web.dashboard.form_page import form_ids
from tests.web.dashboard.page_figures import Figure, figures
from web.dashboard.statistics import noise_of, p_changed, p_different

HTML = {"Accept": "text/html", "Accept-Language": "en"}
FORM = "11111111-1111-4111-8111-111111111111"
OTHER_FORM = "22222222-1111-4111-8111-111111111111"
BESIDE = {"device": "mobile", "against": "device:desktop"}
LAST = date(2026, 3, 30)
DAYS, NOISE_DAYS = "2026-03-24..2026-03-30", 56


@pytest.mark.parametrize(
    "query",
    [
        {"range": "30-days", **BESIDE},
        {"range": "90d", "within": "3", "clock": "submission", **BESIDE},
        {"range": "30d", "visitor": "new", "device": "mobile", "against": "visitor:returning"},
        {"range": "90d", "utm_source": "google", "against": "utm_source:(none)", "compare": "none"},
        {"range": "today", **BESIDE},
    ],
    ids=lambda query: f"{query['range']}-{query['against']}",
)
def test_every_figure_of_both_columns(seen: Seen, query: dict[str, str]) -> None:
    shown = shown_days(seen, query)
    name, _, value = query["against"].partition(":")
    other = {**query, name: value}
    for path in ("/", "/forms", f"/forms/{form_ids(seen)[0]}"):
        page = seen.page(path, **query, numbers="forms,devices,visitors,answers,steps,days")
        filtered = figures(page.partition("Not filtered: ")[0])
        checked = 0
        for figure in filtered:
            days, within = (figure.days, figure.within) if figure.days else (shown, None)
            of_other = bool(figure.against) and figure.before is None
            known = Source(seen, path, figure, other if of_other else query).value(days, within)
            assert known is None or is_equal(figure.name, figure.now, known), (figure, known)
            if figure.before is not None and not (figure.days_before):
                assert figure.against == query["against"]
                known = Source(seen, path, figure, other).value(figure.days, figure.within)
                assert known is None or is_equal(figure.name, figure.before, known), (figure, known)
            checked += known is not None and bool(figure.against)
        assert checked > 10, path
        # Nothing but what cannot be filtered is beside former days.
        assert not any(figure.days_before for figure in filtered if not is_of_losses(figure))


def is_of_losses(figure: Figure) -> bool:
    """Those that got worse than before are told on the page of a form, whatever stands beside it."""
    return figure.section == "Steps" and not figure.table and not figure.against


def test_what_cannot_be_filtered_is_beside_former_days(seen: Seen) -> None:
    alone = seen.page("/", range="30-days", device="mobile")
    both = seen.page("/", range="30-days", **BESIDE)
    whole, same = (
        [
            (each.name, each.now, each.before, each.days, each.days_before, each.against)
            for each in figures(
                f"<h2>{page.partition('Not filtered: ')[2].partition('<dialog')[0]}"
            )
        ]
        for page in (alone, both)
    )
    assert whole == same
    assert any(days_before for *_, days_before, _ in same)


def test_columns_and_files_are_named(seen: Seen) -> None:
    path = f"/forms/{form_ids(seen)[0]}"
    page = seen.page(path, range="90d", **BESIDE)
    devices = page.partition('data-table="devices"')[2].partition("</table>")[0]
    headings = [
        " ".join(re.sub(r"<[^>]*>", " ", text).split())
        for text in re.findall(r"<th scope=\"col\"[^>]*>(.*?)</th>", devices, re.DOTALL)
    ]
    assert headings[:5] == [
        "Device",
        "Views mobile",
        "Views desktop",
        "Submitted mobile",
        "Submitted desktop",
    ]
    rows = [*csv.reader(StringIO(seen.page(path, range="90d", csv="devices", **BESIDE)))]
    assert rows[0][1:3] == ["Views, mobile", "Views, desktop"]
    assert {len(row) for row in rows} == {len(rows[0])}
    api = {row["deviceType"]: row["views"] for row in seen.api(f"{path}/devices", range="90d")}
    views = {row[0].lower(): (int(row[1]), int(row[2])) for row in rows[1:]}
    # Each device has a row, also the one that only the other filter has.
    assert views == {"mobile": (api["mobile"], 0), "desktop": (0, api["desktop"])}


def test_chips_and_menus_lead_to_it_and_away(seen: Seen) -> None:
    path = f"/forms/{form_ids(seen)[0]}"
    page = seen.page(path, range="90d", device="mobile")
    offered = re.findall(r'<option value="(device:[^"]*)"', page)
    found = seen.api(f"{path}/devices", range="90d")
    assert sorted(offered) == sorted(
        f"device:{row['deviceType']}"
        for row in found
        if row["views"] and row["deviceType"] not in ("mobile", "unknown")
    )
    page = seen.page(path, range="90d", **BESIDE)
    chips = page.partition('<ul class="chips"')[2].partition("</ul>")[0]
    links = [
        parse_qs(urlsplit(unescape(link)).query) for link in re.findall(r'href="([^"]*)"', chips)
    ]
    # Without the filter, there is nothing to stand beside it.
    assert links == [{"range": ["90d"]}, {"range": ["90d"], "device": ["mobile"]}]
    assert "against: <bdi>desktop</bdi>" in chips
    assert "vs. desktop</summary>" in page
    for link in re.findall(r'href="([^"]*against=device[^"]*)"', page):
        assert parse_qs(urlsplit(unescape(link)).query)["device"] == ["mobile"], link
    # A row of devices filters the page by itself.
    filters = re.findall(r'<a class="filters" href="([^"]*)"', page)
    assert filters
    assert not any("against" in link for link in filters)


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("against=device:desktop", "Give another value of one of the page's filters"),
        ("device=mobile&against=device:mobile", "Give another value of one of the page's filters"),
        ("device=mobile&against=desktop", "Give another value of one of the page's filters"),
        ("device=mobile&against=visitor:new", "Give another value of one of the page's filters"),
        ("device=mobile&against=device:phone", "Give one of: desktop, mobile, tablet, other."),
        ("utm_source=a&against=utm_source:", "`utm_source` is"),
    ],
)
def test_what_cannot_stand_beside_is_an_error(seen: Seen, query: str, said: str) -> None:
    for path in ("/", "/forms", f"/forms/{form_ids(seen)[0]}"):
        answer = seen.browser.get(f"{path}?{query}", headers=HTML)
        assert answer.status_code == 400, path
        assert said in unescape(answer.get_data(as_text=True)), path


def test_odd_values(seen: Seen) -> None:
    odd = """<b>"it's" & 50% #1?x=y; ü"""
    for path in ("/", "/forms", f"/forms/{form_ids(seen)[0]}"):
        page = seen.page(path, utm_source="google", against=f"utm_source:{odd}")
        assert "<b>" not in page
        assert f"against: <bdi>{odd}</bdi>" in unescape(page)
        beside = [each.against for each in figures(page) if each.against]
        assert {*beside} == {f"utm_source:{odd}"}


@pytest.fixture
def two_devices(shop: ShopBuilder) -> dict[tuple[str, str], dict[date, tuple[int, int]]]:
    """The orders and their money of each form, device and day. Phones earn thrice as much with one form, and
    as much with the other; both differ from day to day in the same way."""
    chance = random.Random(3)
    known: dict[tuple[str, str], dict[date, tuple[int, int]]] = {}
    for form in (FORM, OTHER_FORM):
        shop.form(form, name="A form")
    for ago in range(60):
        on = LAST - timedelta(ago)
        level = chance.choice((1, 2, 4))
        cells = []
        for form in (FORM, OTHER_FORM):
            for place, device in enumerate(("mobile", "desktop")):
                many = 3 if (form, device) == (FORM, "mobile") else 1
                orders = many * level * chance.randrange(9, 12)
                gross = 1_000 * orders
                attributes = {"device": device, "is_first_session": 1, "utm": {}, "variant": 0}
                visits = {"views": 200, "submissions": 100 if many == 1 else 120}
                shop.daily(
                    "crossed_session",
                    f"{on}",
                    form=form,
                    visitor=place + 1,
                    events=1,
                    **visits,
                    **attributes,
                )
                shop.daily(
                    "crossed_orders", f"{on}", form=form, orders=orders, gross=gross, **attributes
                )
                known.setdefault((form, device), {})[on] = orders, gross
                cells.append((form, 200))
            shop.daily("funnel", f"{on}", form=form, views=400, submissions=200)
            shop.daily("form_orders", f"{on}", form=form, orders=0, gross=0)
        shop.daily("all_forms", f"{on}", cells=[(FORM, 400), (OTHER_FORM, 400)])
        shop.daily("attribution", f"{on}", type="discount_code", orders=1, gross=1)
    return known


def test_differences_have_verdicts(
    browser: Browser, two_devices: dict[tuple[str, str], dict[date, tuple[int, int]]]
) -> None:
    browser.signed_in()
    asked = {"range": DAYS, **BESIDE}
    page = figures(browser.get("/forms", query_string=asked, headers=HTML).get_data(as_text=True))
    compared = {
        (each.row["form"], each.name): each for each in page if each.change and "form" in each.row
    }
    for form in (FORM, OTHER_FORM):
        figure = compared[form, "netRevenueCents"]
        differences = [
            two_devices[form, "mobile"][on][1] - two_devices[form, "desktop"][on][1]
            for on in (LAST - timedelta(ago) for ago in reversed(range(NOISE_DAYS)))
        ]
        assert figure.before is not None
        assert figure.now - figure.before == sum(differences[-7:])
        p_value = p_of_differences(differences)
        assert (p_value < 0.001) == (form == FORM), p_value
        assert figure.change == ("up" if form == FORM else "within-chance")
        rate = compared[form, "submissionRate"]
        submitted = 7 * (120 if form == FORM else 100)
        assert (p_different(submitted, 1_400, 700, 1_400) < 0.001) == (rate.change == "up")
        assert rate.change == ("up" if form == FORM else "within-chance")


def p_of_differences(differences: list[int]) -> float:
    """Student's t of the sum of the last week, with the noise of single differences: the sum of a week has
    seven times their variance, the change between two weeks twice that."""
    first = day(f"{LAST}") - NOISE_DAYS + 1
    noise = noise_of(first, differences)
    assert noise
    of_change: Any = p_changed(
        noise, sum(differences[-7:]) * 2**0.5, 0, day(f"{LAST}") - 6, day(f"{LAST}") - 6, 7
    )
    return float(of_change)
