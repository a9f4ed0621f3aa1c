"""Files for the Data page: of each kind that it takes, and hostile ones."""

import csv
import gzip
import io
import json
import random
import zipfile
from datetime import date
from functools import cache
from pathlib import Path
from typing import Any, Final

from openpyxl import Workbook

from tests.support.import_files import as_ndjson, order

SAMPLES: Final = Path(__file__).parent / "samples"
SHEET: Final = "xl/worksheets/sheet1.xml"
_XML: Final = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"

_TYPES: Final = "[Content_Types].xml"
_SHARED: Final = (
    b'<Override PartName="/xl/sharedStrings.xml" ContentType="application/'
    b'vnd.openxmlformats-officedocument.spreadsheetml.sharedStrings+xml" />'
)


def sample(name: str) -> bytes:
    return (SAMPLES / name).read_bytes()


def spreadsheet(table: bytes) -> bytes:
    """A table of CSV as Excel has it: days and numbers are no texts, but for ids beyond its 15 digits."""
    book = Workbook()
    sheet = book.active
    assert sheet
    for row in csv.reader(io.StringIO(table.decode())):
        sheet.append([_cell(text) for text in row])
    file = io.BytesIO()
    book.save(file)
    return file.getvalue()


def _cell(text: str) -> Any:
    if text.isdigit() and len(text) > 15:
        return text
    for read in (date.fromisoformat, lambda one: float(one.replace(",", ""))):
        try:
            return read(text)
        except ValueError:
            pass
    return text or None


def with_sheet(sheet: bytes, texts: bytes = b"") -> bytes:
    """A spreadsheet whose first sheet is this, with these texts for cells to share."""
    file = io.BytesIO()
    with (
        zipfile.ZipFile(io.BytesIO(spreadsheet(b"a,b\n"))) as source,
        zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as target,
    ):
        parts = {name: source.read(name) for name in source.namelist()} | {SHEET: sheet}
        if texts:
            parts["xl/sharedStrings.xml"] = texts
            parts[_TYPES] = parts[_TYPES].replace(b"</Types>", _SHARED + b"</Types>")
        for name, part in parts.items():
            target.writestr(name, part)
    return file.getvalue()


def _entities() -> bytes:
    nested = "".join(f'<!ENTITY a{n} "{f"&a{n - 1};" * 10}">' for n in range(1, 10))
    return (
        f'<?xml version="1.0"?><!DOCTYPE x [<!ENTITY a0 "lol">{nested}]><worksheet xmlns="{_XML}">'
        '<sheetData><row r="1"><c r="A1" t="inlineStr"><is><t>&a9;</t></is></c></row></sheetData>'
        "</worksheet>"
    ).encode()


def _late_row() -> bytes:
    """A spreadsheet of two rows, of which the second one says that it is very far down."""
    cell = '<c r="A1"><v>1</v></c>'
    rows = f'<row r="1">{cell}</row><row r="999999999999">{cell}</row>'
    return with_sheet(
        f'<worksheet xmlns="{_XML}"><sheetData>{rows}</sheetData></worksheet>'.encode()
    )


def shared_text() -> bytes:
    """A spreadsheet of some kilobytes whose cells share one long text."""
    texts = f'<sst xmlns="{_XML}"><si><t>{"a" * 100_000}</t></si></sst>'
    row = "<row>" + '<c t="s"><v>0</v></c>' * 100 + "</row>"
    sheet = f'<worksheet xmlns="{_XML}"><sheetData>{row * 100}</sheetData></worksheet>'
    return with_sheet(sheet.encode(), texts.encode())


@cache
def hostile(megabytes: int = 100) -> dict[str, tuple[bytes, str]]:
    """Hostile files by name, each with words of the sentence that refuses it. Bombs unpack to `megabytes`."""
    noise = random.Random(1).randbytes(50_000)
    orders = sample("shopify-csv.csv")
    rows = [order(order_id="1"), order(order_id="2", shop_id="b.example")]
    unknown = [order(order_id="1"), order(order_id="2", shop_id="nobody.example")]
    blanks = f'<worksheet xmlns="{_XML}"><sheetData>'.encode() + b" " * (megabytes << 20)
    return {
        "bomb.csv.gz": (gzip.compress(b"0" * (megabytes << 20)), "more than 100 times its size"),
        "bomb.xlsx": (with_sheet(blanks), "which is too much; export it as CSV"),
        "late row.xlsx": (_late_row(), "more than 1,048,576 rows"),
        "entities.xlsx": (with_sheet(_entities()), "declares entities"),
        "cut.csv.gz": (gzip.compress(orders)[:-40], "the archive is truncated"),
        "cut.xlsx": (spreadsheet(orders)[:-400], "not readable as a spreadsheet, or cut short"),
        "cut.json": (sample("shopify.json")[:-400], "it cannot be read"),
        "of another shop.ndjson": (as_ndjson(rows), "line 2 is of another shop than this one"),
        "of no shop.ndjson": (as_ndjson(unknown), "line 2 is of another shop than this one"),
        "noise.csv": (noise, "none of the exports"),
        "noise.xlsx": (noise, "not readable as a spreadsheet"),
        "noise.parquet": (noise, "it is no Parquet file"),
        "noise.csv.gz": (noise, "the archive is damaged"),
        "wide.csv": (b",".join(b"c%d" % n for n in range(100_000)), "none of the exports"),
        "formulas.csv": (
            b"=HYPERLINK(1),@SUM(1),+1\n=cmd|' /C calc'!A0,2,3\n",
            "none of the exports",
        ),
        "customers_export.csv": (
            b"Customer ID,Email,Accepts Email Marketing,Total Spent\n1,a@mail.example,yes,1.00\n",
            "Shopify's list of customers",
        ),
        "shops.ndjson": (
            json.dumps({"shop_id": "evil.example", "currency": "EUR", "timezone": "UTC"}).encode(),
            "a list of shops",
        ),
        "rates.csv": (b"base,quote,date,rate\nEUR,USD,2026-01-01,1.1\n", "exchange rates"),
        "dates.csv": (
            b"shop_id,order_id,created_at,total_cents\na.example,1,02/01/2026,100\n",
            "which of them is meant; write its dates as 2026-01-31, by the settings of the export or in the "
            "spreadsheet, and drop the file again",
        ),
        "header.csv": (b"shop_id,order_id,created_at,total_cents\n", "it has no rows"),
    }
