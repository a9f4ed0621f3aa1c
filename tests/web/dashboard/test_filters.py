"""Filters of pages: cards that cannot be filtered say so, links and files keep the filters, and the menu has
the values of these days. `test_figures.py` compares filtered figures with the API's."""

import re
from collections import defaultdict
from datetime import UTC, datetime, timedelta
from html import unescape
from typing import Any
from urllib.parse import parse_qs, parse_qsl, urlsplit

import pytest

from tests.support.import_files import FORM
from tests.support.shop_builder import ShopBuilder
from tests.web.dashboard.conftest import Seen
from tests.web.dashboard.form_page import form_ids
from tests.web.dashboard.page_figures import figures
from web.api.filters import NAMES
from web.dashboard.answers import Answers
from web.dashboard.page import View
from web.dashboard.selection import select

HTML = {"Accept": "text/html", "Accept-Language": "en"}
PHONES = {"device": "mobile"}
WHOLE = "Not filtered: "


def by_place(page: str) -> dict[tuple[str, ...], list[float]]:
    """The figures of cards and tables, with those that open with them."""
    found = defaultdict[tuple[str, ...], list[float]](list)
    for each in figures(page):
        place = each.card or each.section, each.table, *each.row.values(), each.name
        found[place].append(each.now)
    return found


def test_filters_change_figures_and_do_not_change_those_of_the_shop(seen: Seen) -> None:
    all_of_it = seen.page("/", range="90d")
    phones = seen.page("/", range="90d", **PHONES)
    assert WHOLE not in all_of_it
    filtered, heading, whole = phones.partition(f"{WHOLE}the whole shop")
    assert heading
    known, of_phones = by_place(all_of_it), by_place(filtered)
    # A form that nobody saw on a phone has zeros.
    assert any(values != known[place] for place, values in of_phones.items())
    of_shop = by_place("<h2>" + whole.partition("<dialog")[0])
    assert len(of_shop) > 5
    assert {place: known[place] for place in of_shop} == of_shop


def test_what_cannot_be_filtered_says_so(seen: Seen) -> None:
    """And comes last, with everything else that cannot."""
    form = f"/forms/{form_ids(seen)[0]}"
    apart = {
        "/": ["Revenue by day", "Campaigns", "New and returning customers"],
        "/forms": [],
        form: ["Two questions together"],
    }
    for path, headings in apart.items():
        page = seen.page(path, range="90d", **PHONES)
        assert (WHOLE in page) == bool(headings), path
        filtered, _, whole = page.partition(WHOLE)
        for heading in headings:
            assert f"<h2>{heading}</h2>" not in filtered, heading
            assert f"<h2>{heading}</h2>" in whole, heading
        assert WHOLE not in seen.page(path, range="90d")


def test_pages_without_filters_say_so(seen: Seen) -> None:
    said = "This page has no filters: its figures are of the whole shop."
    for path in ("/revenue", "/discounts", "/ads", "/customers", "/shops"):
        page = seen.page(path, range="90d", **PHONES)
        assert said in page, path
        assert "+ Filter" not in page
        assert said not in seen.page(path, range="90d", device="")


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("device=phone", "Give one of: desktop, mobile, tablet, other."),
        ("visitor=all", "Give one of: new, returning."),
        ("utm_source=a&utm_source=b", "is given 2 times"),
        (f"utm_campaign={'x' * 256}", "over 255 characters"),
        ("variant=a%00", "has a NUL"),
    ],
)
def test_an_impossible_filter_is_an_error(seen: Seen, query: str, said: str) -> None:
    for path in ("/", "/forms", f"/forms/{form_ids(seen)[0]}", "/data/csv"):
        answer = seen.browser.get(f"{path}?{query}", headers=HTML)
        assert answer.status_code == 400, path
        assert said in unescape(answer.get_data(as_text=True))


def addresses(page: str) -> list[tuple[str, dict[str, list[str]]]]:
    """(path, query) of the links of a page."""
    links = map(urlsplit, map(unescape, re.findall(r'href="(/[^"]*)"', page)))
    return [(link.path, parse_qs(link.query)) for link in links]


def test_links_keep_the_filters(seen: Seen) -> None:
    """Those to pages that take them, but for chips, which take one away, and what is said of the whole shop;
    others have none."""
    filters = {"device": ["mobile"], "utm_source": ["google"]}
    given = {name: texts[0] for name, texts in filters.items()}
    form = f"/forms/{form_ids(seen)[0]}"
    for path in ("/", "/forms", form):
        page = seen.page(path, range="90d", **given)
        chips = re.search(r'<ul class="chips".*?</ul>', page)
        assert chips
        without = [query for _, query in addresses(chips[0])]
        assert without == [
            {"range": ["90d"], name: filters[name]} for name in ("utm_source", "device")
        ]
        page = page.replace(chips[0], "").partition(WHOLE)[0]
        kept = 0
        for linked, query in addresses(page):
            found = {name: query[name] for name in NAMES if name in query}
            if linked in ("/", "/forms", path) or linked.startswith(("/forms/", "/data/csv")):
                assert query == {} or found | filters == found, (path, linked, query)
                kept += found != {}
            else:
                assert found == {}, (path, linked)
        assert kept > 20
        # Forms that ask for something else.
        forms = re.findall(r'<form[^>]* method="get".*?</form>', page, re.DOTALL)
        assert forms
        for each in forms:
            for name, text in given.items():
                hidden = f'<input type="hidden" name="{name}" value="{text}">'
                assert (hidden in each) != ("filter-device" in each), (path, each)


def test_a_row_leads_to_the_page_filtered_by_it(seen: Seen) -> None:
    form = f"/forms/{form_ids(seen)[0]}"
    page = seen.page(form, range="90d", clock="submission")
    leads = re.findall(r'<a class="filters" href="([^"]*)"[^>]*><bdi>([^<]*)', page)
    queries = {name: parse_qs(urlsplit(unescape(link)).query) for link, name in leads}
    devices = seen.api(f"{form}/devices", range="90d")
    assert devices
    same = {"range": ["90d"], "clock": ["submission"]}
    for row in devices:
        assert queries.pop(row["deviceType"].capitalize()) == {
            **same,
            "device": [row["deviceType"]],
        }
    assert queries == {name: {**same, "visitor": [name.lower()]} for name in ("New", "Returning")}


@pytest.mark.parametrize("path", ["/", "/revenue"])
def test_a_campaign_leads_to_its_form_sessions(seen: Seen, path: str) -> None:
    page = seen.page(path, range="90d")
    markup = r'(?:class="filters" href="([^"]*)"|<a href="([^"]*)">Forms, filtered by this)'
    links = [urlsplit(unescape(one or other)) for one, other in re.findall(markup, page)]
    found = {
        (query["utm_source"][0], query.get("utm_campaign", ["(all)"])[0])
        for query in (parse_qs(link.query) for link in links)
    }
    rows = seen.api("/revenue/by-utm", range="90d", dimension="campaign")["rows"]
    known = {
        (row["utmSource"] or "(none)", row["utmCampaign"] or "(none)"): row["submissionCount"]
        for row in rows
    }
    assert found
    assert {pair for pair in found if pair[1] != "(all)"} <= known.keys()
    assert path == "/" or any(pair[1] == "(all)" for pair in found)
    assert {link.path for link in links} == {"/" if path == "/" else "/forms"}
    for link in links:
        query = dict(parse_qsl(link.query))
        pair = query["utm_source"], query.get("utm_campaign", "(all)")
        if pair in known:
            shown = figures(seen.page("/forms", **query, numbers="forms"))
            sign_ups = [
                each.now
                for each in shown
                if (each.row.get("row"), each.name) == ("total", "submissions")
            ]
            assert sign_ups == [known[pair]], pair


def offered(page: str) -> dict[str, dict[str, int]]:
    """By the name of a filter, its values with their views."""
    menu = page.partition("+ Filter</summary>")[2].partition("</form>")[0]
    found = {}
    for name, options in re.findall(r'name="(\w+)"><option value="">all(.*?)</select>', menu):
        texts = re.findall(r'<option value="([^"]*)"[^>]*>(.*?)</option>', options)
        pairs = [(unescape(value), unescape(text)) for value, text in texts]
        found[name] = {value: _views(value, text) for value, text in pairs}
    return found


def _views(value: str, text: str) -> int:
    assert text == value or text.startswith(f"{value} ("), (value, text)
    return int(text[len(value) + 2 : -1].replace(",", "") or 0)


def test_the_values_of_these_days_have_their_views(seen: Seen) -> None:
    """Those of the form sessions that the other filters choose."""
    form, told = form_ids(seen)[0], set[str]()
    for filters in ({}, PHONES, {"utm_source": "(none)"}):
        for path in ("/", "/forms", f"/forms/{form}"):
            values = offered(seen.page(path, range="30d", **filters))
            told |= values.keys()
            for name, of_filter in values.items():
                for value, views in of_filter.items():
                    asked = {"range": "30d", **filters, name: value}
                    rows = seen.api("/forms/funnel", **asked)
                    shown = [
                        row for row in rows if path in ("/", "/forms", f"/forms/{row['formId']}")
                    ]
                    assert views == sum(row["views"] for row in shown), (path, asked)
    assert told == {*NAMES}


def test_files_are_filtered(seen: Seen) -> None:
    days = seen.api("/attribution/daily", range="90d")
    of_days = f"{days[0]['date']}_{days[-1]['date']}"

    def file(address: str) -> tuple[str, str]:
        answer = seen.browser.get(unescape(address), headers=HTML)
        assert answer.status_code == 200
        return answer.headers["Content-Disposition"], answer.get_data(as_text=True)

    page = seen.page("/", range="90d", **PHONES)
    files = {
        parse_qs(urlsplit(unescape(link)).query)["csv"][0]: file(link)
        for link in re.findall(r'href="([^"]*)">CSV of this table', page)
    }
    assert f'"forms_{of_days}_filtered.csv"' in files["forms"][0]
    assert files["forms"][1] != seen.page("/", range="90d", csv="forms")
    # The file of a card without filters stays the same.
    assert f'"campaigns_{of_days}.csv"' in files["campaigns"][0]
    assert files["campaigns"][1] == seen.page("/", range="90d", csv="campaigns")
    of_api = [link for link in re.findall(r'href="(/data/csv[^"]*)"', page) if "by-form" in link]
    name, text = file(of_api[0])
    assert "_filtered.csv" in name
    views = sum(row["views"] for row in seen.api("/revenue/by-form", range="90d", **PHONES))
    place = text.splitlines()[0].split(",").index("views")
    assert sum(int(line.split(",")[place]) for line in text.splitlines()[1:]) == views


def test_a_file_that_cannot_be_filtered_is_refused(seen: Seen) -> None:
    answer = seen.browser.get("/data/csv?path=/attribution&device=mobile", headers=HTML)
    assert answer.status_code == 400
    assert "`device` is no parameter" in answer.get_data(as_text=True)


def test_orders_of_some_form_sessions(seen: Seen) -> None:
    query = {"range": "90d", "device": "desktop"}
    status, body = seen.product.get("/v1/orders", query, seen.shop_id)
    assert status == 200
    page = seen.page("/orders", **query)
    (total,) = [figure.now for figure in figures(page) if figure.name == "orders"]
    assert total == body["meta"]["total"] > 0
    assert "Device: <strong><bdi>desktop</bdi></strong>" in page


def test_figures_lead_to_the_orders_of_the_same_form_sessions(seen: Seen) -> None:
    """A UTM value of an order may be its own, so that no list has the orders of a filtered figure."""

    def address(filters: dict[str, str], *, whole: bool = False) -> dict[str, list[str]]:
        nothing: Any = None
        sees_orders = frozenset(["customers:view"])
        answers = Answers(nothing, nothing, sees_orders, 0, 0, filters)
        view = View(nothing, select({}, 20_000, "UTC", 30), answers)
        with seen.browser.client.application.test_request_context("/"):
            found = (view.whole if whole else view).orders_address(form_id=FORM)
        query = parse_qs(urlsplit(found).query)
        query.pop("range", None)
        return query

    form = {"form_id": [FORM]}
    assert address({}) == form
    assert address({"device": "mobile", "visitor": "new"}) == {
        **form,
        "device": ["mobile"],
        "visitor": ["new"],
    }
    assert address({"device": "mobile", "utm_term": "(none)"}) == {}
    assert address({"device": "mobile", "utm_term": "(none)"}, whole=True) == form


ODD = """<b>"it's" & 50% #1?x=y; ü"""


def test_odd_values(by_hand: tuple[Seen, ShopBuilder, Any]) -> None:
    """As text in the menu and in the chip, and as the same value in all addresses."""
    seen, shop, _ = by_hand
    shop.form(FORM, name="A form")
    day = f"{datetime.now(UTC) - timedelta(days=2):%Y-%m-%d}"
    shop.daily("all_forms", day, cells=[(FORM, 9, 9)])
    shop.daily("funnel", day, form=FORM, views=9)
    attributes = {"device": "mobile", "is_first_session": 1, "variant": 0}
    for visitor, (source, views) in enumerate(((ODD, 2), ("", 7)), 1):
        utm = {"source": source} if source else {}
        shop.daily(
            "crossed_session",
            day,
            form=FORM,
            visitor=visitor,
            events=1,
            views=views,
            utm=utm,
            **attributes,
        )
    assert offered(seen.page("/forms"))["utm_source"] == {"(none)": 7, ODD: 2}
    for path in ("/", "/forms", f"/forms/{FORM}"):
        page = seen.page(path, utm_source=ODD)
        assert ODD not in page
        assert "<b>" not in page
        chip = re.search(r'<ul class="chips".*?</ul>', page)
        assert chip
        assert f"Source: <bdi>{ODD}</bdi>" in unescape(chip[0])
        kept = [query["utm_source"] for _, query in addresses(page) if "utm_source" in query]
        assert len(kept) > 10
        assert all(each == [ODD] for each in kept)
    seen_by = [
        each.now for each in figures(page) if (each.table, each.name) == ("devices", "views")
    ]
    assert seen_by == [2]
    # Terms that nobody has tell nothing apart.
    assert "utm_term" not in offered(seen.page("/forms"))
