"""CSV as spreadsheets write it: separators, encodings, numbers and dates as people of many countries do."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jobs.importing.files.chunk import UnreadableFile
from jobs.importing.values.notation import Dates, Numbers, UnclearNumbers
from jobs.importing.values.times import any_instant, day
from tests.support.warehouse import Warehouse

SPEND = "SELECT campaign_name, day, spend, impressions FROM ad_spend ORDER BY day, campaign_id"
OWN = "shop_id;provider;campaign_id;campaign_name;date;currency;spend;impressions;clicks"
DAY = 20_484  # 31 January 2026


def own(*rows: str) -> str:
    """A file of this program's own fields: a campaign's id and name, the date, the spend, the impressions."""
    lines = [OWN]
    for row in rows:
        name, date, spend, impressions = row.split("|")
        lines.append(f"a.example;meta;{name};{name};{date};EUR;{spend};{impressions};1")
    return "\r\n".join([*lines, ""])


def stored(warehouse: Warehouse) -> list[tuple[Any, ...]]:
    return [tuple(row.values()) for row in warehouse.records(SPEND)]


@pytest.mark.parametrize("sign", [",", ";", "\t"])
@pytest.mark.parametrize(
    "encoding", ["utf-8", "utf-8-sig", "cp1252", "utf-16", "utf-16-le", "utf-16-be"]
)
def test_separators_and_encodings(sqlite_warehouse: Warehouse, sign: str, encoding: str) -> None:
    text = own("Frühling – 1|2026-01-31|11.35|1200", "Été €|2026-02-01|1|0").replace(";", sign)
    counts = sqlite_warehouse.take("ad-spend", text.encode(encoding), "in.csv")
    assert (counts["new"], counts["rejected"]) == (2, 0)
    assert stored(sqlite_warehouse) == [
        ("Frühling – 1", DAY, "11.35", 1200),
        ("Été €", DAY + 1, "1", 0),
    ]


def test_utf_16_of_other_files(sqlite_warehouse: Warehouse) -> None:
    line = json.dumps({"shop_id": "ä.example", "currency": "EUR"}, ensure_ascii=False)
    assert sqlite_warehouse.take("shops", f"{line}\r\n".encode("utf-16"))["new"] == 1
    assert sqlite_warehouse.records("SELECT 1 FROM shop WHERE shop_id = 'ä.example'")


def test_utf_16_that_is_cut_within_a_letter(sqlite_warehouse: Warehouse) -> None:
    text = own("1|2026-01-31|1|1", "2|2026-01-31|1|1").rstrip() + "2"
    assert sqlite_warehouse.take("ad-spend", text.encode("utf-16")[:-1], "in.csv")["new"] == 1
    assert sqlite_warehouse.reasons() == [(3, "not UTF-8")]


def test_windows_1252_never_takes_utf_8(sqlite_warehouse: Warehouse) -> None:
    name = b"\xfc" * 900
    good, bad = (
        own("é|2026-01-31|1|1").encode(),
        b"a.example;meta;2;%b;2026-01-31;EUR;1;1;1\r\n" % name,
    )
    counts = sqlite_warehouse.take("ad-spend", good + bad, "one.csv")
    assert (counts["new"], counts["rejected"]) == (1, 1)
    assert sqlite_warehouse.reasons() == [(3, "not UTF-8")]
    # The first letters beyond ASCII are far behind the UTF-8, in a file that began in Windows-1252.
    many = bad * 10_000 + own("é|2026-01-30|1|1").encode().partition(b"\r\n")[2]
    sqlite_warehouse.take("ad-spend", OWN.encode() + b"\r\n" + many, "two.csv")
    assert [row[0] for row in stored(sqlite_warehouse)] == ["é", "ü" * 900, "é"]
    # Bytes that mean nothing in Windows-1252.
    counts = sqlite_warehouse.take(
        "ad-spend", own("\x81|2026-01-31|1|1").encode("latin-1"), "3.csv"
    )
    assert counts["rejected"] == 1


@pytest.mark.parametrize(
    ("spends", "read"),
    [
        (("11,35", "1.234", "2"), ("11.35", "1234", "2")),
        (("1.234,5", "-0,125", "1,234"), ("1234.5", "-0.125", "1.234")),
        (("1,234", "1,234.50", "7.5"), ("1234", "1234.5", "7.5")),
        (("1,234,567", "1,234", "1"), ("1234567", "1234", "1")),
        (("11.35", "1.234", "2"), ("11.35", "1.234", "2")),
    ],
)
def test_decimal_commas(
    sqlite_warehouse: Warehouse, spends: tuple[str, ...], read: tuple[str, ...]
) -> None:
    text = own(*(f"{number}|2026-01-31|{spend}|1" for number, spend in enumerate(spends)))
    assert sqlite_warehouse.take("ad-spend", text.encode(), "in.csv")["new"] == 3
    assert tuple(row[2] for row in stored(sqlite_warehouse)) == read


@pytest.mark.parametrize(
    ("spends", "words"),
    [
        (
            ("1,234", "2,500"),
            r"spend: '1,234' can be 1234 or 1\.234, .*--decimal point or --decimal comma",
        ),
        (("1.250", "12"), r"spend: '1\.250' can be 1\.25 or 1250, "),
        (("1,5", "1.5", "1,234"), "spend: '1,5' and '1.5' have different decimal marks"),
        (("1.234,5", "1,234.5"), "spend: .* have different decimal marks"),
    ],
)
def test_numbers_that_are_not_guessed(
    sqlite_warehouse: Warehouse, spends: tuple[str, ...], words: str
) -> None:
    text = own(*(f"{number}|2026-01-31|{spend}|1" for number, spend in enumerate(spends)))
    with pytest.raises(UnreadableFile, match=words):
        sqlite_warehouse.take("ad-spend", text.encode(), "in.csv")
    assert stored(sqlite_warehouse) == []


@pytest.mark.parametrize(("decimal", "spend"), [("point", "1.25"), ("comma", "1250")])
def test_the_decimal_mark_that_is_said(
    sqlite_warehouse: Warehouse, tmp_path: Path, decimal: str, spend: str
) -> None:
    path = tmp_path / "in.csv"
    path.write_text(own("1|2026-01-31|1.250|1"))
    assert sqlite_warehouse.take_file("ad-spend", path, decimal=decimal)["new"] == 1
    assert stored(sqlite_warehouse)[0][2] == spend


def test_an_unclear_number_far_down(sqlite_warehouse: Warehouse) -> None:
    rows = [f"{number}|2026-01-31|{number}|1" for number in range(12_000)]
    with pytest.raises(UnreadableFile, match=r"'1\.250' can be"):
        sqlite_warehouse.take("ad-spend", own(*rows, "last|2026-01-31|1.250|1").encode(), "in.csv")
    assert stored(sqlite_warehouse) == []


# As people of several countries write a number below 0, its thousands, its decimals and its currency.
WRITTEN = [
    "1 234,56", "1\u00a0234,56", "1\u202f234,56", "1'234.56", "1\u2019234.56", "1.234,56", "1,234.56",
    "€1,234.56", "1.234,56 €", "EUR 1.234,56", "1,234.56 EUR", "US$ 1,234.56", "1234.56", "1234,56",
]  # fmt: skip


@pytest.mark.parametrize("written", WRITTEN)
@pytest.mark.parametrize("below", ["", "-", "\u2212", "()"])
def test_notations_of_numbers(written: str, below: str) -> None:
    cell = f"({written})" if below == "()" else f"{below}{written}"
    numbers = Numbers("", "spend")
    numbers.look_at(cell)
    numbers.raise_if_unclear()
    assert numbers.written([cell]) == ["-1234.56" if below else "1234.56"]


def test_more_notations_of_numbers() -> None:
    for cell, read in (
        ("1,23,456.78", "123456.78"), ("₹12,34,567.8", "1234567.8"), ("0.125", "0.125"), ("1,0", "1.0"),
        ("12,345,678", "12345678"), ("1.2.3", "1.2.3"), ("-", "-"), ("1 23", "1 23"), ("(-1.5)", "(-1.5)"),
        ("€1 €", "€1 €"), (f"{' ' * 50_000}1,5", f"{' ' * 50_000}1,5"[-3:].replace(",", ".")),
    ):  # fmt: skip
        numbers = Numbers("", "spend")
        numbers.look_at(cell)
        assert numbers.written([cell]) == [read]


def test_whole_numbers_have_no_fraction() -> None:
    numbers = Numbers("", "clicks", whole=True)
    numbers.look_at("1.503")
    assert numbers.written(["1.503", "12"]) == ["1503", "12"]
    numbers = Numbers("", "clicks", whole=True)
    numbers.look_at("12.000")
    with pytest.raises(UnclearNumbers):
        numbers.raise_if_unclear()


@pytest.mark.parametrize(
    "written",
    [
        "2026-10-01 00:00:00", "2026-10-01T00:00:00Z", "2026-10-01T00:00:00.000+02:00", "20261001",
        "2026/10/01", "01.10.2026 00:00", "10/1/2026 12:00:00 AM", "01-Oct-26", "1 October 2026",
        "Thu, Oct 1, 2026", "Thursday, October 1, 2026", "Do., 1. Okt. 2026", "1. Oktober 2026",
        "2026-Oct-01",
    ],
)  # fmt: skip
def test_notations_of_days(written: str) -> None:
    dates = Dates()
    for cell in (written, "13.10.2026" if "." in written[:3] else "10/13/2026"):
        dates.look_at(cell)
    dates.raise_if_unclear()
    assert day(dates.days([written])[0]) == 20_727


def test_every_month_in_english_and_german() -> None:
    months = (
        "Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec",
        "Januar|Februar|März|April|Mai|Juni|Juli",
    )
    names = [name for part in months for name in part.split("|")]
    names += ["August", "September", "Oktober", "November", "Dezember"]
    for number, name in enumerate(names):
        dates = Dates()
        dates.look_at(f"3. {name} 2026")
        assert dates.days([f"3. {name} 2026"]) == [f"2026-{number % 12 + 1:02}-03"]


def test_days_that_are_no_days(sqlite_warehouse: Warehouse) -> None:
    """The reject quotes what is in the file, and says a form that is read."""
    text = own(
        "1|46296|1|1", "2|10/31/2026 13:05|1|1", "3|1 Octember 2026|1|1", "4|Oct 32, 2026|1|1"
    )
    sqlite_warehouse.take("ad-spend", text.encode(), "in.csv")
    assert sqlite_warehouse.reasons() == [
        (2, "date: '46296' is not a date; write it as 2026-01-31, not as the number of a day"),
        (3, "date: '10/31/2026 13:05' is not a date; write it as 2026-01-31"),
        (4, "date: '1 Octember 2026' is not a date; write it as 2026-01-31"),
        (5, "date: 'Oct 32, 2026' is not a date; write it as 2026-01-31"),
    ]


@pytest.mark.parametrize(
    ("dates", "days"),
    [
        (("31.01.2026", "1.2.2026"), (0, 1)),
        (("01.02.2026", "02.02.2026"), (1, 2)),
        (("1/31/2026", "2/1/2026"), (0, 1)),
        (("31/01/26", "1/2/26"), (0, 1)),
        (("2026/01/31", "2026.02.01."), (0, 1)),
        (("31-01-2026", "2026-02-01"), (0, 1)),
    ],
)
def test_dates_that_the_file_shows(
    sqlite_warehouse: Warehouse, dates: tuple[str, str], days: tuple[int, int]
) -> None:
    text = own(*(f"{number}|{date}|1|1" for number, date in enumerate(dates)))
    counts = sqlite_warehouse.take("ad-spend", text.encode(), "in.csv")
    assert (counts["new"], counts["rejected"]) == (2, 0)
    assert tuple(row[1] - DAY for row in stored(sqlite_warehouse)) == days


def test_dates_that_can_be_read_in_several_ways(
    sqlite_warehouse: Warehouse, tmp_path: Path
) -> None:
    path = tmp_path / "in.csv"
    path.write_text(own("1|02/01/2026|1|1", "2|2/2/2026|1|1"))
    with pytest.raises(
        UnreadableFile,
        match=r"'02/01/2026' can be read as several dates, .*--dates dmy, mdy or ymd, or write 2026-01-31",
    ):
        sqlite_warehouse.take_file("ad-spend", path)
    assert stored(sqlite_warehouse) == []
    assert sqlite_warehouse.take_file("ad-spend", path, dates="mdy")["new"] == 2
    assert [row[1] - DAY for row in stored(sqlite_warehouse)] == [1, 2]
    # A row of each order: neither is taken for the other's.
    path.write_text(own("3|31/01/2026|1|1", "4|01/31/2026|1|1"))
    with pytest.raises(UnreadableFile, match="several ways: '31/01/2026' and '01/31/2026'"):
        sqlite_warehouse.take_file("ad-spend", path)
    assert sqlite_warehouse.take_file("ad-spend", path, dates="dmy")["rejected"] == 1
    assert sqlite_warehouse.reasons() == [
        (3, "date: '01/31/2026' is not a date; write it as 2026-01-31")
    ]


def test_a_date_far_down_shows_the_order_of_all(sqlite_warehouse: Warehouse) -> None:
    rows = [f"{number}|1/{number % 12 + 1}/2026|1|1" for number in range(12_000)]
    text = own(*rows, "last|1/31/2026|1|1")
    counts = sqlite_warehouse.take("ad-spend", text.encode(), "in.csv")
    assert (counts["new"], counts["rejected"]) == (12_001, 0)
    assert max(row[1] for row in stored(sqlite_warehouse)) == DAY


def test_orders_as_a_spreadsheet_writes_them(sqlite_warehouse: Warehouse) -> None:
    text = (
        "order_id;shop_id;created_at;updated_at;total_cents;test\n"
        "1;a.example;31.01.2026 9:05;2026-02-05 10:00:00 +0100;4.990;WAHR\n"
        "2;a.example;31.01.2026 23:59:59;;4990,00;false\n"
    )
    sqlite_warehouse.take("orders", text.encode("cp1252"), "in.csv")
    reason = "kept without test: 'WAHR' is neither true nor false"
    assert sqlite_warehouse.reasons() == [(2, reason)]
    assert any_instant("2026-02-05 10:00:00 +0100") == any_instant("2026-02-05T09:00:00Z")
    (order,) = sqlite_warehouse.records(
        "SELECT created_at, gross FROM raw_order WHERE order_id = '2'"
    )
    assert order == {"created_at": any_instant("2026-01-31T23:59:59Z"), "gross": 4990}
    # A retry reads the kept text as the file was read.
    (kept,) = sqlite_warehouse.records("SELECT text FROM reject")
    assert json.loads(kept["text"]) == {
        "order_id": "1", "shop_id": "a.example", "created_at": "2026-01-31 09:05",
        "updated_at": "2026-02-05 10:00:00 +0100", "total_cents": "4990", "test": "WAHR",
    }  # fmt: skip


def test_the_formats_that_are_tables(sqlite_warehouse: Warehouse, tmp_path: Path) -> None:
    path = tmp_path / "in.csv"
    path.write_text(
        "Datum;Day;Platform;Campaign;Currency;Cost;Impr.;Clicks\n"
        "x;31.01.2026;LinkedIn Ads;Brand;EUR;1.011,35;1.503;37\n"
    )
    assert sqlite_warehouse.take_file("ad-spend", path, "a.example")["new"] == 1
    assert stored(sqlite_warehouse) == [("Brand", DAY, "1011.35", 1503)]
    # The name that UTM sources have.
    assert sqlite_warehouse.records("SELECT provider FROM ad_spend") == [{"provider": "linkedin"}]
    path.write_text(
        "campaign_id;campaign_name;date_start;date_stop;account_currency;spend;impressions;clicks\n"
        "1;B;1/2/2026;1/2/2026;EUR;1,5;2;1\n"
    )
    with pytest.raises(UnreadableFile, match="--dates"):
        sqlite_warehouse.take_file("ad-spend", path, "a.example")
    assert sqlite_warehouse.take_file("ad-spend", path, "a.example", dates="mdy")["new"] == 1
    assert stored(sqlite_warehouse)[0] == ("B", DAY - 29, "1.5", 2)


@pytest.mark.parametrize(
    ("written", "iso"),
    [
        ("31.01.2026 9:05", "2026-01-31 09:05"),
        ("31/01/2026, 12:05:01 AM", "2026-01-31 00:05:01"),
        ("31/01/2026 1:05 p.m.", "2026-01-31 13:05"),
        ("31/01/2026 10:00:00 +0100", "2026-01-31 10:00:00+0100"),
        ("31/01/2026 13:00 PM", "31/01/2026 13:00 PM"),
        ("31/01/2026 soon", "31/01/2026 soon"),
        ("32/01/2026", "32/01/2026"),
        ("2026-01-31T10:00:00Z", "2026-01-31T10:00:00Z"),
    ],
)
def test_times_of_the_day(written: str, iso: str) -> None:
    dates = Dates("dmy")
    dates.look_at("1/1/2026")
    assert dates.times([written]) == [iso]


@given(st.dates(), st.sampled_from(["dmy", "mdy", "ymd"]), st.sampled_from("./-"))
def test_every_date_in_every_order(date: Any, order: str, sign: str) -> None:
    parts = {"d": f"{date.day:02}", "m": f"{date.month:02}", "y": f"{date.year:04}"}
    cell = sign.join(parts[name] for name in order)
    dates = Dates(order)
    dates.look_at(cell)
    month_first_with_dots = order == "mdy" and sign == "."
    assert month_first_with_dots or any_instant(dates.times([cell])[0]) == any_instant(date)


@pytest.mark.parametrize("cell", ["1 Apr\u0131l 2026", "1 Augu\u017ft 2026"])
def test_months_in_other_letters_are_no_dates(cell: str) -> None:
    dates = Dates()
    dates.look_at(cell)
    dates.raise_if_unclear()
    assert dates.days([cell]) == [cell]
