"""Every number of `/customers` is the API's."""

import re
from datetime import date, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from flask.testing import FlaskClient
from sqlalchemy import Engine

from tests.support.fixtures import Ask
from tests.support.people import Browser, add_member
from tests.support.shop_builder import ShopBuilder
from tests.web.dashboard.conftest import Seen
from tests.web.dashboard.page_text import AGED, Row, Section, sections
from tests.web.dashboard.written import (
    cell,
    english,
    money,
    nothing,
    shop_of,
    with_digit,
)
from web.dashboard import formatting

Data = dict[str, Any]
Rows = list[Data]
HTML = {"Accept": "text/html"}
FORM = "11111111-1111-4111-8111-111111111111"
SECOND = "22222222-2222-4222-8222-222222222222"
ANSWERS, FORMS = "Value to date, by answer", "Value of a customer to date, by form"
OPEN = "segment,form"
EMPTY = {
    ANSWERS: ["Nobody was won by an answer in these days."],
    FORMS: ["No form won a customer in these days."],
}


class Expected:
    """The page over `first`..`last` as it is seen on `today`."""

    def __init__(self, first: date, last: date, today: date, currency: str) -> None:
        self.first, self.last, self.today, self.currency = first, last, today, currency
        self.exact = money(currency, exact=True)

    def opens(self, days: int) -> str:
        due = self.first + timedelta(days)
        if due > self.today:
            return f"from {formatting.day(due)}"
        return f"by {formatting.day(self.last + timedelta(days))}"

    def check(self, found: dict[str, Section], heading: str, now: Rows) -> None:
        """State one section without a comparison, from the rows of its days."""
        names = ("value", "fieldId") if heading == ANSWERS else ("formName",)
        rows = sorted(now, key=lambda row: (row["customers"] < 30, -row["ltvCents"]))
        many = [row for row in rows if row["customers"] >= 30]
        texts = []
        if len(rows) > 50:
            texts.append(f"The first 50 of {len(rows)} rows; the CSV has all.")
        if len(many) < len(rows):
            texts.append(
                "Rows with fewer than 30 customers come last in an order by value: a single buyer can "
                "lift them."
            )
        if any(horizon["customers"] for row in now for horizon in row["horizons"]):
            # All, the best and the worst; the values of the points: test_horizons_in_every_state.
            ends = many if many else rows[:1]
            names_of = [row[names[0]] or row["formId"] for row in (ends[0], ends[-1])[: len(ends)]]
            values = [AGED] * 5 * (1 + len(names_of))
            texts += [
                *names_of,
                *("30", "60", "90", "180", "365 days") * (1 + len(names_of)),
                *values,
            ]
        elif rows:
            texts.append(
                "No customer of these days is 30 days old yet, so there is no value over time. It counts "
                f"{self.opens(30)}."
            )
        table = [self.row(row, names) for row in rows[:50]] or [EMPTY[heading]]
        found[heading].check(
            table, others=[text for text in texts if text == AGED or with_digit([text])]
        )

    def row(self, row: Data, names: tuple[str, ...]) -> Row:
        again = nothing("nobody bought")
        if row["purchasers"]:
            again = formatting.percent(row["repeatRate"])
        first, *later = (
            self.exact(horizon["ltvCents"])
            if horizon["customers"]
            else nothing(f"counts {self.opens(horizon['days'])}")
            for horizon in row["horizons"]
        )
        return [
            *(row[name] or row["formId"] for name in names),
            cell(formatting.count(row["customers"]), few(row["customers"])),
            formatting.count(row["purchasers"]),
            formatting.decimal(row["ordersPerCustomer"]),
            self.exact(row["ltvCents"]),
            cell(first, few(row["horizons"][0]["customers"] or 30)),
            *later,
            again,
        ]


def few(count: int) -> list[str]:
    return ["few"] if count < 30 else []


@pytest.mark.parametrize("days", ["30d", "90d"])
def test_a_random_shop(seen: Seen, days: str) -> None:
    currency, timezone = shop_of(seen, days)
    today = datetime.now(ZoneInfo(timezone)).date()
    first = today - timedelta(int(days[:-1]) - 1)
    expected = Expected(first, today, today, currency)
    with english(seen.browser.client):
        found = sections(seen.page("/customers", range=days, compare="none", numbers=OPEN))
        for heading, dimension in ((ANSWERS, "segment"), (FORMS, "form")):
            now = seen.api("/customers/ltv", range=days, dimension=dimension)["rows"]
            assert now
            expected.check(found, heading, now)


def page_of(browser: Browser, **query: str) -> str:
    answer = browser.signed_in().get("/customers", query_string=query, headers=HTML)
    assert answer.status_code == 200
    return answer.get_data(as_text=True)


def check_days(
    client: FlaskClient, browser: Browser, ask: Ask, range: str
) -> tuple[str, dict[str, Section]]:
    """A shop made by hand; today is 2026-03-31."""
    first, last = (date.fromisoformat(text) for text in range.split(".."))
    page = page_of(browser, range=range, compare="none", numbers=OPEN)
    found = sections(page)
    expected = Expected(first, last, date(2026, 3, 31), "USD")
    with english(client):
        for heading, dimension in ((ANSWERS, "segment"), (FORMS, "form")):
            now = ask("/v1/customers/ltv", range=range, dimension=dimension)["rows"]
            expected.check(found, heading, now)
    return page, found


def won(shop: ShopBuilder, on: str, form: str, customers: int, **figures: int) -> None:
    shop.daily("ltv_form", on, form=form, customers=customers, **figures)


def answered(shop: ShopBuilder, on: str, value: str, customers: int, **figures: int) -> None:
    shop.daily("ltv_segment", on, field="budget 1", value=value, customers=customers, **figures)


def test_horizons_in_every_state(
    client: FlaskClient, browser: Browser, ask: Ask, shop: ShopBuilder
) -> None:
    """Whole at 30 days, partial at 60, later ones open."""
    shop.form(FORM, name="Quiz")
    shop.form(SECOND, name="Late")
    money_of = {"orders": 60, "gross": 400_000, "refunded": 400, "purchasers": 40, "repeaters": 9}
    won(shop, "2026-01-05", FORM, 50, **money_of, net_30=90_000, net_60=120_000, net_90=121_000)
    won(
        shop,
        "2026-02-20",
        FORM,
        45,
        purchasers=3,
        orders=3,
        gross=9_000,
        net_30=9_000,
        net_60=9_000,
    )
    # Nobody is old enough for 60 days, though the first days of the range are.
    won(shop, "2026-02-27", SECOND, 31, purchasers=1, orders=1, gross=100, refunded=100, net_30=0)
    won(shop, "2025-11-10", FORM, 10, purchasers=1, orders=1, gross=500, net_30=500, net_60=500)
    page, found = check_days(client, browser, ask, "2026-01-01..2026-02-28")
    late = next(row for row in found[FORMS].tables[0] if row[0] == "Late")
    assert late[5:10] == [
        "$0.00",
        "— (counts by Apr 29, 2026)",
        "— (counts from Apr 1, 2026)",
        "— (counts from Jun 30, 2026)",
        "— (counts from Jan 1, 2027)",
    ]
    # The quiz: 50 customers are old enough for 60 days, 45 more for 30 alone. From 30 to 60 days the 50
    # brought 300.00 more. The API's own value, of other people at each age, can fall there.
    curves = [
        [
            float(text.removeprefix("$"))
            for text in re.findall('text-anchor="middle">([$][^<]*)</text>', curve)
        ]
        for curve in page.split('<svg class="curve"')[1:]
    ]
    assert curves == [[7.86, 13.86], [10.42, 16.42], [0.0]]
    assert 'class="hollow"' in page
    assert 'fill="url(#hatched)"' in page


def test_one_rich_buyer_is_not_the_best(
    client: FlaskClient, browser: Browser, ask: Ask, shop: ShopBuilder
) -> None:
    answered(shop, "2026-03-10", "rich", 1, purchasers=1, orders=1, gross=900_000)
    answered(shop, "2026-03-10", "29", 29, purchasers=29, orders=29, gross=900_000)
    answered(shop, "2026-03-10", "good", 30, purchasers=30, repeaters=15, orders=45, gross=90_000)
    answered(shop, "2026-03-10", "plain", 400, purchasers=1, orders=1, gross=5)
    _, found = check_days(client, browser, ask, "2026-03-02..2026-03-31")
    assert [row[0] for row in found[ANSWERS].tables[0]] == ["good", "plain", "rich", "29"]
    for sort, order in {
        "segment.ltv": ["plain", "good", "rich", "29"],
        "segment.-customers": ["plain", "good", "29", "rich"],
        "segment.again": ["good", "plain", "rich", "29"],
        "segment.value": ["29", "good", "plain", "rich"],
    }.items():
        table = sections(page_of(browser, sort=sort, range="30d"))[ANSWERS].tables[0]
        assert [row[0] for row in table] == order, sort


def test_recent_days_lead_to_older_ones(browser: Browser, shop: ShopBuilder) -> None:
    answered(shop, "2026-03-10", "one", 40, purchasers=1, orders=1, gross=900)
    page = page_of(browser, range="30d")
    assert "It counts from Apr 1, 2026." in page
    assert 'href="/customers?range=2025-12-02..2026-03-01"' in page
    assert "The newest customers who can be judged" not in page


def test_it_opens_on_customers_who_can_be_judged(browser: Browser, shop: ShopBuilder) -> None:
    """The 90 days that end 30 days ago; pages that nobody chose days for keep their own."""
    bought = {"purchasers": 20, "orders": 20, "gross": 9_000, "net_30": 9_000}
    answered(shop, "2025-12-02", "one", 40, **bought)
    answered(shop, "2026-03-02", "later", 40, **bought)
    answered(shop, "2025-12-01", "earlier", 40, **bought)
    page = page_of(browser)
    assert "those won in the 90 days that ended 30 days ago." in page
    section = sections(page)[ANSWERS]
    assert [row[0] for row in section.tables[0]] == ["one"]
    assert 'href="/forms?compare=previous"' in page
    overview = browser.get("/", headers=HTML).get_data(as_text=True)
    assert 'href="/customers?compare=previous"' in overview
    chosen = browser.get("/?range=7d", headers=HTML).get_data(as_text=True)
    assert 'href="/customers?range=7d&amp;compare=previous"' in chosen


def test_more_answers_than_the_page_has_rows(
    client: FlaskClient, browser: Browser, ask: Ask, shop: ShopBuilder
) -> None:
    for number in range(60):
        answered(
            shop,
            "2025-12-10",
            f"answer {number}",
            30 + number,
            purchasers=1,
            orders=1,
            gross=1_000 * number,
            net_30=1_000 * number,
            net_60=1_000,
            net_90=1_000,
        )
        won(shop, "2025-12-10", f"{number:08}-1111-4111-8111-111111111111", 40, purchasers=1)
    check_days(client, browser, ask, "2025-12-01..2025-12-31")
    assert len(page_of(browser, range="2025-12-01..2025-12-31")) < 150_000


def test_yen(client: FlaskClient, engine: Engine) -> None:
    shop = ShopBuilder(engine, "yen.example", currency="JPY")
    add_member(engine, shop, "yen@example.com")
    answered(shop, "2026-01-10", "one", 2, purchasers=1, orders=1, gross=2_469, net_30=2_469)
    headers = {"Authorization": f"Bearer {shop.mint()}"}
    query = {"range": "2026-01-01..2026-01-31", "dimension": "segment"}
    answer = client.get("/v1/customers/ltv", query_string=query, headers=headers).get_json()
    browser = Browser(client)
    browser.sign_in("yen@example.com")
    page = browser.get(
        f"/customers?range={query['range']}&compare=none&numbers={OPEN}", headers=HTML
    ).text
    expected = Expected(date(2026, 1, 1), date(2026, 1, 31), date(2026, 3, 31), "JPY")
    with english(client):
        expected.check(sections(page), ANSWERS, answer["data"]["rows"])
    assert "¥1,235" in page


def test_a_new_shop_says_from_when_on_its_customers_can_be_judged(
    browser: Browser, shop: ShopBuilder
) -> None:
    """Its data begin after the days that the page shows by itself."""
    shop.daily("all_forms", "2026-03-10", form=FORM, events=1)
    shop.daily("attribution", "2026-03-12", type="visitor", orders=1, gross=1)
    won(shop, "2026-03-20", FORM, 2, purchasers=1, orders=1, gross=14_290)
    page = page_of(browser)
    assert "the first can be judged from Apr 11, 2026." in page
    so_far = page_of(browser, range="2026-03-12..2026-03-30")
    assert 'href="/customers?range=2026-03-12..2026-03-30"' in page
    assert "can be judged from" not in so_far
    assert "$71.45" in so_far


def test_the_best_and_the_worst_stand_there_and_all_are_one_click_away(
    browser: Browser, shop: ShopBuilder
) -> None:
    for number in range(12):
        answered(shop, "2025-12-10", f"a{number}", 40, purchasers=9, orders=9, gross=100 * number)
    table = sections(page_of(browser, range="2025-12-01..2025-12-31"))[ANSWERS].tables[0]
    assert [row[0] for row in table] == [
        *("a11", "a10", "a9", "a8", "a7"),
        "2 more between these",
        *("a4", "a3", "a2", "a1", "a0"),
    ]
    every = page_of(browser, range="2025-12-01..2025-12-31", numbers="segment")
    assert len(sections(every)[ANSWERS].tables[0]) == 12


def test_nobody_was_won(browser: Browser, shop: ShopBuilder) -> None:
    found = sections(page_of(browser, range="30d"))
    for heading, row in EMPTY.items():
        found[heading].check([row])
