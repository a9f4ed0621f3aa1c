"""Every page shows the figures of the API, to those who may see them."""

import codecs
import csv
import re
from html import unescape
from io import StringIO
from urllib.parse import parse_qs, urlsplit

import pytest

from tests.support.people import Browser, add_member
from tests.support.shop_builder import ShopBuilder
from tests.web.dashboard.conftest import Seen
from tests.web.dashboard.form_page import form_ids
from warehouse.connections.engine import open_engine
from warehouse.domain.vocabulary import minor_units

RANGE = {"range": "90d", "compare": "previous"}
SHOP_PAGES = ("/", "/forms", "/revenue", "/discounts", "/ads", "/customers")


def all_pages(seen: Seen) -> list[str]:
    return [*SHOP_PAGES, *(f"/forms/{form_id}" for form_id in form_ids(seen))]


def test_a_table_of_the_overview_for_programs(seen: Seen) -> None:
    """It was 404 where `Accept` named no page."""
    path = "/?csv=forms&range=90d"
    asked = seen.browser.get(path, headers={"Accept": "*/*"})
    assert (asked.status_code, asked.mimetype) == (200, "text/csv")
    assert asked.data == seen.browser.get(path, headers={"Accept": "text/html"}).data
    assert seen.browser.get("/", headers={"Accept": "*/*"}).status_code == 404


def test_the_navigation_marks_where_a_page_is(seen: Seen) -> None:
    for path, name in (
        ("/", "Overview"),
        (f"/forms/{form_ids(seen)[0]}", "Forms"),
        ("/data/report", "Data"),
    ):
        marked = re.findall(r'aria-current="page">(\w+)</a>', seen.page(path))
        assert marked == [name], path


def test_every_csv_of_a_page_is_the_api_s(seen: Seen) -> None:
    """The answer behind each figure, as a spreadsheet reads it: a text that looks like a number has an
    apostrophe in front."""
    looked_at = set()
    for path in all_pages(seen):
        for address in re.findall(r'href="(/data/csv[^"]*)"', seen.page(path, **RANGE)):
            asked = {
                name: value[0]
                for name, value in parse_qs(urlsplit(unescape(address)).query).items()
            }
            api, form_id = asked.pop("path"), asked.pop("form", "")
            theirs = seen.product.ask(
                "GET",
                f"/v1{api.replace('{id}', form_id)}",
                seen.shop_id,
                query_string={**asked, "format": "csv"},
            )
            ours = seen.browser.get(unescape(address))
            assert (ours.status_code, theirs.status_code) == (200, 200), address
            assert ours.data.startswith(codecs.BOM_UTF8), address
            lines, due = (
                list(csv.reader(StringIO(answer.data.decode("utf-8-sig"), newline=""), strict=True))
                for answer in (ours, theirs)
            )
            marked = [[cell.removeprefix("'") for cell in line] for line in lines]
            assert marked == [[cell.removeprefix("'") for cell in line] for line in due], address
            looked_at.add(api)
    assert len(looked_at) >= 13


# A block of data is no script. Its texts hold no `<`.
INLINE = re.compile(
    r'<style|style=|\son\w+=|javascript:|<script(?! src="/|(?: type="application/json")>[^<]*</script>)'
)


@pytest.mark.parametrize(
    "text",
    ["<script>", '<script type="application/json"><b></script>', '<p style="">', "<a onx=1>"],
)
def test_inline_scripts_and_styles_are_seen(text: str) -> None:
    assert INLINE.search(text)


def test_pages_have_the_policy_and_no_inline_script(seen: Seen) -> None:
    for path in all_pages(seen):
        answer = seen.browser.get(path, headers={"Accept": "text/html"})
        assert "default-src 'none'" in answer.headers["Content-Security-Policy"]
        assert answer.headers["Cache-Control"] == "no-store"
        page = answer.get_data(as_text=True)
        assert not INLINE.search(page)
        assert not re.search(r'(src|href|action)="(https?:)?//', page)


def test_bad_values_leave_the_page(seen: Seen) -> None:
    for path in SHOP_PAGES:
        page = seen.page(path, range="soon")
        assert "The range has `soon`" in page
        assert "Last 30 days" in page


@pytest.mark.parametrize("compare", ["previous", "none"])
def test_pages_say_what_they_compare_with_what(seen: Seen, compare: str) -> None:
    for path in all_pages(seen):
        page = seen.page(path, range="7d", compare=compare)
        told = page.partition("How figures are compared")[2]
        assert ("whole days, as many on both sides." in told) == (compare != "none"), path
        # Sign-ups that bought are the same figure, compared or not.
        assert "who bought within 3 days: later ones" in told, path
    since = re.search(r"Data begin on (\w+) ", seen.page("/", range="30d", compare="year"))
    assert since
    assert since[1].istitle()  # a month
    young = seen.page("/", range="yesterday")
    assert "Sign-ups that bought: too young to compare, from" in young
    assert "Not compared: today is not over." in seen.page("/", range="today")


def test_the_csv_of_a_table_has_its_columns(seen: Seen) -> None:
    """In the order shown, as the browser's language writes numbers."""
    for path in all_pages(seen):
        page = seen.page(path, range="90d")
        names = re.findall(r'href="([^"]*csv=[^"]*)">CSV of this table', page)
        assert names or path == "/discounts", path
        for address in map(unescape, names):
            answer = seen.browser.get(address, headers={"Accept": "text/html"})
            assert answer.headers["Content-Type"].startswith("text/csv")
            assert "attachment" in answer.headers["Content-Disposition"]
    forms = lines_of(seen, "en", ",")
    german = lines_of(seen, "de", ";")
    assert forms[0][:3] == ["Form", "Credited to forms", "Views"]
    amounts = {
        row["formName"] or f"form {str(row['formId'])[:6]}…, not named": row["netRevenueCents"]
        for row in seen.api("/revenue/by-form", range="90d", clock="order")
    }
    assert len(forms) > 2
    meta = seen.product.get("/v1/attribution", {}, seen.shop_id)[1]["meta"]
    units = minor_units(meta["currency"])
    for line, other in zip(forms[1:], german[1:], strict=True):
        assert round(units * float(line[1])) == amounts[line[0]]
        assert other[1] == line[1].replace(".", ",")
    assert (
        seen.browser.get("/forms?csv=nothing", headers={"Accept": "text/html"}).status_code == 404
    )


def lines_of(seen: Seen, language: str, delimiter: str) -> list[list[str]]:
    answer = seen.browser.get(
        "/forms?csv=forms&range=90d", headers={"Accept": "text/html", "Accept-Language": language}
    )
    text = answer.get_data().decode("utf-8-sig")
    return list(csv.reader(StringIO(text, newline=""), delimiter=delimiter))


def test_a_csv_is_never_of_other_days(seen: Seen) -> None:
    answer = seen.browser.get("/data/csv?path=/attribution&range=soon")
    assert answer.status_code == 400
    assert "The range has `soon`" in answer.get_data(as_text=True)


def test_who_may_see_what(seen: Seen) -> None:
    outsider = Browser(seen.browser.client.application.test_client())
    for path in ("/", "/forms", "/data/csv?path=/attribution"):
        answer = outsider.get(path, headers={"Accept": "text/html"})
        assert answer.status_code == 302
        assert answer.location.startswith("/settings/sign-in?next=")
    signed_in = outsider.sign_in("nobody@example.com")
    assert signed_in.status_code == 403
    engine = open_engine(seen.product.url)
    add_member(
        engine, ShopBuilder(engine, "plain.example"), "plain@example.com", ["connections:manage"]
    )
    plain = Browser(seen.browser.client.application.test_client())
    plain.sign_in("plain@example.com")
    html = {"Accept": "text/html"}
    assert plain.get("/", headers=html).status_code == 200
    assert plain.get("/discounts", headers=html).status_code == 403
    assert plain.get("/data/csv?path=/discounts/performance").status_code == 403
    # Orders are for those who may see them, codes among them for those who may see codes.
    orders = "/data/csv?path=/orders"
    assert plain.get(orders).status_code == 403
    add_member(
        engine, ShopBuilder(engine, "orders.example"), "orders@example.com", ["customers:view"]
    )
    of_orders = Browser(seen.browser.client.application.test_client())
    of_orders.sign_in("orders@example.com")
    assert of_orders.get(orders).status_code == 200
    assert of_orders.get(f"{orders}&discount_id=x").status_code == 403
    # A form of another shop is none.
    form_id = form_ids(seen)[0]
    assert plain.get(f"/forms/{form_id}", headers=html).status_code == 404
    assert plain.get("/forms/funnel-x", headers=html).status_code == 404
    address = f"/data/csv?path=/forms/%7Bid%7D/funnel&form={form_id}"
    assert plain.get(address).status_code == 404
    engine.dispose()


@pytest.mark.parametrize("accept", ["application/json", "*/*", ""])
def test_a_program_finds_nothing_at_the_root(seen: Seen, accept: str) -> None:
    answer = seen.browser.get("/", headers={"Accept": accept})
    assert answer.status_code == 404
    assert answer.get_json()["error"]["code"] == "not_found"


def test_a_shop_without_data_says_the_next_step(seen: Seen) -> None:
    engine = open_engine(seen.product.url)
    add_member(engine, ShopBuilder(engine, "new.example", rolled_up=False), "new@example.com")
    browser = Browser(seen.browser.client.application.test_client())
    browser.sign_in("new@example.com")
    for path in SHOP_PAGES:
        answer = browser.get(path, headers={"Accept": "text/html"})
        assert answer.status_code == 200, path
    assert "No figures yet" in browser.get("/", headers={"Accept": "text/html"}).text
    engine.dispose()


def test_a_long_query_is_not_repeated_by_every_link(seen: Seen) -> None:
    """A page of megabytes for a request of kilobytes."""
    for path in all_pages(seen):
        query = {**RANGE, "x": "long" * 10_000}
        text = seen.browser.get(path, query_string=query, headers={"Accept": "text/html"}).text
        # The form that changes the shop has the whole address, where there are several.
        assert text.count(query["x"]) <= 1, path
        assert f"x={'long' * 20}" in seen.page(path, **RANGE, x="long" * 20), path


def test_the_calendar_has_an_end(seen: Seen) -> None:
    for path in (*all_pages(seen), "/shops"):
        for days in ("9999-12-31", "9999-01-01..9999-12-31", "0001-01-01"):
            for compare in ("previous", "year"):
                assert seen.page(path, range=days, compare=compare), path


def test_a_file_is_never_of_other_days(seen: Seen) -> None:
    html = {"Accept": "text/html"}
    wrong = seen.browser.get("/forms?csv=forms&range=2026-13-01", headers=html)
    assert wrong.status_code == 400
    # A file has no comparison, and does not check one.
    assert seen.browser.get("/forms?csv=forms&within=5", headers=html).status_code == 200


def test_those_who_bought_are_more_the_longer_they_had(seen: Seen) -> None:
    """The figures of the sentence are of the same sign-ups."""
    told = 0
    for form_id in form_ids(seen):
        page = seen.page(f"/forms/{form_id}", range="90d")
        sentence = page.partition("Of 100 sign-ups,")[2].partition("</p>")[0]
        rates = [float(text) for text in re.findall(r'data-value="([^"]*)"', sentence)]
        assert rates == sorted(rates)
        told += len(rates) > 1
    assert told
