"""Tables that people export from the pages of ad platforms."""

import re
from typing import Any

import pytest

from jobs.importing.files.chunk import UnreadableFile
from tests.support.import_files import SAMPLES
from tests.support.warehouse import Warehouse

SHOP = "a.example"
META = "Campaign name,Day,Amount spent (EUR),Impressions,Link clicks\nSpring,2026-01-02,1.5,10,2\n"
GOOGLE = (
    'Report\n"1. bis 31. Januar, 2026"\n'
    "Campaign;Day;Cost (USD);Impr.;Clicks\nBrand;02.01.2026;1.011,50;1.503;2\n"
    "Total: Account; --;1.011,50;1.503;2\n"
)


def stored(warehouse: Warehouse) -> list[tuple[Any, ...]]:
    found = warehouse.records(
        "SELECT provider, account_id, campaign_id, campaign_name, day, segment, currency, spend, "
        "impressions, clicks FROM ad_spend ORDER BY day, campaign_id"
    )
    return [tuple(row.values()) for row in found]


def claimed(warehouse: Warehouse) -> list[tuple[str, str]]:
    found = warehouse.records(
        "SELECT reported_conversions, reported_value FROM ad_spend ORDER BY day, campaign_id"
    )
    return [tuple(row.values()) for row in found]


def take(warehouse: Warehouse, text: str, **options: str) -> dict[str, int]:
    path = warehouse.folder / "in.csv"
    path.write_text(text)
    return warehouse.take_file("ad-spend", path, SHOP, **options)


def test_every_column_of_ads_manager(warehouse: Warehouse) -> None:
    counts = warehouse.take_file("ad-spend", SAMPLES / "meta-csv.csv", SHOP)
    assert (counts["read"], counts["new"], counts["skipped"], counts["rejected"]) == (2, 2, 1, 0)
    segment = (
        "adset=2385101/ad=2385102/age=18-24/gender=female/country=DE/region=Bavaria/"
        "publisher_platform=facebook/platform_position=feed/device_platform=mobile_app/impression_device=iphone"
    )
    assert stored(warehouse) == [
        ("meta", "17", "2385100", "Spring", 20455, segment, "EUR", "1012.34", 1503, 37),
        ("meta", "17", "2385100", "Spring", 20456, "adset=Broad/ad=Video", "EUR", "12.5", 200, 23),
    ]


def test_every_column_of_google_ads(warehouse: Warehouse) -> None:
    counts = warehouse.take_file("ad-spend", SAMPLES / "google-ads-csv.csv", SHOP)
    assert (counts["read"], counts["new"], counts["skipped"], counts["rejected"]) == (2, 2, 2, 0)
    segment = (
        "adgroup=12/ad=13/criterion=14/assetgroup=Spring/device=Mobile phones/adNetworkType=Search"
    )
    assert stored(warehouse) == [
        ("google", "1234567890", "111", "Brand", 20455, segment, "EUR", "1012.34", 1503, 37),
        ("google", "1234567890", "Brand", "Brand", 20456, "", "EUR", "12.5", 200, 3),
    ]


def test_pages_in_german(warehouse: Warehouse) -> None:
    counts = warehouse.take_file("ad-spend", SAMPLES / "meta-csv.german.csv", SHOP)
    assert (counts["new"], counts["skipped"], counts["rejected"]) == (2, 1, 0)
    counts = warehouse.take_file("ad-spend", SAMPLES / "google-ads-csv.german.csv", SHOP)
    assert (counts["new"], counts["skipped"], counts["rejected"]) == (2, 1, 0)
    of_google = (
        "adgroup=12/ad=13/criterion=14/assetgroup=Start/device=Smartphones/adNetworkType=Suche"
    )
    of_meta = (
        "adset=2385101/ad=2385102/age=18-24/gender=female/country=DE/region=Bayern/"
        "publisher_platform=facebook/platform_position=feed/device_platform=mobile_app"
    )
    second = "adset=Breit/ad=Video"
    assert stored(warehouse) == [
        ("google", "1234567890", "111", "Marke", 20455, of_google, "EUR", "1012.34", 1503, 37),
        ("meta", "", "2385100", "Frühling", 20455, of_meta, "EUR", "1012.34", 1503, 37),
        ("meta", "", "2385100", "Frühling", 20456, second, "EUR", "12.5", 200, 10),
        ("google", "1234567890", "Marke", "Marke", 20466, "", "EUR", "12.5", 200, 3),
    ]
    assert claimed(warehouse) == [("2.5", "129.9"), ("2", ""), ("1", ""), ("0", "0")]


@pytest.mark.parametrize("name", ["meta-csv.csv", "google-ads-csv.csv"])
def test_what_the_platform_claims(sqlite_warehouse: Warehouse, name: str) -> None:
    sqlite_warehouse.take_file("ad-spend", SAMPLES / name, SHOP)
    assert claimed(sqlite_warehouse)[0] == ("2.5" if "google" in name else "2", "129.9")


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16"])
def test_few_columns(sqlite_warehouse: Warehouse, encoding: str) -> None:
    for text in (META, GOOGLE, GOOGLE.replace(";", "\t")):
        path = sqlite_warehouse.folder / "in.csv"
        path.write_text(text, encoding=encoding)
        assert sqlite_warehouse.take_file("ad-spend", path, SHOP)["rejected"] == 0
    assert stored(sqlite_warehouse) == [
        ("google", "", "Brand", "Brand", 20455, "", "USD", "1011.5", 1503, 2),
        ("meta", "", "Spring", "Spring", 20455, "", "EUR", "1.5", 10, 2),
    ]


def test_the_day_by_the_reporting_dates(sqlite_warehouse: Warehouse) -> None:
    text = META.replace("Day,", "Reporting starts,Reporting ends,").replace(
        "02,1.5", "02,2026-01-02,1.5"
    )
    assert take(sqlite_warehouse, text)["new"] == 1
    german = re.sub(r"(2026)-(01)-(02)", r"\3.\2.\1", text)
    assert take(sqlite_warehouse, german, dates="dmy")["new"] == 0
    with pytest.raises(
        UnreadableFile, match=r"'2026-01-02' to '2026-01-31'.*Breakdown, By time, Day"
    ):
        take(sqlite_warehouse, text.replace("2026-01-02,1.5", "2026-01-31,1.5"))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (
            META.replace("Day,", "").replace("2026-01-02,", ""),
            "no column says the day; choose Breakdown",
        ),
        (GOOGLE.replace("Day", "Week"), "no column says the day; choose Segment, Time, Day"),
        (
            META.replace("Link clicks", "Results"),
            "no column says: clicks; the file has: Campaign name, Day",
        ),
        (
            META.replace("Campaign name,Day", "Kampagnenname,Tag").replace(
                "Link clicks", "Ergebnisse"
            ),
            "no column says: clicks; the file has: Kampagnenname, Tag",
        ),
        (META.replace(" (EUR)", ""), "no column says the currency; add it"),
        (GOOGLE.replace(" (USD)", ""), "no column says the currency; add it"),
    ],
)
def test_what_a_report_must_have(sqlite_warehouse: Warehouse, text: str, words: str) -> None:
    with pytest.raises(UnreadableFile, match=words):
        take(sqlite_warehouse, text)
    assert stored(sqlite_warehouse) == []


@pytest.mark.parametrize(
    "second", ["Brand;02.01.2026;shoes;1,50;10;1", "Brand;02.01.2026;shop;2,00;10;1"]
)
def test_rows_that_only_other_columns_tell_apart(sqlite_warehouse: Warehouse, second: str) -> None:
    """The last would replace the others, and their spend would be gone."""
    header = "Campaign;Day;Search term;Cost (USD);Impr.;Clicks\n"
    first = "Brand;02.01.2026;shop;1,50;10;1\n"
    with pytest.raises(
        UnreadableFile,
        match=r"lines 2 and 4 are of the same campaign, .* not read: Search term\)",
    ):
        take(sqlite_warehouse, f"{header}{first}Other;02.01.2026;shop;1,50;10;1\n{second}\n")
    assert take(sqlite_warehouse, f"{header}{first}{first}")["new"] == 1


def test_lines_of_rejects_count_the_titles(sqlite_warehouse: Warehouse) -> None:
    take(sqlite_warehouse, GOOGLE.replace("1.503", "many"))
    assert sqlite_warehouse.reasons() == [(4, "impressions: 'many' is not a number")]


def test_a_value_that_no_text_has_costs_its_row(sqlite_warehouse: Warehouse) -> None:
    """The row has no text that would tell it from others."""
    text = META.replace("Day,", "Day,Region,").replace("02,", "02,Bav\0aria,")
    assert take(sqlite_warehouse, text + "Spring,2026-01-03,Hesse,1.5,10,2\n")["new"] == 1
    assert sqlite_warehouse.reasons() == [(2, "region: has a NUL character")]


def test_a_column_of_the_currency_counts(sqlite_warehouse: Warehouse) -> None:
    take(sqlite_warehouse, META.replace("Day", "Currency,Day").replace("Spring", "Spring,CHF"))
    assert [row[6] for row in stored(sqlite_warehouse)] == ["CHF"]


def test_a_table_with_providers_is_another_format(sqlite_warehouse: Warehouse) -> None:
    text = "Day,Platform,Campaign,Currency,Cost,Impr.,Clicks\n2026-01-02,TikTok,Brand,EUR,1,2,1\n"
    take(sqlite_warehouse, text)
    assert stored(sqlite_warehouse)[0][0] == "tiktok"
