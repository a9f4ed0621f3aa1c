"""The table of orders that Shopify's admin exports."""

import csv
import io
import json
from typing import Any, Final

import pytest

from jobs.importing.files import csv as csv_files
from jobs.importing.files.chunk import UnreadableFile
from jobs.importing.values.times import any_instant
from tests.support.hashing import keyed, marked
from tests.support.import_files import SAMPLES
from tests.support.warehouse import Warehouse

SAMPLE: Final = SAMPLES / "shopify-csv.csv"
SHOP: Final = "a.example"
COLUMNS: Final = (
    "order_id, created_at, updated_at, gross, refunded, discounted, codes, cancelled, visitor_id, "
    "email_sha256, customer_id"
)
ORDERED: Final = any_instant("2026-03-02T09:15:00Z")


def lines() -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(SAMPLE.read_text())))


def take(warehouse: Warehouse, rows: list[dict[str, str]], **options: str) -> dict[str, int]:
    path = warehouse.folder / "orders_export.csv"
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]), delimiter=options.pop("delimiter", ","))
        writer.writeheader()
        writer.writerows(rows)
    return warehouse.take_file("orders", path, SHOP, **options)


def stored(warehouse: Warehouse) -> list[tuple[Any, ...]]:
    found = warehouse.records(f"SELECT {COLUMNS} FROM raw_order ORDER BY order_id, updated_at")
    return [tuple(row.values()) for row in found]


def test_every_column(warehouse: Warehouse) -> None:
    counts = warehouse.take_file("orders", SAMPLE, SHOP)
    assert counts == {
        "read": 6, "new": 3, "duplicate": 0, "replaced": 0, "rejected": 3, "rounded": 0,
    }  # fmt: skip
    fulfilled, cancelled = any_instant("2026-03-04T07:00:00Z"), any_instant("2026-03-03T08:00:00Z")
    ada, grace, kim = (keyed(f"{name}@mail.example") for name in ("ada.byron", "grace", "kim"))
    assert stored(warehouse) == [
        ("5001", ORDERED, fulfilled + 3800, 7990, 3800, 1289, '[["GLOW10",1289,""]]', 0, "v-ada", ada, ""),
        ("5002", ORDERED, cancelled, 7990, 7990, 0, "[]", 1, "", grace, ""),
        ("5004", ORDERED, ORDERED + 3_000_000, 9200, 0, 500, '[["A",0,""],["B",0,""]]', 0, "", kim, ""),
    ]  # fmt: skip
    reasons = dict(warehouse.reasons())
    assert list(reasons.values()) == [
        "currency: 'USD' is not the shop's currency (EUR)",
        "Id: '5.55E+12' is not the number of an order; a spreadsheet shortens such numbers: import the "
        "file as Shopify exported it",
        "Total: 'many' is not a number",
    ]
    # An attribute of the first order spans two lines of the file.
    assert list(reasons) == [9, 10, 11]


def test_nothing_personal_is_kept(sqlite_warehouse: Warehouse) -> None:
    sqlite_warehouse.take_file("orders", SAMPLE, SHOP)
    broken = lines()[0] | {"Total": "x", "Note Attributes": "gift: to Charles\nvisitor_id: v 1"}
    take(sqlite_warehouse, [broken])
    kept = [
        row["text"]
        for row in sqlite_warehouse.records("SELECT text FROM reject ORDER BY reject_id")
    ]
    for personal in ("Ada", "James", "7946", "@", "ring", "Charles", "gift"):
        assert personal not in "".join(kept)
    assert json.loads(kept[-1])["Note Attributes"] == "v 1"
    assert json.loads(kept[0])["Email"] == marked("far@mail.example")


def test_it_is_the_order_of_the_api(sqlite_warehouse: Warehouse) -> None:
    sqlite_warehouse.take_file("orders", SAMPLES / "shopify.json", SHOP)
    counts = sqlite_warehouse.take_file("orders", SAMPLE, SHOP)
    # The same orders: two versions that do not stand, and one that says all that the API says.
    assert (counts["new"], counts["replaced"], counts["duplicate"]) == (0, 0, 3)


def test_a_later_refund_makes_a_later_version(sqlite_warehouse: Warehouse) -> None:
    order = lines()[0]
    for amount in ("50.00", "0.00", "38.00", ""):
        take(sqlite_warehouse, [order | {"Refunded Amount": amount}])
    last = stored(sqlite_warehouse)[-1]
    assert (last[0], last[4]) == ("5001", 5000)
    assert len(stored(sqlite_warehouse)) == 3  # "0.00" is as good as nothing


def test_lines_of_an_order_at_the_end_of_a_chunk(
    sqlite_warehouse: Warehouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(csv_files, "CHUNK_ROWS", 2)
    assert sqlite_warehouse.take_file("orders", SAMPLE, SHOP)["read"] == 6


def test_two_orders_of_one_name(sqlite_warehouse: Warehouse) -> None:
    order = lines()[0]
    assert take(sqlite_warehouse, [order, order | {"Id": "7"}])["new"] == 2


def test_as_a_spreadsheet_saves_it(sqlite_warehouse: Warehouse) -> None:
    order = lines()[0] | {
        "Total": "1.079,90", "Discount Amount": "12,89", "Refunded Amount": "0", "Fulfilled at": "",
        "Created at": "31.03.2026 10:15", "Paid at": "31.03.2026 10:16",
    }  # fmt: skip
    assert take(sqlite_warehouse, [order], delimiter=";")["new"] == 1
    assert stored(sqlite_warehouse)[0][:4] == (
        "5001", any_instant("2026-03-31T10:15Z"), any_instant("2026-03-31T10:16Z"), 107_990,
    )  # fmt: skip
    us = order | {
        "Total": "5.00",
        "Discount Amount": "1.5",
        "Created at": "3/4/2026 1:05 PM",
        "Paid at": "",
    }
    with pytest.raises(UnreadableFile, match="--dates"):
        take(sqlite_warehouse, [us])
    assert take(sqlite_warehouse, [us | {"Id": "8"}], dates="mdy")["new"] == 1
    assert stored(sqlite_warehouse)[-1][1] == any_instant("2026-03-04T13:05Z")


def test_columns_that_are_missing(sqlite_warehouse: Warehouse) -> None:
    order = {name: value for name, value in lines()[0].items() if name != "Id"}
    with pytest.raises(UnreadableFile, match="columns missing: Id; the file has: Name, Email, "):
        take(sqlite_warehouse, [order])


@pytest.mark.parametrize("column", ["Paid at", "Fulfilled at", "Cancelled at"])
def test_a_date_that_cannot_be_read(sqlite_warehouse: Warehouse, column: str) -> None:
    take(sqlite_warehouse, [lines()[0] | {column: "yesterday"}])
    ((_, reason),) = sqlite_warehouse.reasons()
    is_kept = reason.startswith("kept without ")
    assert is_kept == (column != "Created at")
    assert f"{column}: 'yesterday' is not an ISO 8601 time" in reason
