"""Every number of `/discounts` is the API's, or the sum of those that the API gives."""

from typing import Any

import pytest
from flask.testing import FlaskClient

from tests.support.fixtures import Ask
from tests.support.people import Browser, add_member
from tests.support.shop_builder import ShopBuilder
from tests.web.dashboard.conftest import Seen
from tests.web.dashboard.page_text import Row, sections
from tests.web.dashboard.written import (
    english,
    money,
    nothing,
    shop_of,
    with_digit,
)
from warehouse.domain.rounding import percent
from web.dashboard import formatting
from web.dashboard.discounts import is_used_by_others

Rows = list[dict[str, Any]]
HTML = {"Accept": "text/html"}
NOT_ISSUED = nothing("no code was issued in these days")


def check(page: str, now: Rows, currency: str, names: dict[str, str] | None = None) -> None:
    """State the whole page without a comparison, from the answers for its days. `names` of discounts that are
    not called by their id."""
    names = names or {}
    found = sections(page)
    found["Discounts"].check(cards=cards(now, currency))
    table = [code_row(row, currency, names) for row in now[:100]]
    rest = f"The first 100 of {len(now)} rows; the CSV has all."
    found["Codes"].check([*table, sums_row(now, currency)], others=[rest] if len(now) > 100 else [])
    others = [row for row in now if row["issued"] and row["orders"] > row["issued"]]
    if not others:
        assert "Used by others" not in found
        return
    warned = [
        str(text)
        for row in others[:5]
        for text in (
            row["code"] or names.get(row["discountId"], row["discountId"]),
            f": {row['orders']} orders for {row['issued']} issued "
            f"({formatting.percent(row['redemptionRate'])}).",
        )
    ]
    more = [f"and {len(others) - 5} more."] if len(others) > 5 else []
    found["Used by others"].check(others=with_digit([*warned, *more]))


def cards(now: Rows, currency: str) -> dict[str, list[str]]:
    def card(name: str, write: Any) -> list[str]:
        return [write(sum(row[name] for row in now))]

    rate, gross = redeemed(now), sum(row["grossRevenueCents"] for row in now)
    none = ["—", "(no code was issued in these days)"]
    cost = "Cost"
    if gross:
        share = percent(sum(row["discountCents"] for row in now), gross)
        cost = f"Cost · {formatting.percent(share)} of revenue"
    return {
        "Issued": card("issued", formatting.count),
        "Used": card("orders", formatting.count),
        "Redeemed": none if rate is None else [formatting.percent(rate)],
        cost: card("discountCents", money(currency)),
        "Net revenue": card("netRevenueCents", money(currency)),
    }


def redeemed(rows: Rows) -> float | None:
    issued = sum(row["issued"] for row in rows)
    orders = sum(row["orders"] for row in rows if row["issued"])
    return round(100 * orders / issued, 2) if issued else None


def code_row(row: dict[str, Any], currency: str, names: dict[str, str]) -> Row:
    exact = money(currency, exact=True)
    rate = nothing("not issued in these days")
    if row["issued"]:
        rate = formatting.percent(row["redemptionRate"])
        rate += " used by others" if row["orders"] > row["issued"] else ""
    return [
        names.get(row["discountId"]) or row["code"] or row["discountId"],
        row["code"] or nothing("several codes"),
        formatting.count(row["issued"]),
        formatting.count(row["orders"]),
        rate,
        exact(row["discountCents"]),
        cost_share(row),
        exact(row["netRevenueCents"]),
        exact(row["averageOrderValueCents"]) if row["orders"] else nothing("no orders"),
    ]


def cost_share(row: dict[str, Any]) -> str:
    gross = row["grossRevenueCents"]
    return (
        formatting.percent(percent(row["discountCents"], gross)) if gross else nothing("no revenue")
    )


def sums_row(rows: Rows, currency: str) -> Row:
    exact, rate = money(currency, exact=True), redeemed(rows)
    gross, orders = (sum(row[name] for row in rows) for name in ("grossRevenueCents", "orders"))
    if any(row["orders"] and not row["issued"] for row in rows) and rate is not None:
        redemption = nothing("some orders used codes that were not issued in these days")
    else:
        redemption = NOT_ISSUED if rate is None else formatting.percent(rate)
    return [
        "All codes",
        formatting.count(sum(row["issued"] for row in rows)),
        formatting.count(orders),
        redemption,
        exact(sum(row["discountCents"] for row in rows)),
        "",
        exact(sum(row["netRevenueCents"] for row in rows)),
        exact(int(gross / orders + 0.5)) if orders else nothing("no orders"),
    ]


@pytest.mark.parametrize("days", ["30d", "90d"])
def test_a_random_shop(seen: Seen, days: str) -> None:
    currency, _ = shop_of(seen, days)
    now = seen.api("/discounts/performance", range=days)
    assert now
    forms = seen.api("/forms", limit="200")
    names = {f"form:{form['id']}": f"codes of {form['name']}" for form in forms}
    with english(seen.browser.client):
        check(
            seen.page("/discounts", range=days, compare="none", numbers="codes"),
            now,
            currency,
            names,
        )


def page_of(browser: Browser, **query: str) -> str:
    answer = browser.signed_in().get("/discounts", query_string=query, headers=HTML)
    assert answer.status_code == 200
    return answer.get_data(as_text=True)


def used(shop: ShopBuilder, on: str, code: str, cost: int = 0, **figures: int) -> None:
    shop.daily("discount", on, discount=code, discounted=cost, **figures)


def check_days(client: FlaskClient, browser: Browser, ask: Ask, currency: str) -> str:
    """The last 30 days of a shop made by hand; now is 2026-03-31."""
    page = page_of(browser, compare="none", range="30d", numbers="codes")
    with english(client):
        check(page, ask("/v1/discounts/performance", range="30d"), currency)
    return page


def test_codes_of_every_kind(
    client: FlaskClient, browser: Browser, ask: Ask, shop: ShopBuilder
) -> None:
    shop.code("SHARED", "shared")
    shop.code("OWN", "own")
    used(shop, "2026-03-10", "shared", issued=3, orders=7, gross=7_000, cost=700)
    # All of it came back.
    used(shop, "2026-03-11", "pool", issued=40, orders=4, gross=4_000, refunded=4_000, cost=9)
    used(shop, "2026-03-11", "own", orders=2, gross=200_000, cost=1)
    used(shop, "2026-03-11", "unused", issued=1)
    used(shop, "2026-02-10", "shared", issued=30, orders=2, gross=1_000, cost=100)
    used(shop, "2026-02-10", "earlier", issued=5)
    page = check_days(client, browser, ask, "USD")
    rows = ask("/v1/discounts/performance")
    assert [row["discountId"] for row in rows if is_used_by_others(row)] == ["shared"]
    assert "A coupon site may list the code" in page
    # A sample of three says little.
    assert "(233.3%).</li>" not in page
    assert '(233.3%). <span class="few">few</span></li>' in page


def test_single_use_codes_are_called_by_their_form(browser: Browser, shop: ShopBuilder) -> None:
    known, unknown = (f"{digit * 8}-1111-4111-8111-111111111111" for digit in "12")
    shop.form(known, name="Gift finder")
    for form_id in (known, unknown):
        used(shop, "2026-03-10", f"form:{form_id}", issued=3, orders=4, gross=500, cost=50)
    page = page_of(browser)
    [table] = sections(page)["Codes"].tables
    assert {row[0] for row in table[:2]} == {"codes of Gift finder", f"form:{unknown}"}
    assert f'data-row="form:{known}"' in page
    assert "<bdi>codes of Gift finder</bdi></strong>: 4 orders" in page


def test_only_codes_that_no_form_issued(
    client: FlaskClient, browser: Browser, ask: Ask, shop: ShopBuilder
) -> None:
    used(shop, "2026-03-10", "own", orders=1, gross=500, cost=50)
    check_days(client, browser, ask, "USD")


def test_more_codes_than_the_page_names(
    client: FlaskClient, browser: Browser, ask: Ask, shop: ShopBuilder
) -> None:
    for number in range(120):
        used(shop, "2026-03-10", f"code {number:03}", issued=1, orders=2, gross=100)
    page = check_days(client, browser, ask, "USD")
    assert "The first 100 of 120 rows; the CSV has all." in page
    assert len(page_of(browser)) < 160_000


def test_yen(client: FlaskClient, browser: Browser, ask: Ask, engine: Any) -> None:
    shop = ShopBuilder(engine, "yen.example", currency="JPY")
    add_member(engine, shop, "yen@example.com")
    used(shop, "2026-03-10", "code", issued=2, orders=1, gross=1_234, cost=123)
    key = shop.mint()
    rows = client.get(
        "/v1/discounts/performance", headers={"Authorization": f"Bearer {key}"}
    ).get_json()["data"]
    yen = Browser(client)
    yen.sign_in("yen@example.com")
    page = yen.get(
        "/discounts",
        query_string={"compare": "none", "range": "30d", "numbers": "codes"},
        headers=HTML,
    ).text
    with english(client):
        check(page, rows, "JPY")
    assert "¥1,234" in page


def test_a_shop_without_codes_says_where_they_come_from(browser: Browser) -> None:
    page = sections(page_of(browser, compare="none"))
    [[[text]]] = page["Codes"].tables
    assert text.startswith("No code was issued or used in these days.")
    assert page["Discounts"].cards["Used"] == ["0"]
    assert page["Discounts"].cards["Redeemed"][0] == "—"


@pytest.mark.parametrize(
    ("sort", "order"),
    [
        ("codes.discount", ["a", "b", "c"]),
        ("codes.-issued", ["c", "a", "b"]),
        ("codes.rate", ["c", "a", "b"]),
        ("codes.-rate", ["a", "c", "b"]),
        ("codes.-net", ["b", "c", "a"]),
        ("codes.average", ["a", "b", "c"]),
    ],
)
def test_sorted_by_the_address(
    browser: Browser, shop: ShopBuilder, sort: str, order: list[str]
) -> None:
    """A row without a value comes last, whichever way."""
    used(shop, "2026-03-10", "a", issued=1, orders=1, gross=10)
    used(shop, "2026-03-10", "b", orders=1, gross=90)
    used(shop, "2026-03-10", "c", issued=2, orders=0, gross=20)
    [table] = sections(page_of(browser, sort=sort))["Codes"].tables
    assert [row[0] for row in table[:-1]] == order


def test_a_column_that_does_not_exist(browser: Browser, shop: ShopBuilder) -> None:
    used(shop, "2026-03-10", "a", issued=1)
    page = page_of(browser, sort="codes.price")
    assert "cannot be sorted by &#39;price&#39;" in page
