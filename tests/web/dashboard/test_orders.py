"""`/orders` and the page of one order: the API's rows and sums, who may see them, and why one is credited."""

import re
from datetime import timedelta
from decimal import Decimal
from html import unescape
from typing import Any
from urllib.parse import quote

import pytest

from tests.support.import_files import FORM, as_ndjson, event, form, order
from tests.support.people import Browser, add_member
from tests.support.shop_builder import known_shop
from tests.web.dashboard.conftest import Seen
from tests.web.dashboard.two_shops import NOW, A, B, TwoShops, run, take, without_data
from tests.web.dashboard.written import shop_of
from warehouse.domain.vocabulary import ATTRIBUTION_TYPES, CUSTOMER_TYPES, minor_units
from web.dashboard import orders

HTML = {"Accept": "text/html", "Accept-Language": "en"}
GIFTS = FORM.replace("0190", "0191")
DAY = timedelta(days=1)
PAGE = 16
# Ids that a browser would read as something else than a name.
IDS = ("#1/2?a=b", "/begins", "a/../b", "100%", "<b>bold</b>", "x y", "ü", "o&amp;")


def _rows(page: str) -> list[str]:
    return [unescape(found) for found in re.findall(r'<tr data-row="([^"]*)"', page)]


def _figures(page: str) -> dict[str, int]:
    """Those of the cards."""
    cards = page.partition('<ul class="card glance')[2].partition("</ul>")[0]
    found = re.findall(r'data-figure="(\w+)" data-value="(-?\d+)"', cards)
    return {name: int(value) for name, value in found}


@pytest.fixture(autouse=True)
def short_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(orders, "_PAGE", PAGE)


def _all_pages(seen: Seen, query: dict[str, str]) -> tuple[list[str], dict[str, int]]:
    page = seen.page("/orders", **query)
    rows, figures = _rows(page), _figures(page)
    while following := re.search(r'<a href="([^"]+)" rel="next">', page):
        answer = seen.browser.get(unescape(following[1]), headers=HTML)
        page = answer.get_data(as_text=True)
        assert _figures(page) == figures
        assert len(_rows(page)) <= PAGE
        rows += _rows(page)
    return rows, figures


def test_the_page_has_the_rows_and_sums_of_the_api(seen: Seen) -> None:
    days = {"range": "90d"}
    forms = [row["formId"] for row in seen.api("/revenue/by-form", clock="order", **days)]
    filters: list[dict[str, str]] = [
        {},
        *({"type": one} for one in ATTRIBUTION_TYPES),
        *({"customer": one} for one in CUSTOMER_TYPES),
        *({"form_id": one} for one in forms[:3] if one),
        {"utm_source": "", "type": "unattributed"},
    ]
    for one in filters:
        status, body = seen.product.get("/v1/orders", days | {"limit": "200"} | one, seen.shop_id)
        assert status == 200
        asked = {name: value or "(none)" for name, value in one.items()}
        rows, figures = _all_pages(seen, days | asked)
        meta = body["meta"]
        assert len(rows) == len(set(rows)) == meta["total"]
        assert rows[:200] == [row["orderId"] for row in body["data"]]
        assert figures == {
            "orders": meta["total"],
            "netRevenueCents": meta["netRevenueCents"],
        }


def test_the_csv_has_all_pages(seen: Seen) -> None:
    rows, figures = _all_pages(seen, {"range": "90d"})
    text = seen.page("/orders", range="90d", csv="orders")
    heading, *lines = text.removeprefix("\N{BYTE ORDER MARK}").splitlines()
    assert heading.startswith(
        "Order,Net revenue,Ordered,Credited to,How,Code,Customer,Source,Campaign"
    )
    assert [line.partition(",")[0] for line in lines] == rows
    assert len(rows) > PAGE
    currency, _ = shop_of(seen, "90d")
    net = sum(Decimal(line.split(",")[1]) for line in lines)
    assert net * minor_units(currency) == figures["netRevenueCents"]


def test_a_bad_filter_says_what_it_takes(seen: Seen) -> None:
    for query, said in (
        ({"type": "sun"}, "discount_code"),
        ({"form_id": "12"}, "UUID"),
        ({"customer": "old"}, "returning"),
    ):
        answer = seen.browser.get("/orders", query_string=query, headers=HTML)
        assert answer.status_code == 400
        assert said in answer.get_data(as_text=True)
    stale = seen.page("/orders", page="nonsense")
    assert _rows(stale) == []
    assert "The newest orders" in stale


def story_data(url: str) -> None:
    """Orders of shop A with a story each, and one of shop B."""
    without_data(url)
    at = (NOW - 2 * DAY).replace(hour=12, minute=0, second=0, microsecond=0)

    def submit(name: str, form_id: str, ago: timedelta, **more: Any) -> dict[str, Any]:
        moment = (at - ago).isoformat()
        return event(
            **{
                "event_id": name,
                "form_session_id": name,
                "form_id": form_id,
                "visitor_id": f"v-{name}",
                "type": "subscribe",
                "occurred_at": moment,
                "discount_code": None,
                "customer_id": None,
                "email": None,
            }
            | more
        )

    def buy(order_id: str, **more: Any) -> dict[str, Any]:
        none = {"customer_id": None, "email": None, "visitor_id": None, "discount_codes": None}
        return order(**{"order_id": order_id, "created_at": at.isoformat()} | none | more)

    take(
        url,
        "forms",
        as_ndjson([form(name="Welcome <i>pop-up</i>"), form(form_id=GIFTS, name="Gift finder")]),
    )
    events = [
        submit("s1", FORM, 2 * DAY + timedelta(hours=4), discount_code="welcome-7f3k"),
        submit("s2", GIFTS, 4 * DAY, visitor_id="ada"),
        submit("s3", GIFTS, 5 * DAY, customer_id="c1"),
        submit("s4", FORM, 9 * DAY, customer_id="c1"),
        *(
            submit(f"t{day}", FORM, day * DAY, discount_code="shared", visitor_id=f"t{day}")
            for day in (1, 3, 6)
        ),
        *(
            submit(f"m{minute}", GIFTS, DAY + timedelta(minutes=minute), discount_code="many")
            for minute in range(100)
        ),
        submit("mia", FORM, 6 * DAY, discount_code="many", visitor_id="mia"),
        submit("s5", FORM, 40 * DAY, visitor_id="late"),
    ]
    bought = [
        buy("code", discount_codes=[{"code": "WELCOME-7F3K"}], visitor_id="ada"),
        buy("customer", customer_id="c1"),
        buy("shared", discount_codes=[{"code": "SHARED"}], visitor_id="t3"),
        buy("many", discount_codes=[{"code": "MANY"}], visitor_id="mia"),
        buy("late", visitor_id="late"),
        buy("nobody"),
        *(buy(order_id) for order_id in IDS),
    ]
    take(url, "events", as_ndjson(events))
    take(url, "orders", as_ndjson([*bought, buy("other shop's", shop_id=B)]))
    run(url, "rollup")


@pytest.mark.parametrize("content", [story_data])
def test_an_order_tells_why_it_is_credited(two: TwoShops, content: Any) -> None:
    def story(order_id: str) -> str:
        page = two.page(A, f"/orders/{quote(order_id, safe='')}")
        part = page.partition("data-verdict")[2].partition("</section>")[0].partition(">")[2]
        return " ".join(re.sub(r"</?(code|bdi|em)>", "", part).split())

    code = story("code")
    assert code.startswith(
        "Credited to Welcome &lt;i&gt;pop-up&lt;/i&gt;: the code WELCOME-7F3K was issued to its "
        "submission on "
    )
    assert ", 2 days 4 hours before.</p>" in code
    assert re.search(
        r"Gift finder \(\w+ \d+(, \d+)?\) also matches the visitor: a code outranks a", code
    )
    customer = story("customer")
    assert "Credited to Gift finder: the same customer submitted it on" in customer
    assert "also matches the customer: it is earlier, and the latest of several counts" in customer
    shared = story("shared")
    # Hundreds can share a code: a sentence stands for all that lose alike.
    assert re.search(
        r"\(2 submissions, [^)]+ to [^)]+\) also match a code that the order used: a code that was issued "
        "to the same visitor outranks one that was issued to somebody else",
        shared,
    )
    assert shared.count("also match") == 1
    # 100 others were issued the code, of which the answer has 99.
    many = story("many")
    assert re.search(r"Gift finder \(at least 99 submissions, the latest \w+ \d+[^)]*\) also", many)
    assert "more may match" in many
    assert "may match" not in shared
    late = story("late")
    assert late.startswith(
        "Credited to no form: in the 30 days before the order, neither its customer nor its visitor"
    )
    assert "matches the visitor: it was 40 days before the order, and a submission counts" in late
    assert story("nobody").endswith("a code that the order used.</p>")


@pytest.mark.parametrize("content", [story_data])
def test_any_id_has_a_page_and_no_other_shop_sees_it(two: TwoShops, content: Any) -> None:
    listed = two.page(A, "/orders")
    links = re.findall(r'<a href="(/orders/[^"]+)"', listed)
    assert {*IDS, "code"} <= {*_rows(listed)}
    for link in links:
        page = two.page(A, unescape(link))
        assert "<b>bold" not in page
        assert "/orders/../" not in link
    for shop, order_id in ((A, "other shop's"), (B, "code"), (A, "none")):
        path = f"/orders/{quote(order_id, safe='')}"
        assert two.browsers[shop].get(path, headers=HTML).status_code == 404
    assert _rows(two.page(B, "/orders")) == ["other shop's"]


@pytest.mark.parametrize("content", [story_data])
def test_orders_and_codes_need_their_permissions(two: TwoShops, content: Any) -> None:
    def seen_by(name: str, *permissions: str) -> Browser:
        email = add_member(two.engine, known_shop(two.engine, A), f"{name}@x.example", permissions)
        return Browser(two.app.test_client()).signed_in(email)

    nobody = seen_by("nobody", "forms:edit", "discounts:view", "connections:manage")
    for path in ("/orders", "/orders/code", "/data/csv?path=/orders", "/orders?csv=orders"):
        answer = nobody.get(path, headers=HTML)
        assert answer.status_code == 403, path
        assert "Orders view permission can see orders" in answer.get_data(as_text=True)
    without_codes = seen_by("without", "customers:view")
    for path in ("/orders", "/orders/code", "/orders?csv=orders"):
        text = without_codes.get(path, headers=HTML).get_data(as_text=True)
        assert "7F3K" not in text.upper()
    assert "a code that the order used was issued" in without_codes.get(
        "/orders/code", headers=HTML
    ).get_data(as_text=True)
    # The code was issued once: it is of the form's pool.
    of_pool = f"/orders?discount_id=form:{FORM}"
    assert without_codes.get(of_pool, headers=HTML).status_code == 403
    assert _rows(two.page(A, of_pool)) == ["code"]
