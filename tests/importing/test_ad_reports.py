"""Reports of ad platforms: what of the samples is stored, exactly, and what is refused."""

import json
import zipfile
from pathlib import Path
from typing import Any

import pytest

from tests.importing.conftest import Warehouse

SAMPLES = Path(__file__).parent / "samples"
SHOP = "a.example"
STORED = (
    "SELECT provider, account_id, campaign_id, campaign_name, day, segment, currency, spend, "
    "impressions, clicks FROM ad_spend "
    "ORDER BY shop_key, provider, account_id, campaign_id, day, segment"
)
# 2026-01-02.
DAY = 20455

META = ("meta", "1029384756")
SPRING = (*META, "120210000000010", "Spring | Prospecting", DAY)
CART = (*META, "120210000000020", "Spring | Retargeting", DAY)
ALWAYS = (*META, "120210000000030", "Always on", DAY)
AN_AD = "adset=120210000000021/ad=120210000000022"
GOOGLE = ("google", "1234567890")
BRAND = (*GOOGLE, "21000000001", "Brand | DE")
PMAX = (*GOOGLE, "21000000003", "Performance Max, DE")
TIKTOK = ("tiktok", "6900000000000000001")
AUDIENCE = (*TIKTOK, "1700000000000004", "Audience", DAY)

ROWS = {
    "meta.json": [
        (*SPRING, "", "USD", "12.34", 1503, 37),
        (
            *CART,
            f"{AN_AD}/impression_device=desktop/publisher_platform=facebook",
            "USD",
            "1000000.1",
            2048,
            5,
        ),
        (
            *CART,
            f"{AN_AD}/impression_device=iphone/publisher_platform=instagram",
            "USD",
            "0.07",
            12,
            0,
        ),
        *(
            (*ALWAYS, segment, "USD", "1", 10, 1)
            for segment in (
                "age=25-34/gender=female",
                "country=DE/user_segment_key=new",
                "device_platform=mobile_app",
                "dma=New York, NY",
                "hourly_stats_aggregated_by_advertiser_time_zone=13:00:00 - 13:59:59",
                "hourly_stats_aggregated_by_audience_time_zone=09:00:00 - 09:59:59",
                "platform_position=feed/publisher_platform=facebook",
                "product_id=77, Serum 30 ml",
                "region=Bavaria",
            )
        ),
    ],
    "google_ads.json": [
        (*BRAND, DAY, "device=DESKTOP", "EUR", "0.070001", 12, 0),
        (*BRAND, DAY, "device=MOBILE", "EUR", "12.34", 1503, 37),
        (*BRAND, DAY + 1, "adgroup=151000000002/criterion=10002", "EUR", "0.5", 4, 1),
        (
            *GOOGLE,
            "21000000002",
            "Shopping | DE",
            DAY,
            "adgroup=151000000001/ad=700000000001/adNetworkType=SEARCH",
            "EUR",
            "0.000001",
            90,
            3,
        ),
        (*PMAX, DAY + 1, "assetgroup=6400000001", "EUR", "1.99", 55, 2),
    ],
    "google_ads.csv": [
        (*BRAND, DAY, "adNetworkType=SEARCH/device=MOBILE", "EUR", "12.34", 1503, 37),
        (*PMAX, DAY, "adNetworkType=MIXED/device=CONNECTED_TV", "EUR", "-2.5", 0, 0),
    ],
    "tiktok.ndjson": [
        (*TIKTOK, "1700000000000001", "Spring", DAY, "", "USD", "12.34", 1503, 37),
        (
            *TIKTOK,
            "1700000000000002",
            "Spring video",
            DAY,
            "adgroup=1700000000000021/ad=1700000000000022",
            "USD",
            "0",
            3,
            0,
        ),
        *(
            (*AUDIENCE, segment, "USD", "1", impressions, 1)
            for segment, impressions in (
                ("ac=WIFI/language=de", 12),
                ("age=AGE_25_34/gender=FEMALE", 10),
                ("contextual_tag=1001/interest_category=15", 14),
                ("device_brand_id=200001", 15),
                ("dma_id=501/province_id=2921044", 11),
                ("placement=TikTok/platform=ANDROID", 13),
            )
        ),
        (
            "tiktok",
            "6900000000000000002",
            "1700000000000003",
            "Canada",
            DAY,
            "country_code=CA",
            "CAD",
            "100000.5",
            9,
            1,
        ),
    ],
    "spend.csv": [
        ("meta", "77", "c-1", "Spring", DAY, "", "USD", "12.34", 1503, 37),
        (
            "pinterest",
            "",
            "Pins & more",
            "Pins & more",
            DAY,
            "adset=s-1/ad=a-1/device=mobile/network=own/placement=feed/country=DE",
            "EUR",
            "0.1",
            12,
            0,
        ),
        ("snapchat", "78", "l-9", "Lens", DAY, "", "EUR", "7", 3, 1),
    ],
    "tiktok.csv": [
        (*TIKTOK, "1700000000000001", "Spring", DAY, "", "USD", "12.34", 1503, 37),
        (
            *TIKTOK,
            "1700000000000002",
            "Spring, video",
            DAY,
            "adgroup=1700000000000021/ad=1700000000000022",
            "USD",
            "0",
            3,
            0,
        ),
    ],
}
ROWS["meta.csv"] = ROWS["meta.json"][:3]


def stored(warehouse: Warehouse) -> list[tuple[Any, ...]]:
    return [tuple(row.values()) for row in warehouse.rows(STORED)]


def take(warehouse: Warehouse, rows: Any, name: str = "in.json") -> dict[str, int]:
    path = warehouse.folder / name
    path.write_text(rows if isinstance(rows, str) else json.dumps(rows))
    return warehouse.take_file("ad-spend", path, SHOP)


def test_what_is_stored(warehouse: Warehouse) -> None:
    for name, rows in ROWS.items():
        warehouse.change("DELETE FROM ad_spend")
        assert warehouse.take_file("ad-spend", SAMPLES / name, SHOP)["new"] == len(rows), name
        assert stored(warehouse) == rows
        counts = warehouse.take_file("ad-spend", SAMPLES / name, SHOP)
        assert (counts["duplicate"], counts["rejected"]) == (len(rows), 0)


def sample(name: str) -> Any:
    return json.loads((SAMPLES / name).read_text())


META_ROW = {**sample("meta.json")["data"][0]}
GOOGLE_ROW = {**sample("google_ads.json")[0]["results"][0]}
TIKTOK_ROW = {
    "dimensions": {"campaign_id": "1", "stat_time_day": "2026-01-02 00:00:00"},
    "metrics": {
        "campaign_name": "S",
        "spend": "1",
        "impressions": "2",
        "clicks": "1",
        "currency": "USD",
    },
}


def without(row: dict[str, Any], *path: str) -> dict[str, Any]:
    first, *rest = path
    if rest:
        return row | {first: without(row[first], *rest)}
    return {name: value for name, value in row.items() if name != first}


BROKEN: list[list[tuple[dict[str, Any], str]]] = [
    [
        (META_ROW, ""),
        (
            META_ROW | {"date_stop": "2026-01-31"},
            "date_stop: not date_start (2026-01-02): a row has to be of one day",
        ),
        (META_ROW | {"spend": "12,34"}, "spend: not a number"),
        (without(META_ROW, "account_currency"), "currency: missing"),
        (without(META_ROW, "campaign_name"), "campaign_name: missing"),
        (META_ROW | {"impressions": "1.5"}, "impressions: not a whole number"),
        (META_ROW | {"age": ["25-34"]}, "age: not a text"),
    ],
    [
        (GOOGLE_ROW, ""),
        (without(GOOGLE_ROW, "segments", "date"), "date: missing"),
        (without(GOOGLE_ROW, "metrics", "costMicros"), "spend: missing"),
        (without(GOOGLE_ROW, "customer", "currencyCode"), "currency: missing"),
        (GOOGLE_ROW | {"metrics": {"costMicros": "1e"}}, "metrics.costMicros: not a number"),
    ],
    [
        (TIKTOK_ROW, ""),
        (
            TIKTOK_ROW | {"dimensions": {"campaign_id": "1", "stat_time_day": "2026-01-02 13:00"}},
            "date: not a date (YYYY-MM-DD)",
        ),
        (without(TIKTOK_ROW, "metrics", "currency"), "currency: missing"),
        (without(TIKTOK_ROW, "dimensions", "campaign_id"), "campaign_id: missing"),
        (
            TIKTOK_ROW | {"metrics": TIKTOK_ROW["metrics"] | {"clicks": "-"}},
            "clicks: missing",
        ),
    ],
]


@pytest.mark.parametrize("given", BROKEN, ids=["meta", "google-ads", "tiktok"])
def test_what_cannot_be_taken(
    sqlite_warehouse: Warehouse, given: list[tuple[dict[str, Any], str]]
) -> None:
    text = "\n".join(json.dumps(row) for row, _ in given)
    counts = take(sqlite_warehouse, text, "in.ndjson")
    assert (counts["new"], counts["rejected"]) == (1, len(given) - 1)
    reasons = [(line, reason) for line, (_, reason) in enumerate(given, 1)]
    assert sqlite_warehouse.reasons() == reasons[1:]


def test_an_advertiser_is_that_of_the_rows_after_it(sqlite_warehouse: Warehouse) -> None:
    plain = without(TIKTOK_ROW, "metrics", "currency")
    lines = [
        {"advertiser_id": "7", "currency": "JPY"},
        plain,
        {"advertiser_id": "8", "currency": "USD"},
        plain,
        plain | {"advertiser_id": "7"},
        plain | {"advertiser_id": "9"},
    ]
    counts = take(sqlite_warehouse, "\n".join(map(json.dumps, lines)), "in.ndjson")
    assert (counts["read"], counts["new"], counts["duplicate"]) == (4, 2, 1)
    found = [(row[1], row[6]) for row in stored(sqlite_warehouse)]
    assert found == [("7", "JPY"), ("8", "USD")]
    assert sqlite_warehouse.reasons() == [(6, "currency: missing")]


def test_a_packed_report(sqlite_warehouse: Warehouse) -> None:
    path = sqlite_warehouse.folder / "report.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as packed:
        packed.write(SAMPLES / "google_ads.json", "google_ads.json")
    sqlite_warehouse.take_file("ad-spend", path, SHOP)
    assert stored(sqlite_warehouse) == ROWS["google_ads.json"]


def test_answers_without_rows(sqlite_warehouse: Warehouse) -> None:
    path = sqlite_warehouse.folder / "in.json"
    for named, answer in (
        ("meta", {"data": [], "paging": {}}),
        ("google-ads", [{"fieldMask": "campaign.id", "requestId": "r"}]),
        ("tiktok", {"code": 0, "message": "OK", "data": {"list": [], "page_info": {}}}),
    ):
        path.write_text(json.dumps(answer))
        assert sqlite_warehouse.take_file("ad-spend", path, SHOP, named)["read"] == 0
