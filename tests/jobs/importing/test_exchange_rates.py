"""Exchange rates: one a row, and the ECB's table as it is published."""

import zipfile
from typing import Any

import pytest

from jobs.importing.files.chunk import UnreadableFile
from tests.support.import_files import ECB, SAMPLES, rate
from tests.support.warehouse import Warehouse

STORED = "SELECT base, quote, day, rate FROM exchange_rate ORDER BY base, quote, day"


OF_ALL_DAYS = [
    ("EUR", "CYP", 10595, "0.58231"),
    ("EUR", "JPY", 10595, "133.73"),
    ("EUR", "JPY", 20458, "161.5"),
    ("EUR", "TRY", 20455, "36"),
    ("EUR", "TRY", 20458, "36.12"),
    ("EUR", "USD", 10595, "1.1789"),
    ("EUR", "USD", 20455, "1.0321"),
    ("EUR", "USD", 20458, "1.034"),
]


def stored(warehouse: Warehouse) -> list[tuple[Any, ...]]:
    return [tuple(row.values()) for row in warehouse.records(STORED)]


def versions(warehouse: Warehouse) -> list[int]:
    return [
        row["v"] for row in warehouse.records("SELECT data_version AS v FROM shop ORDER BY shop_id")
    ]


@pytest.mark.parametrize("name", ["in.ndjson", "in.csv", "in.parquet"])
def test_the_last_import_wins(warehouse: Warehouse, name: str) -> None:
    rows = [rate(), rate(base="usd", quote="gbp", rate="0.8"), rate(date="2026-01-03")]
    assert warehouse.take("exchange-rates", rows, name)["new"] == 3
    assert stored(warehouse) == [
        ("EUR", "USD", 20455, "1.1"),
        ("EUR", "USD", 20456, "1.1"),
        ("USD", "GBP", 20455, "0.8"),
    ]
    assert versions(warehouse) == [1, 1]
    assert warehouse.take("exchange-rates", rows, name)["duplicate"] == 3
    assert versions(warehouse) == [1, 1]
    assert warehouse.take("exchange-rates", [rate(rate="1.2")], name)["replaced"] == 1
    assert stored(warehouse)[0] == ("EUR", "USD", 20455, "1.2")
    assert versions(warehouse) == [2, 2]


def test_the_table_of_the_ecb(warehouse: Warehouse) -> None:
    counts = warehouse.take("exchange-rates", ECB, "eurofxref-hist.csv")
    assert counts == {"read": 8, "new": 8, "duplicate": 0, "replaced": 0, "rejected": 0}
    assert stored(warehouse) == OF_ALL_DAYS
    assert warehouse.take("exchange-rates", ECB, "eurofxref-hist.csv")["duplicate"] == 8
    assert versions(warehouse) == [1, 1]


def test_the_files_and_archives_of_the_ecb(sqlite_warehouse: Warehouse) -> None:
    """The table of all days, and that of the latest, which is laid out in another way."""
    counts = []
    for name in ("ecb", "ecb.day"):
        archive = sqlite_warehouse.folder / f"{name}.zip"
        with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as packed:
            packed.write(SAMPLES / f"{name}.csv", f"{name}.csv")
        for path in (SAMPLES / f"{name}.csv", archive):
            found = sqlite_warehouse.take_file("exchange-rates", path)
            counts.append((found["new"], found["duplicate"], found["rejected"]))
    assert counts == [(8, 0, 0), (0, 8, 0), (1, 3, 0), (0, 4, 0)]
    assert stored(sqlite_warehouse) == [
        ("EUR", "CYP", 10595, "0.58231"),
        ("EUR", "CZK", 20458, "24.953"),
        *[row for row in OF_ALL_DAYS if row[1] != "CYP"],
    ]


@pytest.mark.parametrize(
    ("names", "reason"),
    [
        ([], "the zip has no file"),
        (["a.csv"], "not readable as a zip archive (Bad CRC-32 for file 'a.csv')"),
        (None, "not readable as a zip archive (File is not a zip file)"),
    ],
)
def test_other_archives_are_refused(
    sqlite_warehouse: Warehouse, names: list[str] | None, reason: str
) -> None:
    path = sqlite_warehouse.folder / "in.zip"
    path.write_bytes(ECB)
    if names is not None:
        with zipfile.ZipFile(path, "w") as packed:
            for name in names:
                packed.writestr(name, ECB)
        path.write_bytes(path.read_bytes().replace(b"36.1200", b"36.1201"))
    with pytest.raises(UnreadableFile) as refusal:
        sqlite_warehouse.take_file("exchange-rates", path)
    assert str(refusal.value) == f"{path}: {reason}"


def test_one_bad_cell_costs_the_table_one_rate(sqlite_warehouse: Warehouse) -> None:
    bad = ECB.replace(b"161.5", b"n.a.")
    counts = sqlite_warehouse.take("exchange-rates", bad, "eurofxref-hist.csv")
    assert (counts["read"], counts["new"], counts["rejected"]) == (8, 7, 1)
    assert sqlite_warehouse.records("SELECT line, reason, text FROM reject") == [
        {
            "line": 2,
            "reason": "rate: 'n.a.' is not a number",
            "text": '{"date":"2026-01-05","base":"EUR","quote":"JPY","rate":"n.a."}',
        }
    ]


@pytest.mark.parametrize("header", [b"DATE, Usd,", b"\xef\xbb\xbfDate,USD,,", b"date,usd"])
def test_the_table_of_the_ecb_under_other_hands(sqlite_warehouse: Warehouse, header: bytes) -> None:
    table = header + b"\n2026-01-05,1.0340" + b"," * (header.count(b",") - 1) + b"\n"
    assert sqlite_warehouse.take("exchange-rates", table, "in.csv")["new"] == 1
    assert stored(sqlite_warehouse) == [("EUR", "USD", 20458, "1.034")]


def test_a_table_without_rates(sqlite_warehouse: Warehouse) -> None:
    counts = sqlite_warehouse.take("exchange-rates", b"Date,USD,\n2026-01-05,N/A,\n", "in.csv")
    assert counts["read"] == counts["rejected"] == 0
