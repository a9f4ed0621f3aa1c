"""The table of orders that Shopify's admin exports."""

import csv
import io
import json
import os
import re
from pathlib import Path
from typing import Any, Final

import pytest
from openpyxl import Workbook

from jobs.importing.files import csv as csv_files
from jobs.importing.files.chunk import UnreadableFile
from jobs.importing.rejects import retry_rejects
from jobs.importing.values.times import any_instant
from tests.support.hashing import keyed, marked
from tests.support.import_files import SAMPLES
from tests.support.job_commands import Commands
from tests.support.product import Product
from tests.support.warehouse import Warehouse
from warehouse.connections.arrow import open_arrow

SAMPLE: Final = SAMPLES / "shopify-csv.csv"
SHOP: Final = "a.example"
COLUMNS: Final = (
    "order_id, created_at, updated_at, gross, refunded, discounted, codes, cancelled, visitor_id, "
    "email_sha256, customer_id"
)
ORDERED: Final = any_instant("2026-03-02T09:15:00Z")
EXPORTED: Final = any_instant("2026-03-06T00:00:00Z")
DAY: Final = 86_400_000_000


def lines() -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(SAMPLE.read_text())))


def exported(folder: Path, rows: list[dict[str, str]], delimiter: str = ",") -> Path:
    path = folder / "orders_export.csv"
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]), delimiter=delimiter)
        writer.writeheader()
        writer.writerows(rows)
    return path


def take(
    warehouse: Warehouse, rows: list[dict[str, str]], delimiter: str = ",", **options: Any
) -> dict[str, int]:
    return warehouse.take_file(
        "orders", exported(warehouse.folder, rows, delimiter), SHOP, **options
    )


def stored(warehouse: Warehouse) -> list[tuple[Any, ...]]:
    found = warehouse.records(f"SELECT {COLUMNS} FROM raw_order ORDER BY order_id, updated_at")
    return [tuple(row.values()) for row in found]


def test_every_column(warehouse: Warehouse) -> None:
    counts = warehouse.take_file("orders", SAMPLE, SHOP, exported_at=EXPORTED)
    assert counts == {
        "read": 6, "new": 3, "duplicate": 0, "replaced": 0, "rejected": 3, "rounded": 0,
    }  # fmt: skip
    ada, grace, kim = (keyed(f"{name}@mail.example") for name in ("ada.byron", "grace", "kim"))
    assert stored(warehouse) == [
        ("5001", ORDERED, EXPORTED, 7990, 3800, 1289, '[["GLOW10",1289,""]]', 0, "v-ada", ada, ""),
        ("5002", ORDERED, EXPORTED, 7990, 7990, 0, "[]", 1, "", grace, ""),
        ("5004", ORDERED, EXPORTED, 9200, 0, 500, '[["A",0,""],["B",0,""]]', 0, "", kim, ""),
    ]  # fmt: skip
    refunds = warehouse.rows("SELECT refunds FROM raw_order WHERE order_id = '5001'")
    fulfilled = any_instant("2026-03-04T07:00:00Z")
    assert json.loads(refunds[0]) == [["refunded", fulfilled, 3800]]
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
    """A version of the time of the file, among those of the API: Ada's order changed after it."""
    sqlite_warehouse.take_file("orders", SAMPLES / "shopify.json", SHOP)
    counts = sqlite_warehouse.take_file("orders", SAMPLE, SHOP, exported_at=EXPORTED)
    assert (counts["new"], counts["replaced"], counts["duplicate"]) == (0, 2, 1)


def figures(warehouse: Warehouse) -> tuple[int, int]:
    """Gross and refunded of the only order."""
    stands = "ORDER BY updated_at DESC, precedence DESC, content DESC LIMIT 1"
    return warehouse.rows(f"SELECT gross, refunded FROM raw_order {stands}")[0]


def test_of_two_exports_the_later_one_stands(warehouse: Warehouse) -> None:
    """With a total that was edited, fewer refunds, and more; in any order of arrival."""
    versions = {
        1: {"Total": "79.90", "Refunded Amount": "38.00"},
        2: {"Total": "60.00", "Refunded Amount": "38.00"},
        3: {"Total": "60.00", "Refunded Amount": "0.00"},
        4: {"Total": "60.00", "Refunded Amount": "50.00"},
    }
    stood = []
    for day in (2, 1, 4, 3):
        take(warehouse, [lines()[0] | versions[day]], exported_at=EXPORTED + day * DAY)
        stood.append(figures(warehouse))
    assert stood == [(6000, 3800)] * 2 + [(6000, 5000)] * 2


def test_the_time_of_the_file_is_that_of_the_export(sqlite_warehouse: Warehouse) -> None:
    path = exported(sqlite_warehouse.folder, lines()[:1])
    os.utime(path, (EXPORTED / 1e6, EXPORTED / 1e6))
    assert sqlite_warehouse.take_file("orders", path, SHOP)["new"] == 1
    assert stored(sqlite_warehouse)[0][2] == EXPORTED
    # The same file again, and a copy, which has another time.
    for at in (EXPORTED, EXPORTED + DAY):
        os.utime(path, (at / 1e6, at / 1e6))
        assert sqlite_warehouse.take_file("orders", path, SHOP)["duplicate"] == 1
    path = exported(sqlite_warehouse.folder, [lines()[0] | {"Total": "60.00"}])
    os.utime(path, (EXPORTED / 1e6 + 1, EXPORTED / 1e6 + 1))
    assert sqlite_warehouse.take_file("orders", path, SHOP)["duplicate"] == 1
    assert figures(sqlite_warehouse) == (7990, 3800)


def test_the_time_of_a_spreadsheet_is_its_own(sqlite_warehouse: Warehouse) -> None:
    """Not that of the table which is read from it."""
    book = Workbook()
    for cells in (list(lines()[0]), list(lines()[0].values())):
        book.active.append(cells)
    path = sqlite_warehouse.folder / "orders_export.xlsx"
    book.save(path)
    os.utime(path, (EXPORTED / 1e6, EXPORTED / 1e6))
    assert sqlite_warehouse.take_file("orders", path, SHOP)["new"] == 1
    assert stored(sqlite_warehouse)[0][2] == EXPORTED


@pytest.mark.parametrize(
    ("at", "wrong"),
    [
        (0, "'1970-01-01T00:00:00+00:00' is before 2000 or after 2100"),
        (4e9, "'2096-10-02T07:06:40+00:00' is more than a day ahead"),
    ],
)
def test_a_time_that_no_export_has(sqlite_warehouse: Warehouse, at: float, wrong: str) -> None:
    path = exported(sqlite_warehouse.folder, lines()[:1])
    os.utime(path, (at, at))
    with pytest.raises(UnreadableFile, match=f"{re.escape(wrong)}: say .*--exported-at"):
        sqlite_warehouse.take_file("orders", path, SHOP)
    assert sqlite_warehouse.take_file("orders", path, SHOP, exported_at=EXPORTED)["new"] == 1


def test_a_reject_keeps_the_time_of_its_file(sqlite_warehouse: Warehouse) -> None:
    """It is tried again long after, and does not stand over a later export."""
    odd = lines()[0] | {"Currency": "USD"}
    take(sqlite_warehouse, [odd], exported_at=EXPORTED)
    sqlite_warehouse.change("UPDATE reject SET text = REPLACE(text, 'USD', 'EUR')")
    take(sqlite_warehouse, [lines()[0] | {"Total": "60.00"}], exported_at=EXPORTED + DAY)
    with open_arrow(sqlite_warehouse.url) as connection:
        assert retry_rejects(connection).duplicate == 1
    assert [row[2] for row in stored(sqlite_warehouse)] == [EXPORTED, EXPORTED + DAY]
    assert figures(sqlite_warehouse) == (6000, 3800)


def test_an_undo_has_the_export_before_stand_again(product: Product, tmp_path: Path) -> None:
    product.load("shops", [{"shop_id": SHOP, "currency": "EUR"}])
    imports = []
    for total, at in (("79.90", 1), ("60.00", 2), ("79.90", 3)):
        path = exported(tmp_path, [lines()[0] | {"Total": total, "Refunded Amount": ""}])
        os.utime(path, (EXPORTED / 1e6 + at, EXPORTED / 1e6 + at))
        product.take("orders", [path])
        imports.append(product.last_import())
    window = {"range": "2026-03-01..2026-03-31"}
    stood = []
    for last in (None, *reversed(imports)):
        if last:
            product.undo(last)
        product.rollup()
        _, body = product.get("/v1/attribution", window, SHOP)
        stood.append(sum(row["grossRevenueCents"] for row in body["data"]))
    assert stood == [7990, 6000, 7990, 0]


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
    first = stored(sqlite_warehouse)[0]
    assert (first[1], first[3]) == (any_instant("2026-03-31T10:15Z"), 107_990)
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


@pytest.mark.parametrize("column", ["Paid at", "Fulfilled at"])
def test_a_date_of_a_refund_that_cannot_be_read(sqlite_warehouse: Warehouse, column: str) -> None:
    """The others date it."""
    order = lines()[0] | {"Paid at": "", "Fulfilled at": "", column: "yesterday"}
    assert take(sqlite_warehouse, [order])["new"] == 1
    (refunds,) = sqlite_warehouse.rows("SELECT refunds FROM raw_order")
    assert json.loads(refunds) == [["refunded", ORDERED, 3800]]


def edited(folder: Path, total: str) -> bytes:
    return exported(folder, [lines()[0] | {"Total": total, "Refunded Amount": ""}]).read_bytes()


def test_another_time_is_said(sqlite_commands: Commands, tmp_path: Path) -> None:
    commands = sqlite_commands
    commands.take("shops", [{"shop_id": SHOP, "currency": "EUR"}])
    file = exported(tmp_path, lines()[:1])
    commands("import", "orders", str(file), "--exported-at", "2026-03-06")
    assert commands.rows("SELECT exported_at FROM raw_order") == [EXPORTED]
    wrong = commands("import", "orders", str(file), "--exported-at", "yesterday", status=2)
    assert "'yesterday' is not an ISO 8601 time; an example is 2026-01-31T23:59:59Z" in wrong
    own = tmp_path / "own.ndjson"
    own.write_text('{"shop_id": "a.example"}')
    for other, because in (
        (own, "rows of this program name it in exported_at"),
        (SAMPLES / "shopify.json", "those of shopify have versions of their own"),
    ):
        refused = commands("import", "orders", str(other), "--exported-at", "2026-03-06", status=1)
        assert f"--exported-at is for files of shopify-csv; {because}" in refused


def test_the_time_of_a_landed_file_is_when_it_came(sqlite_commands: Commands) -> None:
    """Whatever time a copy has kept."""
    commands = sqlite_commands
    commands.take("shops", [{"shop_id": SHOP, "currency": "EUR"}])
    for total in ("79.90", "60.00"):
        content = edited(commands.landing.parent, total)
        landed = commands.land(f"orders/shopify-csv/{SHOP}", f"{total}.csv", content)
        at = EXPORTED / 1e6 + float(total)
        os.utime(landed, (at, at))
        commands("landing")
    assert commands.rows("SELECT gross FROM raw_order ORDER BY updated_at") == [7990, 6000]


def test_a_date_that_cannot_be_read(sqlite_warehouse: Warehouse) -> None:
    take(sqlite_warehouse, [lines()[0] | {"Cancelled at": "yesterday"}])
    ((_, reason),) = sqlite_warehouse.reasons()
    assert reason.startswith("kept without cancelled_at: ")
    assert "'yesterday' is not an ISO 8601 time" in reason
