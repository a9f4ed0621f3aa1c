"""Samples of the reports of ad platforms, and the rows that are stored of each."""

import json
from typing import Any

from tests.support.import_files import SAMPLES
from tests.support.warehouse import Warehouse

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
    "google-ads.json": [
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
    "google-ads.csv": [
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
    "tiktok-csv.csv": [
        (
            *TIKTOK,
            "1700000000000001",
            "Spring",
            DAY,
            "adgroup=1700000000000021/ad=1700000000000022/age=18-24/gender=Female/placement=TikTok",
            "EUR",
            "1012.34",
            1503,
            37,
        ),
        (
            *TIKTOK,
            "1700000000000001",
            "Spring",
            DAY + 1,
            "adgroup=Broad/ad=Video",
            "EUR",
            "12.5",
            200,
            2,
        ),
    ],
    "spend-csv.csv": [
        ("meta", "77", "c-1", "Spring", DAY, "", "USD", "12.34", 1503, 37),
        ("microsoft", "", "b-1", "Brand", DAY, "room=2", "EUR", "1.5", 4, 1),
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
    return [tuple(row.values()) for row in warehouse.records(STORED)]


def take(warehouse: Warehouse, rows: Any, name: str = "in.json") -> dict[str, int]:
    path = warehouse.folder / name
    path.write_text(rows if isinstance(rows, str) else json.dumps(rows))
    return warehouse.take_file("ad-spend", path, SHOP)


def sample(name: str) -> Any:
    return json.loads((SAMPLES / name).read_text())


META_ROW = {**sample("meta.json")["data"][0]}
