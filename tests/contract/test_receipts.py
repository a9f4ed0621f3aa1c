"""Receipts (20) add up to the reports of the same window and filter; every order tells its story (21)."""

from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

import pytest

from tests.support.examples import start_over
from tests.support.import_files import order
from tests.support.loaded import load
from tests.support.oracle import Oracle
from tests.support.oracle.answers_orders import story
from tests.support.product import Product
from tests.support.refusals import refused
from tests.support.worlds import World, world
from warehouse.domain.vocabulary import DEVICES

DAY = {"range": "2026-01-02"}
MONEY = ("grossRevenueCents", "totalRefundedCents", "netRevenueCents")


@pytest.fixture
def some(product: Product) -> World:
    made = world(20, size=60)
    start_over(product, made)
    load(product, made)
    product.rollup()
    return made


def pages(product: Product, shop: str, query: dict[str, str]) -> Iterator[dict[str, Any]]:
    cursor: dict[str, str] = {}
    while True:
        status, body = product.get("/v1/orders", {**query, **cursor, "limit": "7"}, shop)
        assert status == 200, body
        yield body
        if body["meta"]["nextCursor"] is None:
            return
        cursor = {"cursor": body["meta"]["nextCursor"]}


def receipts(product: Product, shop: str, query: dict[str, str]) -> tuple[int, ...]:
    """The number of orders on all pages, and their money."""
    rows, meta = [], {}
    for body in pages(product, shop, query):
        rows += body["data"]
        meta = body["meta"]
    # Orders of one millisecond may be of several instants.
    instants = [row["createdAt"] for row in rows]
    assert instants == sorted(instants, reverse=True)
    assert len({row["orderId"] for row in rows}) == len(rows)
    sums = len(rows), *(sum(row[name] for row in rows) for name in MONEY)
    assert (meta["total"], meta["netRevenueCents"]) == (sums[0], sums[-1])
    return sums


def sums_of(row: dict[str, Any]) -> tuple[int, ...]:
    return tuple(row[name] for name in ("orders", *MONEY))


def test_all_pages_are_the_reports(product: Product, some: World) -> None:
    for shop in some.casts:
        for text in filter(None, some.ranges(shop)):
            days = {"range": text}

            def rows(path: str, **more: str) -> Any:
                status, body = product.get(path, {**days, **more}, shop)  # noqa: B023
                assert status == 200, body
                return body["data"]

            for row in rows("/v1/attribution"):
                of_type = {**days, "type": row["attributionType"]}
                assert receipts(product, shop, of_type) == sums_of(row)
            for row in rows("/v1/revenue/new-returning"):
                of_customer = {**days, "customer": row["customerType"]}
                assert receipts(product, shop, of_customer) == sums_of(row)
            for row in rows("/v1/revenue/by-utm", dimension="attribution")["rows"][:5]:
                own = {
                    "type": row["attributionType"],
                    "utm_source": row["utmSource"],
                    "utm_campaign": row["utmCampaign"],
                }
                assert receipts(product, shop, days | own) == sums_of(row)
            for row in rows("/v1/discounts/performance")[:5]:
                own = {"discount_id": row["discountId"]}
                assert receipts(product, shop, days | own) == sums_of(row)
            for form in some.casts[shop].forms:
                trends = [sums_of(row) for row in rows(f"/v1/forms/{form}/trends")]
                totals = tuple(map(sum, zip(*trends, strict=True)))
                assert receipts(product, shop, days | {"form_id": form}) == totals


def test_the_values_of_a_filter_add_up(product: Product, some: World) -> None:
    """By themselves and together with others: which filters there are decides which tables are read."""
    credited = ("discount_code", "customer", "visitor")
    for shop in some.casts:
        days = {"range": str(some.ranges(shop)[2])}

        def added(*each: dict[str, str]) -> tuple[int, ...]:
            parts = [receipts(product, shop, days | own) for own in each]  # noqa: B023
            return tuple(map(sum, zip(*parts, strict=True)))

        _, body = product.get("/v1/revenue/by-utm", {**days, "dimension": "hierarchy"}, shop)
        sources = {row["utmSource"] or "(none)" for row in body["data"]["rows"]}
        assert added(*({"utm_source": source} for source in sources)) == added({})
        of_sessions = added(*({"type": kind} for kind in credited))
        assert added(*({"device": name} for name in DEVICES if name)) == of_sessions
        assert added(*({"visitor": name} for name in ("new", "returning"))) == of_sessions
        new = {"customer": "new"}
        kinds = (*credited, "unattributed")
        assert added(*(new | {"type": kind} for kind in kinds)) == added(new)
        mobile = {"device": "mobile"}
        of_both = (
            mobile | {"utm_source": source, "type": kind} for source in sources for kind in credited
        )
        assert added(*of_both) == added(mobile)


def test_every_order_tells_its_story(product: Product, some: World) -> None:
    oracle = Oracle(some.records)
    for shop in some.casts:
        state = oracle.state(shop)
        assert state.orders
        for one in state.orders:
            status, body = product.get(f"/v1/orders/{quote(one.id, safe='')}", {}, shop)
            assert status == 200, body
            assert body["data"] == story(state, one.id)


@pytest.mark.parametrize("order_id", ["a/b", "/a", "a//b", "a?b#c", "a b%2F", "..", "é"])
def test_an_id_is_the_shops(product: Product, order_id: str) -> None:
    product.empty()
    shops = [{"shop_id": shop, "currency": "EUR"} for shop in ("a.example", "b.example")]
    product.load("shops", shops)
    product.load("orders", [order(order_id=order_id), order(order_id="t", test=True)])
    product.rollup()
    path = f"/v1/orders/{quote(order_id, safe='')}"
    status, body = product.get(path, {}, "a.example")
    assert (status, body.get("data", {}).get("orderId")) == (200, order_id)
    assert product.get(path, {}, "b.example")[0] == 404
    for unknown in ("none", "t"):
        assert product.get(f"/v1/orders/{unknown}", {}, "a.example")[0] == 404


@pytest.fixture
def one_order(product: Product) -> str:
    product.empty()
    product.load("shops", [{"shop_id": "a.example", "currency": "EUR"}])
    product.load("orders", [order(order_id=name) for name in ("a", "b", "c")])
    product.rollup()
    return "a.example"


@pytest.mark.parametrize(
    "query",
    [
        *(f"{name}=" for name in ("type", "form_id", "discount_id", "customer")),
        *(f"{name}=" for name in ("utm_medium", "utm_term", "utm_content", "device", "variant")),
        *(f"{name}=x&{name}=x" for name in ("type", "form_id", "discount_id", "customer")),
        *(
            f"{name}={text}"
            for name in ("utm_source", "discount_id")
            for text in ("%00", "x" * 256)
        ),
        *("utm_source=x&utm_source=x", "utm_campaign=&utm_campaign="),
        *("type=Visitor", "customer=all", "form_id=1"),
    ],
)
def test_a_filter_that_is_none_is_refused(product: Product, one_order: str, query: str) -> None:
    answer = product.ask("GET", f"/v1/orders?{query}", one_order)
    refused(answer, 400, "invalid_filter", query)


def test_values_that_no_order_has_give_no_rows(product: Product, one_order: str) -> None:
    for name, text, rows in (
        ("utm_source", "", 3),
        ("utm_campaign", "", 3),
        ("utm_source", "x" * 255, 0),
        ("discount_id", "x", 0),
        ("form_id", "11111111-1111-4111-8111-111111111111", 0),
    ):
        body = product.get("/v1/orders", DAY | {name: text}, one_order)[1]
        assert (len(body["data"]), body["meta"]["total"]) == (rows, rows), name


def test_a_cursor_that_is_none_gives_an_empty_page(product: Product, one_order: str) -> None:
    for cursor in ("", "x", "é", "WzEsImEiXQ", "W10", "bnVsbA", "W3RydWUsIngiXQ"):
        status, body = product.get("/v1/orders", DAY | {"cursor": cursor}, one_order)
        assert (status, body["data"], body["meta"]["nextCursor"]) == (200, [], None), cursor
    cursor = product.get("/v1/orders", DAY | {"limit": "1"}, one_order)[1]["meta"]["nextCursor"]
    assert len(product.get("/v1/orders", DAY | {"cursor": cursor}, one_order)[1]["data"]) == 2
    # The order that it names is no more.
    product.load("orders", [order(order_id="c", test=True, updated_at="2026-06-01T00:00:00Z")])
    product.rollup()
    assert product.get("/v1/orders", DAY | {"cursor": cursor}, one_order)[1]["data"] == []


def test_an_unknown_order_is_told_before_anything_else(product: Product, one_order: str) -> None:
    for query in ("", "?colour=blue", "?format=xml", "?format=csv"):
        answer = product.ask("GET", f"/v1/orders/none{query}", one_order)
        refused(answer, 404, "not_found", query)
    refused(product.ask("GET", "/v1/orders/a?colour=blue", one_order), 400, "unknown_parameter")
    table = product.ask("GET", "/v1/orders/a?format=csv", one_order)
    assert table.headers["Content-Disposition"] == 'attachment; filename="orders-one.csv"'
