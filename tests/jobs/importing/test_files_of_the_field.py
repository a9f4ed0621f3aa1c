"""Files of ad spend and others as people have them: their figures are those of their own system, or they are
refused in a sentence that says what to do.

One file for all ways in which a file goes wrong on its way here, by headings: each kind of file meets most of
them, and they share the helpers."""

import io
import json
import zipfile
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from openpyxl import Workbook

from jobs.importing.files import csv, ndjson
from jobs.importing.files.chunk import UnreadableFile
from tests.support.import_files import as_ndjson, event, order
from tests.support.job_commands import Commands
from tests.support.product import Product
from tests.support.warehouse import Warehouse

SHOP = "a.example"
DAY = 20_727  # 1 October 2026
KEPT = "Date,Platform,Campaign,Campaign ID,Currency,Cost,Impressions,Clicks\n"
OWN = "shop_id,provider,campaign_id,campaign_name,date,currency,spend,impressions,clicks\n"
PAGE = (
    "Campaign name,Campaign ID,Day,Impressions,Clicks (all),Amount spent (EUR),Reporting starts\n"
)
ORDERS = "order_id,shop_id,created_at,total_cents,customer_id\n"


def take(
    warehouse: Warehouse,
    content: Any,
    name: str = "in.csv",
    *,
    kind: str = "ad-spend",
    **options: str,
) -> dict[str, int]:
    path = warehouse.folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    shop = None if name.startswith("own") else SHOP
    return warehouse.take_file(kind, path, shop, **options)


def refused(
    warehouse: Warehouse, content: Any, name: str = "in.csv", kind: str = "ad-spend"
) -> str:
    """The words with which a file is refused; nothing of it is stored."""
    with pytest.raises(UnreadableFile) as told:
        take(warehouse, content, name, kind=kind)
    assert not warehouse.rows("SELECT * FROM ad_spend")
    assert not warehouse.rows("SELECT * FROM raw_order")
    assert not warehouse.rows("SELECT * FROM reject")
    return str(told.value)


def spends(warehouse: Warehouse) -> list[tuple[Any, ...]]:
    return warehouse.rows("SELECT provider, campaign_name, spend FROM ad_spend ORDER BY 1, 2, day")


# Whose it is.


@pytest.mark.parametrize("above", ["", "sep=;\n", "My spend\nof October\n\n", '"sep=;"\n'])
@pytest.mark.parametrize("day", ["Day", "Date", "Datum;Day"])
def test_the_column_decides_whose_spend_it_is(
    sqlite_warehouse: Warehouse, above: str, day: str
) -> None:
    first = "x;2026-10-01" if ";" in day else "2026-10-01"
    text = (
        f"{above}{day};Platform;Campaign;Campaign ID;Currency;Cost;Impr.;Clicks\n"
        f"{first};Facebook;Brand;c1;EUR;12,50;1000;10\n{first};TikTok Ads;Lens;c2;EUR;7,25;500;5\n"
    )
    assert take(sqlite_warehouse, text)["new"] == 2
    assert spends(sqlite_warehouse) == [("meta", "Brand", "12.5"), ("tiktok", "Lens", "7.25")]


@pytest.mark.parametrize("kind", ["orders", "ad-spend", "exchange-rates"])
def test_lines_above_a_table_of_this_program(sqlite_warehouse: Warehouse, kind: str) -> None:
    table = {
        "orders": f"{ORDERS}o1,a.example,2026-10-01T10:00:00Z,1000,\n",
        "ad-spend": f"{OWN}a.example,Meta,1,Brand,2026-10-01,EUR,1.5,1,1\n",
        "exchange-rates": "base,quote,date,rate\nEUR,USD,2026-10-01,1.1\n",
    }[kind]
    assert take(sqlite_warehouse, f"sep=,\n{table}", "own.csv", kind=kind)["new"] == 1


def test_a_table_that_nobody_s_page_wrote_is_nobody_s(sqlite_warehouse: Warehouse) -> None:
    """Only the names of its columns are those of Google's pages, or of Meta's."""
    for header in (
        "Day,Campaign,Currency,Cost,Impressions,Clicks",
        "Day,Campaign name,Currency,Amount spent,Impressions,Clicks",
        "Day,Campaign name,Currency,Cost,Impressions,Clicks",
    ):
        words = refused(sqlite_warehouse, f"{header}\n2026-10-01,Brand,EUR,1.5,10,1\n")
        assert "nearest to the format spend-csv, and lacks columns for: provider" in words
    text = "Day,Campaign,Currency,Cost,Impressions,Clicks\n2026-10-01,Brand,EUR,1.5,10,1\n"
    take(sqlite_warehouse, text, named="google-ads-csv")
    assert spends(sqlite_warehouse) == [("google", "Brand", "1.5")]


@pytest.mark.parametrize(
    ("text", "column"),
    [
        (
            "Campaign,Day,Currency code,Cost,Impr.,Clicks,Channel\nA,2026-10-01,EUR,1,1,1,TikTok\n",
            "Channel",
        ),
        (
            f"{PAGE.strip()},Platform\nA,1,2026-10-01,1,1,1.5,2026-10-01,facebook\n"
            "B,2,2026-10-01,1,1,1.5,2026-10-01,TikTok\n",
            "Platform",
        ),
        (
            "date_start,date_stop,account_currency,campaign_id,campaign_name,spend,impressions,clicks,provider\n"
            "2026-10-01,2026-10-01,EUR,1,A,1,1,1,LinkedIn\n",
            "provider",
        ),
    ],
)
def test_a_report_of_one_platform_with_rows_of_another(
    sqlite_warehouse: Warehouse, text: str, column: str
) -> None:
    assert f"{column} is '" in refused(sqlite_warehouse, text)


def test_own_names_of_columns_by_shop(sqlite_warehouse: Warehouse) -> None:
    header = OWN.removeprefix("shop_id,").strip()
    row = "Facebook,1,A,2026-10-01,EUR,1.5,1,1"
    text = f"{header},segment\n{row},ad=1\n{row},ad=2\n"
    assert take(sqlite_warehouse, text)["new"] == 2
    assert sqlite_warehouse.rows("SELECT segment FROM ad_spend ORDER BY 1") == ["ad=1", "ad=2"]


# Ids.

SHORT = [
    "1.2021E+17",
    "1,2021E+17",
    "1.2021e17",
    "1E+17",
    "120210000000010000",
    "120210000000010130.0",
]


@pytest.mark.parametrize("written", SHORT)
def test_campaigns_whose_ids_a_spreadsheet_has_cut(
    sqlite_warehouse: Warehouse, written: str
) -> None:
    cell = f'"{written}"'
    for text, name in (
        (
            f"{KEPT}2026-10-01,Facebook,A,{cell},EUR,100,1,1\n2026-10-01,Facebook,B,{cell},EUR,40,1,1\n",
            "in.csv",
        ),
        (f"{OWN}a.example,meta,{cell},A,2026-10-01,EUR,100,1,1\n", "own.csv"),
        (f"{PAGE}A,{cell},2026-10-01,1,1,100.5,2026-10-01\n", "in.csv"),
    ):
        words = refused(sqlite_warehouse, text, name)
        assert "campaign_id: " in words
        assert "export the file again" in words


@pytest.mark.parametrize(
    ("kind", "field"),
    [
        *(("orders", name) for name in ("order_id", "customer_id", "visitor_id")),
        *(("events", name) for name in ("event_id", "customer_id", "visitor_id", "discount_code")),
    ],
)
def test_other_ids(sqlite_warehouse: Warehouse, kind: str, field: str) -> None:
    row = order() if kind == "orders" else event(type="subscribe")
    for value in ("7.0123E+18", 7.012345678901234e18, "7012345678901230000"):
        content = json.dumps(row | {field: value})
        assert "export the file again" in refused(sqlite_warehouse, content, "own.ndjson", kind)


def test_files_of_the_collector_lose_the_row_alone(sqlite_warehouse: Warehouse) -> None:
    """They have the rows of all shops."""
    rows = [
        event(visitor_id="1.5E+20"),
        event(event_id="2"),
        event(event_id="3", visitor_id="1" + "0" * 18),
    ]
    name = "collected-20261001T000000Z-0123456789abcdef.ndjson"
    assert sqlite_warehouse.take("events", rows, name)["new"] == 2
    ((_, reason),) = sqlite_warehouse.reasons()
    assert reason.startswith("visitor_id: '1.5E+20' is no id any more")


@pytest.mark.parametrize("written", ["7012345678901.0", "7012345678901,0", "7012345678901.00"])
def test_whole_numbers_with_decimals_are_the_numbers(
    sqlite_warehouse: Warehouse, written: str
) -> None:
    text = f'{ORDERS}5001.0,a.example,2026-10-02T10:00:00Z,4000.0,"{written}"\n'
    take(
        sqlite_warehouse,
        f"{ORDERS}5001,a.example,2026-10-02T10:00:00Z,4000,\n",
        "own.csv",
        kind="orders",
    )
    take(sqlite_warehouse, text, "own.csv", kind="orders")
    found = sqlite_warehouse.rows("SELECT DISTINCT order_id FROM raw_order")
    assert found == ["5001"]
    assert "7012345678901" in sqlite_warehouse.rows("SELECT customer_id FROM raw_order")


def test_ids_that_only_look_like_numbers(sqlite_warehouse: Warehouse) -> None:
    ids = ["12e45", "1.2", "2026.10.01", "120210000000010137", "1202100000000100", "v1.0", "0.0.0"]
    rows = [f"a.example,meta,{one},{one},2026-10-01,EUR,1,1,1\n" for one in ids]
    assert take(sqlite_warehouse, OWN + "".join(rows), "own.csv")["new"] == len(ids)
    assert set(sqlite_warehouse.rows("SELECT campaign_id FROM ad_spend")) == set(ids)


def test_ids_of_parquet(sqlite_warehouse: Warehouse) -> None:
    row = {
        "shop_id": SHOP, "provider": "meta", "campaign_name": "A", "date": "2026-10-01", "currency": "EUR",
        "spend": "1.5", "impressions": 1, "clicks": 1,
    }  # fmt: skip
    path = sqlite_warehouse.folder / "own.parquet"
    for ids, kind in (([1.2021e17], pa.float64()), ([120210000000010000], pa.int64())):
        table = pa.Table.from_pylist([row]).append_column("campaign_id", pa.array(ids, kind))
        pq.write_table(table, path)
        assert "export the file again" in refused(
            sqlite_warehouse, path.read_bytes(), "own.parquet"
        )
    for number, (value, kind) in enumerate(((7.0, pa.float64()), (120210000000010137, pa.int64()))):
        table = pa.Table.from_pylist([row]).append_column("campaign_id", pa.array([value], kind))
        pq.write_table(table, path)
        assert sqlite_warehouse.take_file("ad-spend", path)["new"] == 1, number
    found = sqlite_warehouse.rows("SELECT campaign_id FROM ad_spend ORDER BY 1")
    assert found == ["120210000000010137", "7"]


def test_other_types_of_parquet(product: Product, tmp_path: Path) -> None:
    product.load("shops", [{"shop_id": SHOP, "currency": "EUR"}])
    times = [f"2026-10-01T{hour}:30:00" for hour in (19, 20, 21)]
    text = pa.array(times).cast(pa.timestamp("ns"))
    codes = pa.list_(pa.struct([("code", pa.string()), ("amount_cents", pa.int64())]))
    orders = {
        "order_id": pa.array(["b1", "b2", "b3"], pa.large_string()),
        "shop_id": pa.array([SHOP] * 3).dictionary_encode(),
        # 23:30 on the first day, 00:30 and 01:30 on the second.
        "created_at": pc.assume_timezone(text, "America/New_York"),
        "total_cents": pa.array([1000, 2000, 3000]).cast(pa.decimal128(20, 0)),
        "customer_id": pa.array([7012345678901.0, None, 7012345678901.0]),
        "discount_codes": pa.array([[{"code": "A1", "amount_cents": 100}], [], None], codes),
    }
    path = tmp_path / "own.parquet"
    pq.write_table(pa.table(orders), path)
    assert product.take("orders", [path])["new"] == 3
    spend = {
        "shop_id": [SHOP] * 2,
        "provider": pa.array(["Meta"] * 2).dictionary_encode(),
        "campaign_id": [120210000000010123, 120210000000010456],
        "campaign_name": ["A", "B"],
        "date": pa.array([DAY] * 2, pa.int32()).cast(pa.date32()),
        "currency": ["EUR"] * 2,
        "spend": pa.array(["12.34", "0.10"]).cast(pa.decimal128(20, 6)),
        "impressions": pa.array([1000.0, float("nan")]),
        "clicks": pa.array([10, 5], pa.int32()),
    }
    pq.write_table(pa.table(spend), path)
    assert product.take("ad-spend", [path], rejected=1)["new"] == 1
    product.rollup()
    assert gross_by_day(product) == {"2026-10-01": (1, 1000), "2026-10-02": (2, 5000)}
    ads = product.get("/v1/ads/spend", {"range": "2026-10-01..2026-10-02"}, SHOP)[1]["data"]
    (row,) = (row for row in ads["rows"] if row["provider"])
    shown = [row[name] for name in ("provider", "spend", "impressions", "clicks")]
    assert [str(one) for one in shown] == ["meta", "12.34", "1000", "10"]


def gross_by_day(product: Product) -> dict[str, tuple[int, int]]:
    """Orders and gross revenue of each day that has any."""
    path, window = "/v1/attribution/daily", {"range": "2026-10-01..2026-10-31"}
    sums: dict[str, tuple[int, int]] = {}
    for row in product.get(path, window, SHOP)[1]["data"]:
        if row["orders"]:
            orders, gross = sums.get(row["date"], (0, 0))
            more = row["orders"], row["grossRevenueCents"]
            sums[row["date"]] = orders + more[0], gross + more[1]
    return sums


@pytest.mark.parametrize(
    ("name", "members"),
    [
        ("in.json", [{"discount_codes": [{"code": code, "amount": "5.00"}]} for code in ("", None, " ")]),
        ("in.json", [{"email": "n/a"}, {"customer": {"id": None, "email": "walk-in"}}, {"updated_at": ""}]),
        ("in.json", [{"cancelled_at": "0000-00-00 00:00:00"}, {"landing_site": "/?utm_source=" + "y" * 300}]),
        ("own.ndjson", [{"discount_codes": codes} for codes in ([{"code": ""}], ["SAVE10"], "SAVE10")]),
    ],
)  # fmt: skip
def test_no_optional_member_costs_its_order(
    product: Product, tmp_path: Path, name: str, members: list[dict[str, Any]]
) -> None:
    product.load("shops", [{"shop_id": SHOP, "currency": "EUR"}])
    at = {"created_at": "2026-10-05T09:00:00Z", "currency": "EUR"}
    if name == "in.json":
        rows = [at | {"id": n, "total_price": "50.00"} | one for n, one in enumerate(members)]
        content = json.dumps({"orders": rows}).encode()
    else:
        own = at | {"shop_id": SHOP, "total_cents": 5000}
        content = as_ndjson([own | {"order_id": f"o{n}"} | one for n, one in enumerate(members)])
    path = tmp_path / name
    path.write_bytes(content)
    assert product.take("orders", [path])["new"] == len(members)
    product.rollup()
    assert gross_by_day(product) == {"2026-10-05": (len(members), 5000 * len(members))}


def test_two_names_of_one_campaign(sqlite_warehouse: Warehouse) -> None:
    rows = "2026-10-01,Facebook,A,17,EUR,100,1,1\n2026-10-01,Facebook,B,17,EUR,40,1,1\n"
    assert "by two names ('A' and 'B')" in refused(sqlite_warehouse, KEPT + rows)
    own = rows.replace("2026-10-01,Facebook,", "a.example,meta,17,").replace(
        ",17,EUR", ",2026-10-01,EUR"
    )
    assert "by two names ('A' and 'B')" in refused(sqlite_warehouse, OWN + own, "own.csv")


# Columns that are not read.


def test_rows_that_only_an_unread_column_tells_apart(sqlite_warehouse: Warehouse) -> None:
    row: dict[str, Any] = {
        "provider": "meta",
        "campaign_id": "1",
        "campaign_name": "A",
        "date": "2026-10-01",
        "currency": "EUR",
    }
    row |= {"spend": 1.5, "impressions": 1, "clicks": 1, "shop_id": SHOP}
    own = [row | {"keyword": "shoes"}, row | {"keyword": "boots", "spend": 2}]
    table = "2026-10-01,Google,A,1,EUR,60,1,1,shoes\n2026-10-01,Google,A,1,EUR,40,1,1,boots\n"
    meta: dict[str, Any] = {
        "account_id": "17", "account_currency": "EUR", "campaign_id": "1", "campaign_name": "A",
        "spend": "1", "impressions": "1", "clicks": "1",
        "date_start": "2026-10-01", "date_stop": "2026-10-01",
    }  # fmt: skip
    assets = [meta | {"body_asset": {"id": number}, "spend": number} for number in ("1", "2")]
    parquet = io.BytesIO()
    pq.write_table(
        pa.Table.from_pylist([{**one, "spend": str(one["spend"])} for one in own]), parquet
    )
    for content, name, column in (
        (KEPT.strip() + ",Keyword\n" + table, "in.csv", "Keyword"),
        (json.dumps({"data": assets}), "in.json", "body_asset"),
        ("\n".join(map(json.dumps, own)), "own.ndjson", "keyword"),
        (parquet.getvalue(), "own.parquet", "keyword"),
        (
            ",".join(own[0]) + "\n" + "\n".join(",".join(map(str, one.values())) for one in own),
            "own.csv",
            "keyword",
        ),
    ):
        assert f"(columns that are not read: {column})" in refused(sqlite_warehouse, content, name)
    # The same row twice is one; a program's own marks tell nothing.
    assert (
        take(
            sqlite_warehouse, KEPT + table.splitlines()[0][:-6] + "\n" + table.splitlines()[0][:-6]
        )["new"]
        == 1
    )
    twice = [row | {"campaign_id": "2", "_sdc_sequence": number} for number in (1, 2)]
    assert take(sqlite_warehouse, "\n".join(map(json.dumps, twice)), "own.ndjson")["new"] == 1


# Totals.


@pytest.mark.parametrize(
    "word", ["Total", "Grand total", "Gesamt", "Summe", "Subtotal", "Total: Account"]
)
def test_lines_of_totals_are_left_out(sqlite_warehouse: Warehouse, word: str) -> None:
    header = "Date,Platform,Campaign,Currency,Cost,Impressions,Clicks\n"
    rows = "2026-10-01,Google Ads,Brand,EUR,10,100,1\n2026-10-01,Meta,Shoes,EUR,20.5,200,2\n"
    total = (
        f"2026-10-01,Google Ads,{word},EUR,30.5,300,3\n2026-10-01,Meta,{word},EUR,20.5,200,2\n"
        f"{word},,,EUR,30.5,300,3\n,,,,30.5,300,3\n{word},Google Ads,All,EUR,30.5,300,3\n"
    )
    for text in (header + rows + total, header + total + rows):
        counts = take(sqlite_warehouse, text)
        assert (counts["read"], counts["rejected"], counts["totals"]) == (2, 0, 5)
    assert spends(sqlite_warehouse) == [("google", "Brand", "10"), ("meta", "Shoes", "20.5")]


def test_a_campaign_may_be_called_total(sqlite_warehouse: Warehouse) -> None:
    text = KEPT + (
        "2026-10-01,Google Ads,Brand,1,EUR,10,100,1\n2026-10-01,Google Ads,Total,2,EUR,12,100,1\n"
        "2026-10-01,Google Ads,Totally new,3,EUR,22,200,2\n"
    )
    assert "totals" not in take(sqlite_warehouse, text)
    assert [spend for *_, spend in spends(sqlite_warehouse)] == ["10", "12", "22"]


def test_totals_of_own_tables(sqlite_warehouse: Warehouse) -> None:
    rows = (
        "a.example,meta,1,A,2026-10-01,EUR,1.5,1,1\na.example,meta,t,Total,2026-10-01,EUR,1.5,1,1\n"
    )
    counts = take(sqlite_warehouse, OWN + rows, "own.csv")
    assert (counts["new"], counts["totals"]) == (1, 1)


# The wrapping.


def zipped(*entries: tuple[str, str]) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in entries:
            archive.writestr(name, text)
    return file.getvalue()


HIDDEN = (
    ("__MACOSX/._in.csv", "\0\5\26\7"),
    (".DS_Store", "\0"),
    ("a/._in.csv", "x"),
    ("Thumbs.db", "x"),
)
ONE, TWO = (f"2026-10-0{n},Meta,A,1,EUR,1.5,1,1\n" for n in (1, 2))


def test_zips_of_a_mac_and_of_several_parts(sqlite_warehouse: Warehouse) -> None:
    assert take(sqlite_warehouse, zipped(*HIDDEN, ("a/in.csv", KEPT + ONE)), "in.zip")["new"] == 1
    parts = [(f"part_{n}.csv", f"October\n{KEPT}{row}") for n, row in ((10, TWO), (2, ONE))]
    counts = take(sqlite_warehouse, zipped(*HIDDEN, *parts), "in.zip")
    assert (counts["read"], counts["new"], counts["duplicate"], counts["rejected"]) == (2, 1, 1, 0)
    rows = [f"{ORDERS}{n},a.example,2026-10-01T10:00:00Z,1000,\n" for n in (1, 2)]
    own = zipped(("1.csv", rows[0]), ("2.csv", rows[1]))
    assert take(sqlite_warehouse, own, "own.zip", kind="orders")["new"] == 2
    pages = [
        (f"{n}.json", json.dumps({"data": [row]}, indent=1))
        for n, row in enumerate(map(insight, "12"))
    ]
    assert take(sqlite_warehouse, zipped(*pages), "in.zip")["read"] == 2
    lines = [(f"{n}.ndjson", json.dumps(order(order_id=n))) for n in ("7", "8")]
    assert take(sqlite_warehouse, zipped(*lines), "own.zip", kind="orders")["new"] == 2


def insight(campaign: str) -> dict[str, str]:
    day = {
        "date_start": "2026-10-01",
        "date_stop": "2026-10-01",
        "account_currency": "EUR",
        "account_id": "1",
    }
    return day | {
        "campaign_id": campaign,
        "campaign_name": "A",
        "spend": "1",
        "impressions": "1",
        "clicks": "1",
    }


@pytest.mark.parametrize(
    ("entries", "words"),
    [
        (HIDDEN, "the zip has no file"),
        (
            (("1.csv", KEPT + ONE), ("2.csv", "a,b\n1,2\n")),
            "tables with different columns; unpack it",
        ),
        (
            (("1.csv", KEPT + ONE), ("2.json", "[]")),
            r"of several kinds, such as '1.csv' and '2.json'; unpack",
        ),
    ],
)
def test_zips_of_other_files(
    sqlite_warehouse: Warehouse, entries: tuple[tuple[str, str], ...], words: str
) -> None:
    with pytest.raises(UnreadableFile, match=words):
        take(sqlite_warehouse, zipped(*entries), "in.zip")


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_line_ends_of_an_old_mac(sqlite_warehouse: Warehouse, encoding: str) -> None:
    text = (
        (KEPT + ONE + TWO)
        .replace(",A,", ',"A\nä",')
        .replace("1\n2", "1\r2")
        .replace("Clicks\n", "Clicks\r")
    )
    assert take(sqlite_warehouse, text.encode(encoding))["new"] == 2
    assert {name for _, name, _ in spends(sqlite_warehouse)} == {"A\nä"}


def workbook(**sheets: str) -> bytes:
    book = Workbook()
    book.remove(book.worksheets[0])
    for title, table in sheets.items():
        sheet = book.create_sheet(title)
        for line in table.splitlines():
            sheet.append(
                [
                    float(cell) if cell.replace(".", "", 1).isdigit() else cell
                    for cell in line.split(",")
                ]
            )
    file = io.BytesIO()
    book.save(file)
    return file.getvalue()


def test_spreadsheets_by_command(sqlite_warehouse: Warehouse) -> None:
    assert take(sqlite_warehouse, workbook(Table=KEPT + ONE), "in.xlsx")["new"] == 1
    cover = "Spend of October\nby,whom\n"
    assert take(sqlite_warehouse, workbook(Cover=cover, Data=KEPT + TWO), "in.xlsx")["new"] == 1
    # A number of three decimals is one: its cell is no text.
    exact = KEPT + ONE.replace("1.5", "1.234").replace(",A,1,", ",B,2,")
    take(sqlite_warehouse, workbook(Data=exact), "in.xlsx")
    assert [spend for *_, spend in spends(sqlite_warehouse)] == ["1.5", "1.5", "1.234"]
    orders = f"{ORDERS}5001,a.example,2026-10-01T10:00:00Z,1000,7012345678901\n"
    take(sqlite_warehouse, workbook(Orders=orders), "own.xlsx", kind="orders")
    assert sqlite_warehouse.rows("SELECT order_id, customer_id FROM raw_order") == [
        ("5001", "7012345678901")
    ]


@pytest.mark.parametrize(
    ("sheets", "words"),
    [
        (
            {"October": KEPT + ONE, "November": KEPT + TWO},
            r"several sheets .*'October', 'November'.*save the sheet",
        ),
        ({"A": "a,b\n", "B": "c,d\n"}, "no sheet has a table that is known .'A', 'B'"),
        ({"A": KEPT + ONE.replace(",1,EUR", ",120210000000010137,EUR")}, "is no id any more"),
        ({"A": "a,b\n"}, "not recognised; it has the columns a, b"),
    ],
)
def test_spreadsheets_that_are_refused(
    sqlite_warehouse: Warehouse, sheets: dict[str, str], words: str
) -> None:
    with pytest.raises(UnreadableFile, match=words):
        take(sqlite_warehouse, workbook(**sheets), "in.xlsx")


# Refusals.


@pytest.mark.parametrize(
    ("header", "language"),
    [
        ("Nom de la campagne,Jour,Impressions,Clics (tous),Montant dépensé (EUR)", "French"),
        ("Campaña,Día,Código de moneda,Impr.,Clics,Coste", "Spanish"),
        ("Campagna,Giorno,Codice valuta,Impr.,Clic,Costo", "Italian"),
        ("Campagnenaam,Dag,Weergaven,Klikken (alle),Besteed bedrag (EUR)", "Dutch"),
        ("Nome da campanha,Dia,Impressões,Cliques (todos),Valor usado (BRL)", "Portuguese"),
    ],
)
def test_tables_in_other_languages(sqlite_warehouse: Warehouse, header: str, language: str) -> None:
    words = refused(sqlite_warehouse, f"{header}\n")
    assert f"it has the columns {header.split(',')[0]}, " in words
    assert f"They are {language}: set the platform's pages to English or German" in words


def test_reports_that_are_not_read(sqlite_warehouse: Warehouse) -> None:
    microsoft = (
        '"Report Name: Campaigns"\n"Report Time: 10/1/2026 - 10/2/2026"\n"Rows: 1"\n\n'
        '"Gregorian date","Account name",'
        '"Campaign name","Campaign ID","Currency code","Impressions","Clicks","Spend"\n'
        '"10/1/2026","Acme","Brand","349","EUR","1503","37","12.34"\n'
    )
    words = refused(sqlite_warehouse, microsoft)
    assert (
        "not recognised; it has the columns Gregorian date, Account name, Campaign name, " in words
    )
    assert (
        "It comes nearest to the format spend-csv, and lacks columns for: provider, date" in words
    )
    tracks = (
        "id,anonymous_id,user_id,event,timestamp,form_id,form_session_id\nm1,a1,,x,2026-10-27,f,s\n"
    )
    words = refused(sqlite_warehouse, tracks, kind="events")
    assert "not recognised; it has the columns id, anonymous_id, " in words
    assert "nearest to a table of this program's own events" in words
    assert "lacks columns for: event_id, shop_id, visitor_id, type, occurred_at" in words


def test_the_pages_of_tiktok(sqlite_warehouse: Warehouse) -> None:
    text = (
        "Campaign name,Campaign ID,By Day,Currency,Cost,CPC (destination),Impressions,Clicks (destination)\n"
        "Spring,1700000000000001,2026-10-01,EUR,12.34,0.33,1503,37\n"
        "Spring,1700000000000001,2026-10-02,EUR,1.00,0.50,100,2\n"
        "Total of 2 results,-,-,EUR,13.34,0.34,1603,39\n"
    )
    assert take(sqlite_warehouse, text)["new"] == 2
    assert spends(sqlite_warehouse) == [("tiktok", "Spring", "12.34"), ("tiktok", "Spring", "1")]


def test_rates_with_decimal_commas(sqlite_warehouse: Warehouse) -> None:
    text = "Date;USD;JPY;CZK\n30.10.2026;1,1000;160,00;24,953\n"
    path = sqlite_warehouse.folder / "rates.csv"
    path.write_text(text)
    assert sqlite_warehouse.take_file("exchange-rates", path)["new"] == 3
    rates = sqlite_warehouse.rows("SELECT quote, day, rate FROM exchange_rate ORDER BY quote")
    assert rates == [
        ("CZK", DAY + 29, "24.953"),
        ("JPY", DAY + 29, "160"),
        ("USD", DAY + 29, "1.1"),
    ]


def test_spellings_of_landing_pages(sqlite_warehouse: Warehouse) -> None:
    """As Google Analytics reads them."""
    pages = {
        "/?utm_source=news&amp;utm_medium=email&amp;utm_campaign=spring": ("news", ""),
        "/?UTM_Source=news&UTM_Campaign=spring": ("", ""),
        "/products/x?utm_source=news%26utm_campaign=spring": ("news&utm_campaign=spring", ""),
        "https://shop.example/?utm_source=facebook&utm_campaign=%7B%7Bx%7D%7D": (
            "facebook",
            "{{x}}",
        ),
        "/?utm_source=news+letter&utm_campaign=spring%20sale": ("news letter", "spring sale"),
        "/#utm_source=news&utm_campaign=hash": ("", ""),
        "/?ref=1;utm_source=news;utm_campaign=semi": ("", ""),
        "/?utm_source=news&utm_campaign=a?utm_campaign=b": ("news", "a?utm_campaign=b"),
    }
    at = {"created_at": "2026-10-05T09:00:00Z", "currency": "EUR", "total_price": "10.00"}
    orders = [at | {"id": n, "landing_site": page} for n, page in enumerate(pages, 1)]
    assert (
        take(sqlite_warehouse, json.dumps({"orders": orders}), "in.json", kind="orders")["new"] == 8
    )
    found = sqlite_warehouse.rows(
        "SELECT utm_source, utm_campaign FROM raw_order ORDER BY order_id"
    )
    assert found == list(pages.values())


def test_totals_that_are_no_totals(sqlite_warehouse: Warehouse) -> None:
    totals = ["-15.00", 0, 19.99, None, "1,234.50"]
    at = {"created_at": "2026-10-05T09:00:00Z", "currency": "EUR"}
    orders = [at | {"id": n, "total_price": total} for n, total in enumerate(totals, 1)]
    # A refund costs itself alone.
    paid = [{"kind": "refund", "status": "success", "amount": "-5.00"}]
    refund = {"id": 9, "created_at": "2026-10-06T09:00:00Z", "transactions": paid}
    orders.append(at | {"id": 6, "total_price": "19.99", "refunds": [refund]})
    counts = take(sqlite_warehouse, json.dumps({"orders": orders}), "in.json", kind="orders")
    assert (counts["new"], counts["rejected"], counts["incomplete"]) == (3, 3, 1)
    found = sqlite_warehouse.rows("SELECT gross, refunded FROM raw_order ORDER BY order_id")
    assert found == [(0, 0), (1999, 0), (1999, 0)]


def test_an_id_of_thousands_of_digits(sqlite_warehouse: Warehouse) -> None:
    content = json.dumps(order(customer_id="1" * 5_000 + ".0"))
    assert "export the file again" in refused(sqlite_warehouse, content, "own.ndjson", "orders")


def test_an_empty_part_of_a_zip_is_of_no_kind(sqlite_warehouse: Warehouse) -> None:
    row = json.dumps(order(shop_id=SHOP))
    for parts in (
        (("a", ""), ("b", row)),
        (("a.csv", f"{ORDERS}1,{SHOP},2026-10-01,500,"), ("b", "")),
    ):
        assert take(sqlite_warehouse, zipped(*parts), "own.zip", kind="orders")["new"] == 1
    with pytest.raises(UnreadableFile):
        take(sqlite_warehouse, zipped(("a.csv", "")), "own.zip", kind="orders")


def test_an_unclear_number_far_down_takes_back_what_came_before(
    sqlite_commands: Commands, monkeypatch: pytest.MonkeyPatch
) -> None:
    commands = sqlite_commands
    commands.take("shops", [{"shop_id": SHOP, "currency": "EUR"}])
    monkeypatch.setattr(csv, "CHUNK_ROWS", 2)
    monkeypatch.setattr(csv, "_LOOKED_AT", 2)
    file = commands.landing.parent / "in.csv"
    spends = ("1", "2", "3", '"1.250"')
    rows = [f"{SHOP},meta,{n},C{n},2026-10-01,EUR,{spend},5,5\n" for n, spend in enumerate(spends)]
    file.write_text(OWN + "".join(rows))
    said = commands("import", "ad-spend", str(file), status=1)
    assert "'1.250' can be" in said
    commands("rollup")
    assert commands.rows("SELECT COUNT(*) FROM ad_spend") == [0]


@pytest.mark.parametrize("kind", ["ad-spend", "orders"])
def test_what_came_before_a_refusal_is_taken_back(
    sqlite_commands: Commands, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file is read in chunks, and only a later one may show that its ids are lost."""
    commands = sqlite_commands
    commands.take("shops", [{"shop_id": SHOP, "currency": "EUR"}])
    for module in (csv, ndjson):
        monkeypatch.setattr(module, "CHUNK_ROWS", 2)
    file = commands.landing.parent / "in.csv"
    if kind == "ad-spend":
        rows = [f"{SHOP},meta,{n},C{n},2026-10-01,EUR,5,5,5\n" for n in (11, 12, "1.2021E+17")]
        file.write_text(OWN + "".join(rows))
    else:
        rows = [f"{n},{SHOP},2026-10-01,500,\n" for n in (11, 12, "1.2021E+17")]
        file.write_text(ORDERS + "".join(rows))
    said = commands("import", kind, str(file), status=1)
    assert "is no id any more" in said
    assert "2 rows before it were written, and the next rollup takes them back" in said
    commands("rollup")
    table = "ad_spend" if kind == "ad-spend" else "raw_order"
    assert commands.rows(f"SELECT COUNT(*) FROM {table}") == [0]
    assert commands.rows("SELECT state FROM import_file ORDER BY import_id") == ["done", "undone"]
