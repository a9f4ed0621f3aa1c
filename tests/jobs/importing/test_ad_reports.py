"""Reports of ad platforms: what of the samples is stored, exactly, and what is refused."""

import json
import zipfile
from typing import Any

import pytest

from tests.support.ad_reports import META_ROW, ROWS, SHOP, sample, stored, take
from tests.support.import_files import SAMPLES
from tests.support.warehouse import Warehouse


def test_what_is_stored(warehouse: Warehouse) -> None:
    for name, rows in ROWS.items():
        warehouse.change("DELETE FROM ad_spend")
        assert warehouse.take_file("ad-spend", SAMPLES / name, SHOP)["new"] == len(rows), name
        assert stored(warehouse) == rows
        counts = warehouse.take_file("ad-spend", SAMPLES / name, SHOP)
        assert (counts["duplicate"], counts["rejected"]) == (len(rows), 0)


# Campaign, conversions and value of the rows for which a platform claims any.
CLAIMS = {
    "meta.json": [("120210000000010", "3", "119.7")],
    "meta.csv": [("120210000000010", "3", "119.7")],
    "google-ads.json": [("21000000001", "2.333333", "129.9")],
    "google-ads.csv": [("21000000001", "2.5", "129.9"), ("21000000003", "0", "-10.25")],
    "tiktok.ndjson": [("1700000000000001", "2", "59.8")],
    "tiktok.csv": [("1700000000000001", "2", "59.8")],
    "spend-csv.csv": [("c-1", "2.5", "129.9"), ("l-9", "0", "0")],
}


def claims(warehouse: Warehouse) -> list[tuple[Any, ...]]:
    rows = warehouse.records(
        "SELECT campaign_id, reported_conversions, reported_value FROM ad_spend "
        "WHERE reported_conversions || reported_value <> '' ORDER BY campaign_id"
    )
    return [tuple(row.values()) for row in rows]


def test_what_platforms_claim(sqlite_warehouse: Warehouse) -> None:
    for name, claimed in CLAIMS.items():
        sqlite_warehouse.change("DELETE FROM ad_spend")
        sqlite_warehouse.take_file("ad-spend", SAMPLES / name, SHOP)
        assert claims(sqlite_warehouse) == claimed, name


def actions(*pairs: tuple[str, Any]) -> list[dict[str, Any]]:
    return [{"action_type": kind, "value": value} for kind, value in pairs]


PIXEL = "offsite_conversion.fb_pixel_purchase"


@pytest.mark.parametrize(
    ("given", "conversions"),
    [
        # Meta names one purchase several times over; the widest name counts.
        (actions((PIXEL, "1"), ("purchase", "2"), ("omni_purchase", "3")), "3"),
        (actions((PIXEL, "1"), ("purchase", "2")), "2"),
        (actions((PIXEL, "1"), ("lead", "9")), "1"),
        (actions(("lead", "9")), ""),
        ([], ""),
        (None, ""),
        # A breakdown of actions, such as `action_device`, splits a type.
        (actions(("purchase", "0.1"), ("purchase", 0.2)), "0.3"),
        (actions(("purchase", "9007199254740993"), ("purchase", "0.1")), "9007199254740993.1"),
        # A value of other attribution windows alone.
        ([{"action_type": "purchase", "7d_click": "4"}], ""),
        (json.dumps(actions(("purchase", "2"))), "2"),
    ],
)
def test_the_purchases_that_meta_claims(
    sqlite_warehouse: Warehouse, given: Any, conversions: str
) -> None:
    row = {name: META_ROW[name] for name in META_ROW if name != "action_values"}
    take(sqlite_warehouse, [row | {"actions": given}])
    (found,) = sqlite_warehouse.records("SELECT reported_conversions, reported_value FROM ad_spend")
    assert found == {"reported_conversions": conversions, "reported_value": ""}


GOOGLE_ROW = {**sample("google-ads.json")[0]["results"][0]}
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
            "date_stop: '2026-01-31' is not date_start ('2026-01-02'); export one row a day",
        ),
        (
            META_ROW | {"spend": "12,34"},
            "spend: '12,34' is not a number; write a decimal point, not a comma",
        ),
        (without(META_ROW, "account_currency"), "currency: missing"),
        (without(META_ROW, "campaign_name"), "campaign_name: missing"),
        (META_ROW | {"impressions": "1.5"}, "impressions: '1.5' is not a whole number"),
        (META_ROW | {"age": ["25-34"]}, "age: a list is not a text"),
        (
            META_ROW | {"actions": "three"},
            "kept without reported_conversions: actions: 'three' is not JSON",
        ),
        (
            META_ROW | {"action_values": actions(("purchase", "1,5"))},
            "kept without reported_value: action_values: '1,5' is not a number; write a decimal point, "
            "not a comma",
        ),
    ],
    [
        (GOOGLE_ROW, ""),
        (without(GOOGLE_ROW, "segments", "date"), "date: missing"),
        (without(GOOGLE_ROW, "metrics", "costMicros"), "spend: missing"),
        (without(GOOGLE_ROW, "customer", "currencyCode"), "currency: missing"),
        (
            GOOGLE_ROW | {"metrics": {"costMicros": "1e"}},
            "metrics.costMicros: '1e' is not a number",
        ),
    ],
    [
        (TIKTOK_ROW, ""),
        (
            TIKTOK_ROW | {"dimensions": {"campaign_id": "1", "stat_time_day": "2026-01-02 13:00"}},
            "date: '2026-01-02 13:00' is not a date; write it as 2026-01-31",
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
    incomplete = sum(reason.startswith("kept without ") for _, reason in given)
    assert (counts["rejected"], counts.get("incomplete", 0)) == (
        len(given) - 1 - incomplete,
        incomplete,
    )
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
        packed.write(SAMPLES / "google-ads.json", "google-ads.json")
    sqlite_warehouse.take_file("ad-spend", path, SHOP)
    assert stored(sqlite_warehouse) == ROWS["google-ads.json"]


def test_answers_without_rows(sqlite_warehouse: Warehouse) -> None:
    path = sqlite_warehouse.folder / "in.json"
    for named, answer in (
        ("meta", {"data": [], "paging": {}}),
        ("google-ads", [{"fieldMask": "campaign.id", "requestId": "r"}]),
        ("tiktok", {"code": 0, "message": "OK", "data": {"list": [], "page_info": {}}}),
    ):
        path.write_text(json.dumps(answer))
        assert sqlite_warehouse.take_file("ad-spend", path, SHOP, named)["read"] == 0
