"""`meta.range`, and what `meta` has besides, in the shop's timezone."""

from flask.testing import FlaskClient
from sqlalchemy import Engine

from tests.support.fixtures import Clock
from tests.support.shop_builder import ShopBuilder


def meta_of(client: FlaskClient, shop: ShopBuilder, path: str) -> dict:
    answer = client.get(path, headers={"Authorization": f"Bearer {shop.mint()}"})
    assert answer.status_code == 200, answer.get_data(as_text=True)
    assert answer.headers["X-Request-Id"] == answer.get_json()["meta"]["requestId"]
    return answer.get_json()["meta"]


RANGES = (
    ("UTC", "7d", "2026-03-25T00:00:00.000Z", "2026-03-31T23:59:59.999Z"),
    ("UTC", "30d", "2026-03-02T00:00:00.000Z", "2026-03-31T23:59:59.999Z"),
    ("UTC", "90d", "2026-01-01T00:00:00.000Z", "2026-03-31T23:59:59.999Z"),
    ("UTC", "2024-02-29", "2024-02-29T00:00:00.000Z", "2024-02-29T23:59:59.999Z"),
    ("UTC", "2010-01-01..2020-01-08", "2010-01-01T00:00:00.000Z", "2020-01-08T23:59:59.999Z"),
    # 23 hours, 25 hours.
    ("America/New_York", "2026-03-08", "2026-03-08T05:00:00.000Z", "2026-03-09T03:59:59.999Z"),
    ("America/New_York", "2026-11-01", "2026-11-01T04:00:00.000Z", "2026-11-02T04:59:59.999Z"),
    (
        "America/New_York",
        "2026-03-01..2026-11-30",
        "2026-03-01T05:00:00.000Z",
        "2026-12-01T04:59:59.999Z",
    ),
    ("Asia/Kolkata", "7d", "2026-03-24T18:30:00.000Z", "2026-03-31T18:29:59.999Z"),
    ("UTC", "9999-12-31", "9999-12-31T00:00:00.000Z", "9999-12-31T23:59:59.999Z"),
    ("America/New_York", "9999-12-31", "9999-12-31T05:00:00.000Z", "9999-12-31T23:59:59.999Z"),
    ("Asia/Kolkata", "0001-01-01", "0001-01-01T00:00:00.000Z", "0001-01-01T18:06:31.999Z"),
)


def test_range(client: FlaskClient, engine: Engine) -> None:
    shops: dict[str, ShopBuilder] = {}
    for timezone, text, start, end in RANGES:
        if timezone not in shops:
            shops[timezone] = ShopBuilder(engine, f"{timezone}.example", timezone=timezone)
        meta = meta_of(client, shops[timezone], f"/v1/attribution?range={text}")
        assert meta["range"] == {"from": start, "to": end}, text
        assert meta["timezone"] == timezone


def test_today_is_the_shops(client: FlaskClient, engine: Engine, clock: Clock) -> None:
    shop = ShopBuilder(engine, timezone="Asia/Kolkata")
    for now, start in (
        ("2026-03-31T18:29:59", "2026-03-24T18:30:00.000Z"),
        ("2026-03-31T18:30:00", "2026-03-25T18:30:00.000Z"),
    ):
        clock.set(now)
        assert meta_of(client, shop, "/v1/attribution?range=7d")["range"]["from"] == start


def test_default_range_and_endpoints_without_one(client: FlaskClient, shop: ShopBuilder) -> None:
    last_30_days = {"from": "2026-03-02T00:00:00.000Z", "to": "2026-03-31T23:59:59.999Z"}
    for path in ("/v1/attribution", "/v1/forms"):
        assert meta_of(client, shop, path)["range"] == last_30_days


def test_before_the_first_rollup_all_is_zero(client: FlaskClient, engine: Engine) -> None:
    shop = ShopBuilder(engine, timezone="Asia/Kolkata", rolled_up=False)
    form_id = shop.form("11111111-1111-4111-8111-111111111111")
    shop.daily("funnel", "2026-03-20", form=form_id, views=1)
    meta = meta_of(client, shop, f"/v1/forms/{form_id}/funnel?range=2026-03-20")
    assert meta["range"]["from"] == "2026-03-19T18:30:00.000Z"
    headers = {"Authorization": f"Bearer {shop.mint()}"}
    for path in ("steps/dropoff", "time-to-complete", "devices", "response-revenue"):
        answer = client.get(f"/v1/forms/{form_id}/{path}", headers=headers)
        assert answer.get_json()["data"] == []
    funnel = client.get(f"/v1/forms/{form_id}/funnel", headers=headers).get_json()["data"]
    assert funnel["views"] == 0
    ads = client.get("/v1/ads/spend", headers=headers).get_json()["data"]
    assert ads == {"rows": [], "attributionCoverage": {}, "unavailableProviders": []}
