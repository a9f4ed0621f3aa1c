"""Every number of `/customers` is the API's; intervals are Wilson's, whose own tests are elsewhere."""

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
from tests.web.dashboard.page_text import Row, Section, sections
from tests.web.dashboard.written import (
    cell,
    english,
    money,
    nothing,
    shop_of,
    with_digit,
)
from warehouse.domain.rounding import percent
from web.dashboard import formatting, statistics

Data = dict[str, Any]
Rows = list[Data]
HTML = {"Accept": "text/html"}
FORM = "11111111-1111-4111-8111-111111111111"
SECOND = "22222222-2222-4222-8222-222222222222"
ANSWERS, FORMS = "Which answer wins the best customers", "By form"
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
        names = ("fieldId", "value") if heading == ANSWERS else ("formName",)
        rows = sorted(now, key=lambda row: (row["customers"] < 30, -row["ltvCents"]))
        many = [row for row in rows if row["customers"] >= 30]
        tables = [[self.row(row, names) for row in rows[:50]] or [EMPTY[heading]]]
        texts = []
        if heading == ANSWERS and many and many[0]["ltvCents"]:
            best = many[0]
            texts += [
                best["value"],
                best["fieldId"],
                self.exact(best["ltvCents"]),
                f"a customer so far. Of {formatting.count(best['customers'])} customers "
                f"{formatting.count(best['purchasers'])} bought, "
                f"{formatting.percent(share(best))}",
                formatting.interval(statistics.of_rate(best["purchasers"], best["customers"])),
            ]
        elif heading == ANSWERS and rows:
            texts.append("No answer has won 30 customers who bought: the order says little yet.")
        if len(rows) > 50:
            texts.append(f"The first 50 of {len(rows)} rows; the CSV has all.")
        if len(many) < len(rows):
            texts.append(
                "Rows with fewer than 30 customers come last in an order by value: a single buyer can "
                "lift them."
            )
        drawn = (many or rows)[:6]
        if any(horizon["customers"] for row in drawn for horizon in row["horizons"]):
            tables.append([self.horizon_row(row, names) for row in drawn])
            texts.append(
                "Net revenue per customer in the first 30, 60, 90, 180, 365 days. A hollow point counts "
                "only the customers who are old enough; a hatched one counts nobody yet."
            )
            texts += [text for row in drawn for text in self.curve_texts(row, names)]
        elif rows:
            texts.append(
                "No customer of these days is 30 days old yet, so there is no value over time. It counts "
                f"{self.opens(30)}."
            )
        found[heading].check(*tables, others=with_digit(texts))

    def row(self, row: Data, names: tuple[str, ...]) -> Row:
        short = row["horizons"][0]
        first = nothing(f"counts {self.opens(30)}")
        if short["customers"]:
            first = cell(self.exact(short["ltvCents"]), few(short["customers"]))
        again = nothing("nobody bought")
        if row["purchasers"]:
            repeaters = round(row["repeatRate"] * row["purchasers"] / 100)
            again = cell(
                formatting.percent(row["repeatRate"]),
                formatting.interval(statistics.of_rate(repeaters, row["purchasers"])),
                few(row["purchasers"]),
            )
        return [
            *(row[name] or row["formId"] for name in names),
            cell(formatting.count(row["customers"]), few(row["customers"])),
            formatting.count(row["purchasers"]),
            formatting.decimal(row["ordersPerCustomer"]),
            self.exact(row["ltvCents"]),
            first,
            again,
        ]

    def horizon_row(self, row: Data, names: tuple[str, ...]) -> Row:
        return [
            *(row[name] or row["formId"] for name in names),
            *(
                cell(
                    self.exact(horizon["ltvCents"]),
                    few(horizon["customers"]),
                    f"{formatting.count(horizon['customers'])} of {formatting.count(row['customers'])}",
                )
                if horizon["customers"]
                else nothing(f"counts {self.opens(horizon['days'])}")
                for horizon in row["horizons"]
            ),
        ]

    def curve_texts(self, row: Data, names: tuple[str, ...]) -> list[str]:
        """The names, the values above the points, the hatched dates, and the days below."""
        return [
            *(row[name] or row["formId"] for name in names),
            *(
                money(self.currency)(horizon["ltvCents"])
                if horizon["customers"]
                else self.opens(horizon["days"])
                for horizon in row["horizons"]
            ),
            *("30", "60", "90", "180", "365 days"),
        ]


def share(row: Data) -> float:
    """Of its customers, those who bought."""
    return float(percent(row["purchasers"], row["customers"]))


def few(count: int) -> list[str]:
    return ["few"] if count < 30 else []


READING = (
    "A customer of two forms, or with two answers, is in both rows: the rows do not add up to the shop. "
    "Value to date and buying again grow with time. They are not compared with earlier customers, who had "
    "longer to buy; the number of customers and their value in 30 days are.",
    "Below a rate stands its interval of 95 %. Money has none: a few large orders can move it.",
)


@pytest.mark.parametrize("days", ["30d", "90d"])
def test_a_random_shop(seen: Seen, days: str) -> None:
    currency, timezone = shop_of(seen, days)
    today = datetime.now(ZoneInfo(timezone)).date()
    first = today - timedelta(int(days[:-1]) - 1)
    expected = Expected(first, today, today, currency)
    with english(seen.browser.client):
        found = sections(seen.page("/customers", range=days, compare="none"))
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
    page = page_of(browser, range=range, compare="none")
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
    late = found[FORMS].tables[1][1]
    assert late[:3] == ["Late", "$0.00 31 of 31", "— (counts by Apr 29, 2026)"]
    assert late[3:] == [
        "— (counts from Apr 1, 2026)",
        "— (counts from Jun 30, 2026)",
        "— (counts from Jan 1, 2027)",
    ]
    # The point of 60 days counts some customers only.
    assert page.count('class="hollow"') == 1
    assert page.count('fill="url(#hatched)"') == 3 + 4


def test_one_rich_buyer_is_not_the_headline(
    client: FlaskClient, browser: Browser, ask: Ask, shop: ShopBuilder
) -> None:
    answered(shop, "2026-03-10", "rich", 1, purchasers=1, orders=1, gross=900_000)
    answered(shop, "2026-03-10", "29", 29, purchasers=29, orders=29, gross=900_000)
    answered(shop, "2026-03-10", "good", 30, purchasers=30, repeaters=15, orders=45, gross=90_000)
    answered(shop, "2026-03-10", "plain", 400, purchasers=1, orders=1, gross=5)
    page, found = check_days(client, browser, ask, "2026-03-02..2026-03-31")
    assert [row[1] for row in found[ANSWERS].tables[0]] == ["good", "plain", "rich", "29"]
    assert "“<bdi>good</bdi>”" in page
    assert "Of 30 customers 30 bought, 100%" in page
    for sort, order in {
        "segment.ltv": ["plain", "good", "rich", "29"],
        "segment.-customers": ["plain", "good", "29", "rich"],
        "segment.again": ["good", "plain", "rich", "29"],
        "segment.value": ["29", "good", "plain", "rich"],
    }.items():
        table = sections(page_of(browser, sort=sort, range="30d"))[ANSWERS].tables[0]
        assert [row[1] for row in table] == order, sort


def test_few_customers_make_no_headline(
    client: FlaskClient, browser: Browser, ask: Ask, shop: ShopBuilder
) -> None:
    answered(shop, "2026-03-10", "one", 1, purchasers=1, orders=1, gross=900_000)
    page, _ = check_days(client, browser, ask, "2026-03-02..2026-03-31")
    assert "the order says little yet" in page


def test_recent_days_lead_to_older_ones(browser: Browser, shop: ShopBuilder) -> None:
    answered(shop, "2026-03-10", "one", 40, purchasers=1, orders=1, gross=900)
    page = page_of(browser, range="30d")
    assert "It counts from Apr 1, 2026." in page
    assert 'href="/customers?range=2025-12-02..2026-03-01"' in page
    assert "the newest customers who can be judged" not in page


def test_it_opens_on_customers_who_can_be_judged(browser: Browser, shop: ShopBuilder) -> None:
    """The 90 days that end 30 days ago; pages that nobody chose days for keep their own."""
    bought = {"purchasers": 20, "orders": 20, "gross": 9_000, "net_30": 9_000}
    answered(shop, "2025-12-02", "one", 40, **bought)
    answered(shop, "2026-03-02", "later", 40, **bought)
    answered(shop, "2025-12-01", "earlier", 40, **bought)
    page = page_of(browser)
    assert "those won in the 90 days that ended 30 days ago." in page
    section = sections(page)[ANSWERS]
    assert [row[1] for row in section.tables[0]] == ["one"]
    # Twenty buyers say little.
    headline = page.partition('<p class="headline">')[2].partition("</p>")[0]
    assert "Of 40 customers 20 bought, 50%" in headline
    assert '<span class="reach">35.2% to 64.8%</span> <span class="few">few</span>' in headline
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
    page, _ = check_days(client, browser, ask, "2025-12-01..2025-12-31")
    assert len(page) < 150_000


def test_yen(client: FlaskClient, engine: Engine) -> None:
    shop = ShopBuilder(engine, "yen.example", currency="JPY")
    add_member(engine, shop, "yen@example.com")
    answered(shop, "2026-01-10", "one", 2, purchasers=1, orders=1, gross=2_469, net_30=2_469)
    headers = {"Authorization": f"Bearer {shop.mint()}"}
    query = {"range": "2026-01-01..2026-01-31", "dimension": "segment"}
    answer = client.get("/v1/customers/ltv", query_string=query, headers=headers).get_json()
    browser = Browser(client)
    browser.sign_in("yen@example.com")
    page = browser.get(f"/customers?range={query['range']}&compare=none", headers=HTML).text
    expected = Expected(date(2026, 1, 1), date(2026, 1, 31), date(2026, 3, 31), "JPY")
    with english(client):
        expected.check(sections(page), ANSWERS, answer["data"]["rows"])
    assert "¥1,235" in page


def test_nobody_was_won(browser: Browser, shop: ShopBuilder) -> None:
    found = sections(page_of(browser))
    for heading, row in EMPTY.items():
        found[heading].check([row])
    found["How to read this"].check(others=READING)
