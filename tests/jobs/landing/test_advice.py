"""Messages about files that are not recognised say what would help."""

import json
from zipfile import ZipFile

import pytest

from jobs.importing.formats import FORMATS
from tests.support.import_files import SAMPLES, order, written
from tests.support.job_commands import Commands

A = {"shop_id": "a.example", "currency": "EUR"}
B = {"shop_id": "b.example", "currency": "USD"}
ORDERS = str(SAMPLES / "shopify.json")


def test_columns_of_an_unknown_export(sqlite_commands: Commands) -> None:
    sqlite_commands.take("shops", [A])
    path = sqlite_commands.folder / "sales.csv"
    path.write_text("id;shop;created;total\n1;a;2026-01-01;2\n")
    said = sqlite_commands("import", "orders", str(path), status=1)
    assert (
        "not recognised; it has the columns id, shop, created, total. It comes nearest to " in said
    )
    assert (
        "lacks columns for: order_id, shop_id, created_at, total_cents. If another system" in said
    )
    assert "--format shopify, shopify-bulk or shopify-csv" in said
    assert "(in the landing folder: orders/FORMAT/)" in said
    assert sqlite_commands.rows("SELECT COUNT(*) FROM reject") == [0]
    said = sqlite_commands("import", "orders", str(path), "--shop", "a.example", status=1)
    assert "not recognised; " in said
    assert "--format shopify, " in said
    path.write_text("shop_id;order_id;created_at;total_cents\n")
    said = sqlite_commands("import", "orders", str(path), "--shop", "a.example", status=1)
    assert "--shop is for exports of other systems" in said
    # Own rows need no advice, and shops have no format.
    path.write_text("shop_id;name\n")
    assert "--format" not in sqlite_commands("import", "orders", str(path), status=1)
    path.write_text("name\n")
    assert "--format" not in sqlite_commands("import", "shops", str(path), status=1)


def test_an_extension_that_is_not_read(sqlite_commands: Commands) -> None:
    path = sqlite_commands.folder / "orders.json"
    path.write_text('[{"id": 1}]')
    said = sqlite_commands("import", "orders", str(path), status=1)
    assert "name it .ndjson or .jsonl (a row on each line), .csv" in said
    assert "--format shopify" in said
    written(path, [order()])
    said = sqlite_commands("import", "orders", str(path), status=1)
    assert "a row on each line" in said
    assert "--format" not in said


@pytest.mark.parametrize(
    ("content", "found"),
    [
        (b'{"state": 40105, "text": "expired"}', "it has state, text. "),
        (b'{"data": {"customers": {"nodes": []}}}', "it has customers. "),
        (b'{"orders": [{"id": 1,', "Its JSON is broken or cut short. "),
    ],
)
def test_json_of_no_known_system(sqlite_commands: Commands, content: bytes, found: str) -> None:
    path = sqlite_commands.folder / "orders.json"
    path.write_bytes(content)
    said = sqlite_commands("import", "orders", str(path), status=1)
    assert found + "If another system wrote it, name its format: --format shopify" in said


@pytest.mark.parametrize("name", ["orders.xlsx", "orders.csv"])
@pytest.mark.parametrize("options", [[], ["--format", "shopify-csv"]])
def test_a_spreadsheet(sqlite_commands: Commands, name: str, options: list[str]) -> None:
    path = sqlite_commands.folder / name
    with ZipFile(path, "w") as archive:
        archive.writestr("xl/workbook.xml", "<workbook/>")
    said = sqlite_commands("import", "orders", str(path), *options, status=1)
    assert "not readable as a spreadsheet, or cut short" in said


@pytest.mark.parametrize(
    ("sample", "format", "column", "fourth"),
    [
        ("meta-csv.csv", "meta-csv", "Amount spent (EUR)", "Campaign ID"),
        ("google-ads-csv.csv", "google-ads-csv", "Cost", "Customer ID"),
    ],
)
def test_a_column_that_a_page_export_lacks(
    sqlite_commands: Commands, sample: str, format: str, column: str, fourth: str
) -> None:
    sqlite_commands.take("shops", [A])
    path = sqlite_commands.folder / sample
    path.write_text((SAMPLES / sample).read_text().replace(f",{column}", ",Sum"))
    said = sqlite_commands("import", "ad-spend", str(path), status=1)
    *others, last = [name for name in FORMATS if FORMATS[name].kind == "ad-spend"]
    assert f"name its format: --format {', '.join(others)} or {last} (in the landing" in said
    # The header is found below the titles, although it lacks a column by which the format is recognised.
    said = sqlite_commands("import", "ad-spend", str(path), "--format", format, status=1)
    assert f"{sample}: no column says: spend; the file has: " in said
    assert f", {fourth}, " in said


def test_the_wrong_kind_or_format(sqlite_commands: Commands) -> None:
    sqlite_commands.take("shops", [A])
    said = sqlite_commands("import", "events", ORDERS, status=1)
    assert "looks like shopify (orders), not like events; import it as orders" in said
    assert "orders/shopify/)" in said
    own = str(written(sqlite_commands.folder / "own.ndjson", [order()]))
    said = sqlite_commands("import", "orders", own, "--format", "shopify", status=1)
    assert "import it without --format and --shop (in the landing folder: orders/)" in said


def test_the_shop_that_is_not_named(sqlite_commands: Commands) -> None:
    shops = [A, B, *({"shop_id": f"c{number}.example", "currency": "EUR"} for number in range(5))]
    sqlite_commands.take("shops", shops)
    said = sqlite_commands("import", "orders", ORDERS, status=2)
    listed = "a.example, b.example, c0.example, c1.example, c2.example and 2 more"
    assert "there are 7: name it with --shop ID" in said
    assert f"(in the landing folder: orders/shopify/ID/); the shops are {listed}\n" in said
    said = sqlite_commands("import", "orders", ORDERS, "--shop", "a", status=1)
    assert f"no shop 'a'; import it first (kind shops); the shops are {listed}" in said
    sqlite_commands.land("orders", "o.json", (SAMPLES / "shopify.json").read_bytes())
    sqlite_commands("landing", status=1)
    report = json.loads(next(sqlite_commands.landing.rglob("*.report.json")).read_text())
    assert report["error"].endswith("(in the landing folder: orders/shopify/ID/)")


def test_calls_about_something_else(sqlite_commands: Commands) -> None:
    sqlite_commands.take("shops", [A])
    call = {"type": "track", "event": "form_submit", "messageId": "1", "properties": {}}
    path = written(sqlite_commands.folder / "calls.ndjson", [call])
    said = sqlite_commands("import", "events", str(path), "--format", "segment")
    assert "nothing imported: all 1 records are about something else than events" in said
