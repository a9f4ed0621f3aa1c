"""`/shops`: each figure is the API's, of the same days of each shop, and no shop of others is there."""

import re
from typing import Any

import pytest
from flask.testing import FlaskClient
from sqlalchemy import Engine, event, update

from tests.support.people import Browser, add_member
from tests.support.shop_builder import ShopBuilder, writing
from tests.web.dashboard.page_figures import Figure, figures
from tests.web.dashboard.page_text import sections
from warehouse.tables import member
from web.dashboard import shops as shops_page

HTML = {"Accept": "text/html"}
FORMS = [f"{digit * 8}-1111-4111-8111-111111111111" for digit in "123"]
OTHER = "other.example"


@pytest.fixture
def shops(engine: Engine, shop: ShopBuilder) -> list[ShopBuilder]:
    """Three shops of Ada's, whose days begin at other hours, one of them without figures; and one of Bea's.
    Now is noon of 2026-03-31 (UTC)."""
    first = shop
    far = ShopBuilder(engine, "far.example", currency="JPY", timezone="Pacific/Kiritimati")
    new = ShopBuilder(engine, "new.example", rolled_up=False)
    other = ShopBuilder(engine, OTHER)
    for each in (first, far, new):
        add_member(engine, each)
    add_member(engine, other, "bea@example.com")
    for number, each in enumerate((first, far, other), 1):
        for place, form_id in enumerate(FORMS[:2]):
            each.form(form_id, name="A form")
            for day in range(1, 29):
                on = f"2026-03-{day:02}"
                many = 40 * number + day + place
                each.daily("funnel", on, form=form_id, views=3 * many, submissions=many)
                bought = {"form": form_id, "device": "mobile", "gross": 900}
                each.daily("outcome", on, **bought, converted=9, orders=9)
                each.daily("outcome", on, **bought, delay=12, converted=day, orders=day)
                each.daily("all_forms", on, cells=[(form_id, many)])
        for day in range(1, 29):
            on = f"2026-03-{day:02}"
            each.daily(
                "attribution",
                on,
                type="discount_code",
                orders=9,
                gross=9_000 * number + day,
                refunded=50,
            )
            each.daily("attribution", on, type="unattributed", orders=2, gross=100, refunded=0)
    return [first, far, new]


@pytest.fixture
def ada(client: FlaskClient, shops: list[ShopBuilder]) -> Browser:
    return Browser(client).signed_in()


def page_of(browser: Browser, **query: str) -> str:
    answer = browser.get("/shops", query_string=query, headers=HTML)
    assert answer.status_code == 200
    return answer.get_data(as_text=True)


def api(client: FlaskClient, shop: ShopBuilder, path: str, **query: str) -> Any:
    headers = {"Authorization": f"Bearer {shop.mint()}"}
    answer = client.get(f"/v1{path}", query_string=query, headers=headers)
    assert answer.status_code == 200, answer.get_data(as_text=True)
    return answer.get_json()["data"]


def value(client: FlaskClient, shop: ShopBuilder, name: str, days: str, within: int | None) -> Any:
    """A figure of a shop as the API has it: the sum of its parts."""
    if name == "netRevenueCents":
        return sum(row[name] for row in api(client, shop, "/attribution", range=days))
    asked = {"within": f"{within}"} if within else {}
    forms = [api(client, shop, f"/forms/{id}/funnel", range=days, **asked) for id in FORMS[:2]]
    submissions, bought = (
        sum(form[each] for form in forms) for each in ("submissions", "convertedSubmissions")
    )
    return submissions if name == "submissions" else round(100 * bought / submissions, 2)


def by_shop(page: str) -> dict[str, list[Figure]]:
    rows: dict[str, list[Figure]] = {}
    for figure in figures(page):
        rows.setdefault(figure.row["row"], []).append(figure)
    return rows


# Those of the page end yesterday, where each shop is: in the second, it is tomorrow.
_LAST_30_DAYS = ("2026-03-01..2026-03-30", "2026-03-02..2026-03-31")


@pytest.mark.parametrize(
    "query",
    [{"range": "7d"}, {"range": "2026-03-15..2026-03-24", "within": "3"}, {"compare": "none"}],
)
def test_every_figure_is_that_of_the_api(
    client: FlaskClient, ada: Browser, shops: list[ShopBuilder], query: dict[str, str]
) -> None:
    rows = by_shop(page_of(ada, **query))
    assert set(rows) == {shop.shop_id for shop in shops}
    compared = set()
    for shop, last_30_days in zip(shops[:2], _LAST_30_DAYS, strict=True):
        seen: set[str] = set()
        for figure in rows[shop.shop_id]:
            name = figure.name
            days = figure.days or query.get("range", last_30_days)
            # At equal age, else of the days that the page shows, to date.
            assert figure.now == value(
                client, shop, name, days, figure.within if figure.days else None
            )
            seen.add(name)
            if figure.before is not None:
                compared.add(name)
                then = value(client, shop, name, figure.days_before, figure.within)
                assert figure.before == then
                assert bool(figure.within) == (name == "conversionRate")
        assert seen == {"netRevenueCents", "submissions", "conversionRate"}
    wanted = {"netRevenueCents", "submissions", "conversionRate"}
    assert compared == (set() if query.get("compare") == "none" else wanted)


def test_a_shop_says_when_its_last_event_came_and_what_needs_somebody(
    client: FlaskClient, engine: Engine, ada: Browser, shops: list[ShopBuilder]
) -> None:
    with writing(engine) as connection:
        connection.exec_driver_sql("UPDATE edition SET verified_at = 1, differing_rows = 3")
        connection.exec_driver_sql(
            "UPDATE membership SET permissions = '' WHERE shop_key = "
            "(SELECT shop_key FROM shop WHERE shop_id = 'far.example')"
        )
    [table] = sections(page_of(ada, sort="shops.shop"))["Your shops"].tables
    assert [(row[0], *row[-2:]) for row in table] == [
        ("example.myshopify.com", "Mar 28, 2026", "Some figures differ from the imported rows."),
        ("far.example", "Mar 28, 2026", "Some data may be missing."),
        ("new.example", "never sent", "nothing"),
    ]


def test_a_row_leads_into_its_shop_over_the_same_days(ada: Browser) -> None:
    page = page_of(ada, range="7d")
    assert OTHER not in page
    into = ada.post("/settings/shop", "/shops?range=7d", shop="far.example", next="/?range=7d")
    assert into.location == "/?range=7d"
    assert "<option selected>far.example" in page_of(ada)
    assert 'href="/shops?' in page


def test_members_of_one_shop_have_no_link_to_it(client: FlaskClient, ada: Browser) -> None:
    bea = Browser(client).signed_in("bea@example.com")
    assert 'href="/shops' not in bea.get("/", headers=HTML).get_data(as_text=True)
    assert set(by_shop(page_of(bea))) == {OTHER}


def test_an_operator_sees_all_shops_and_enters_their_own(
    client: FlaskClient, engine: Engine, ada: Browser, shops: list[ShopBuilder], monkeypatch: Any
) -> None:
    """The figures of others are those of the API, too; no form leads into their shops."""
    with writing(engine) as connection:
        connection.execute(update(member).where(member.c.email.like("bea%")).values(adds_shops=1))
        connection.exec_driver_sql("UPDATE edition SET verified_at = 1, differing_rows = 3")
    bea = Browser(client).signed_in("bea@example.com")
    assert 'href="/shops' in bea.get("/", headers=HTML).get_data(as_text=True)
    page = page_of(bea, sort="shops.shop")
    rows = by_shop(page)
    assert set(rows) == {OTHER, *(shop.shop_id for shop in shops)}
    net = next(each for each in rows["far.example"] if each.name == "netRevenueCents")
    days = net.days or "2026-03-02..2026-03-31"
    assert net.now == value(client, shops[1], "netRevenueCents", days, None)
    assert re.findall(r'name="shop" value="([^"]+)"', page) == [OTHER]
    assert "Some data may be missing." not in page
    assert "Some figures differ from the imported rows." in page
    entered = bea.post("/settings/shop", "/shops", shop="far.example", next="/")
    assert entered.status_code == 404
    assert "As an operator" not in page_of(ada)
    monkeypatch.setattr(shops_page, "_MOST", 2)
    assert set(by_shop(page_of(bea))) == {OTHER, "example.myshopify.com"}
    assert "These are 2 shops" in page_of(bea)


def test_daily_rows_are_read_once_for_all_shops(ada: Browser) -> None:
    """Those of the figures, and the first and last days of events and orders."""
    sent: list[str] = []

    def note(_connection: Any, _cursor: Any, statement: str, *_others: Any) -> None:
        sent.append(statement)

    event.listen(Engine, "before_cursor_execute", note)
    try:
        page_of(ada)
    finally:
        event.remove(Engine, "before_cursor_execute", note)
    read = [statement for statement in sent if "FROM daily_" in statement]
    assert len([statement for statement in read if "edition IN" in statement]) == 5
    # The others are those of the frame, and of what needs a look in all shops.
    assert len(read) <= 13
