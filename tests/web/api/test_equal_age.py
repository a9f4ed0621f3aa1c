"""Answers at equal age: their parameters, and how they move at midnight. Now is 2026-03-31 12:00."""

import csv
from io import StringIO

import pytest
from flask.testing import FlaskClient
from sqlalchemy import Engine, update

from tests.support.clients import Client
from tests.support.endpoints import FORM, OTHER
from tests.support.fixtures import Clock
from tests.support.shop_builder import ShopBuilder, writing
from warehouse import tables
from warehouse.tables import edition
from web.app import close_app, create_app

FUNNEL = f"/v1/forms/{FORM}/funnel"
TIMES = f"/v1/forms/{FORM}/time-to-order"


@pytest.fixture
def one(client: FlaskClient, shop: ShopBuilder) -> Client:
    shop.form(FORM)
    shop.daily("funnel", "2026-03-28", form=FORM, views=4, submissions=2)
    for delay in (0, 3):
        cell = {"device": "mobile", "delay": delay, "converted": 1, "orders": 1, "gross": 100}
        shop.daily("outcome", "2026-03-28", form=FORM, **cell)
    return Client(client, shop.mint())


def test_days_to_buy_are_whole_and_in_the_attribution_window(
    one: Client, shop: ShopBuilder, engine: Engine
) -> None:
    for text in ("0", "000", "-1", "1.5", "x", "", "٣", "9" * 5_000):
        answer = one.get(f"{FUNNEL}?within={text}")
        error = answer.get_json()["error"]
        assert (answer.status_code, error["code"]) == (400, "invalid_within"), text
        assert len(error["message"]) < 200
    assert one.get(f"{FUNNEL}?within=1&within=1").status_code == 400
    assert one.get(f"{FUNNEL}?within=030").status_code == 200
    answer = one.get(f"{FUNNEL}?within=31")
    assert answer.get_json()["error"]["message"] == (
        "`within` is `31`. Give at most 30, the days of the attribution window."
    )
    # The window is the one with which the figures were made.
    with writing(engine) as connection:
        connection.execute(
            update(edition).where(edition.c.edition == shop.edition).values(window_days=5)
        )
    assert one.get(f"{FUNNEL}?within=6").status_code == 400
    assert len(one.get(TIMES).get_json()["data"]) == 6


def test_before_the_first_rollup_the_window_is_the_setting(
    client: FlaskClient, shop: ShopBuilder
) -> None:
    shop.form(OTHER)
    fresh = Client(client, shop.mint())
    assert fresh.get(f"/v1/forms/{OTHER}/funnel?within=31").status_code == 400
    assert len(fresh.get(f"/v1/forms/{OTHER}/time-to-order").get_json()["data"]) == 31


@pytest.mark.parametrize("path", [f"/v1/forms/{FORM}/trends", "/v1/revenue/by-form"])
def test_a_clock_is_one_of_two(one: Client, path: str) -> None:
    for query in ("clock=sun", "clock=", "clock=order&clock=order", "clock=ORDER"):
        answer = one.get(f"{path}?{query}")
        code = answer.get_json()["error"]["code"]
        assert (answer.status_code, code) == (400, "invalid_clock"), query
    assert {one.get(f"{path}?clock={clock}").status_code for clock in ("order", "submission")} == {
        200
    }


def test_answers_at_equal_age_move_at_midnight(one: Client, clock: Clock) -> None:
    days = "range=2026-03-28..2026-03-28"
    paths = [f"{FUNNEL}?{days}&within=3", f"{TIMES}?{days}"]
    before = [one.tag(path) for path in paths]
    assert one.get(paths[0]).get_json()["data"]["submissions"] == 0
    assert one.get(paths[1]).get_json()["data"][2]["submissions"] == 0
    assert all(one.has(path, tag) for path, tag in zip(paths, before, strict=True))
    still = one.tag(f"{FUNNEL}?{days}")
    clock.set("2026-04-01T00:00:00")
    assert not any(one.has(path, tag) for path, tag in zip(paths, before, strict=True))
    data = one.get(paths[0]).get_json()["data"]
    assert (data["submissions"], data["orders"], data["grossRevenueCents"]) == (2, 1, 100)
    assert one.get(paths[1]).get_json()["data"][2]["submissions"] == 2
    assert one.has(f"{FUNNEL}?{days}", still)
    # From here on, the submissions of the window are as old as `within` asks, but not as the last row does.
    of_days, of_times = map(one.tag, paths)
    clock.set("2026-04-02T00:00:00")
    assert one.has(paths[0], of_days)
    assert not one.has(paths[1], of_times)


def test_csv_has_the_same_columns(one: Client, shop: ShopBuilder) -> None:
    shop.daily("form_orders", "2026-03-29", form=FORM, submitted=20_000, orders=2, gross=50)
    shop.daily("attribution", "2026-03-29", type="unattributed", orders=1, gross=7)

    def table(path: str) -> list[dict[str, str]]:
        return [*csv.DictReader(StringIO(one.get(f"{path}&format=csv").get_data(as_text=True)))]

    first, last = table("/v1/revenue/by-form?clock=order")
    assert list(first)[-2:] == [
        "fromEarlierSubmissions.orders",
        "fromEarlierSubmissions.netRevenueCents",
    ]
    assert [*first.values()][-2:] == ["2", "50"]
    assert (last["formId"], last["orders"]) == ("", "1")
    (submitted,) = table("/v1/revenue/by-form?clock=submission")
    assert [*submitted.values()][-2:] == ["", ""]
    assert table(f"{TIMES}?range=7d")[0]["convertedSubmissions"] == "1"
    answer = one.get(f"{FUNNEL}?within=1&format=csv")
    assert answer.headers["X-Mature-Through"] == "2026-03-29"
    assert "X-Mature-Through" not in one.get(f"{FUNNEL}?format=csv").headers


def test_before_the_first_rollup_the_setting_says_how_many_days_there_are(
    shop: ShopBuilder, warehouse_url: str, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also to a client that has the answer of the setting before."""
    shop.form(FORM)
    with writing(shop.engine) as connection:
        connection.execute(update(tables.shop).values(edition=0))
    headers = {"Authorization": f"Bearer {shop.mint()}"}
    for days in (30, 7):
        monkeypatch.setenv("ATTRIBUTION_WINDOW_DAYS", str(days))
        app = create_app(warehouse_url, clock)
        answer = app.test_client().get(TIMES, headers=headers)
        close_app(app)
        assert len(answer.get_json()["data"]) == days + 1
        headers["If-None-Match"] = answer.headers["ETag"]
