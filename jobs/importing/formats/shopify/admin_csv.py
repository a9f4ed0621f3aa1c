"""Shopify's orders as the admin exports them: a table with several lines an order. See `admin_csv.md`."""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

from jobs.importing.files import csv
from jobs.importing.files.chunk import WantedColumns
from jobs.importing.formats.base import (
    EXPORTED_AT,
    ROUNDED,
    Format,
    Record,
    Records,
    Row,
    Sample,
    SourceField,
    Target,
)
from jobs.importing.formats.shopify.orders import VISITOR_ATTRIBUTES
from jobs.importing.values.errors import InvalidValue, quoted
from jobs.importing.values.notation import AS_SHOWN, NUMBER, TIME, Reading
from jobs.importing.values.times import recent_instant

_NAME: Final = "Name"
_NOTES: Final = "Note Attributes"
# Columns that no other table has together.
_SHOWN_BY: Final = {"name", "financial status", "created at", "lineitem name", "total"}
_REQUIRED: Final = ("Id", _NAME, "Created at", "Currency", "Total")
_DATED: Final = ("Created at", "Paid at", "Fulfilled at", "Cancelled at")
_NOTATIONS: Final = dict.fromkeys(_DATED, TIME) | dict.fromkeys(
    ("Total", "Discount Amount", "Refunded Amount"), NUMBER
)
# The export has one sum, and no refunds.
_REFUND_ID: Final = "refunded"


class ShopifyCsv(Format):
    """Orders whose first line alone has their totals."""

    name = "shopify-csv"
    title = "Shopify's export of orders"
    kind = "orders"
    counts = (ROUNDED,)
    dated_by_file = True
    reads_tables = True
    source_fields = (
        SourceField("Id", "order_id"),
        SourceField("Created at", "created_at"),
        SourceField(EXPORTED_AT, "exported_at"),
        SourceField("Cancelled at", "cancelled_at"),
        SourceField("Currency", "currency"),
        SourceField("Total", "total_cents"),
        SourceField("Discount Amount", "discount_cents"),
        SourceField("Discount Code", "discount_codes"),
        SourceField("Refunded Amount", "refunds"),
        SourceField("Paid at", "refunds"),
        SourceField("Fulfilled at", "refunds"),
        SourceField("Email", "email"),
        SourceField(_NOTES, "visitor_id"),
    )

    def matches(self, sample: Sample) -> bool:
        return any({name.lower() for name in names} >= _SHOWN_BY for names in sample.records)

    def lacks(self, names: Sequence[str]) -> list[str]:
        return [name for name in _REQUIRED if name not in names]

    def records(self, path: Path, reading: Reading = AS_SHOWN) -> Iterator[Records]:
        """The first line of each order. The lines of an order follow each other, with its name on each."""
        names = (*dict(self.source_fields), _NAME)
        wanted = WantedColumns(
            names,
            _REQUIRED,
            notation_of=lambda name: _NOTATIONS.get(name, ""),
            reading=reading,
        )
        before = None
        for part in csv.parts(path, wanted):
            orders = []
            for line, cells in part.records():
                record = {name: cells[name] for name in names if cells.get(name)}
                order = record.pop(_NAME, "")
                if order != before or "Total" in record:
                    if _NOTES in record:
                        # The visitor's id alone: other attributes may be people's own words.
                        pairs = [note.partition(":") for note in record[_NOTES].splitlines()]
                        found = {name.strip(): value.strip() for name, _, value in pairs}
                        visitors = filter(None, map(found.get, VISITOR_ATTRIBUTES))
                        record[_NOTES] = next(visitors, "")
                    orders.append((line, record))
                before = order
            yield Records(orders, part.broken, part.position)

    def row(self, record: Record, target: Target) -> Row:
        currency, order_id = record.get("Currency"), record.get("Id")

        def money(column: str) -> int | None:
            return target.minor(column, record.get(column), currency)

        refunded = target.if_usable("refunds", lambda: money("Refunded Amount"))
        refund: Row = {"refund_id": _REFUND_ID, "amount_cents": refunded}
        if order_id is not None and not str(order_id).isdecimal():
            raise InvalidValue(
                f"Id: {quoted(order_id)} is not the number of an order; a spreadsheet shortens such numbers: "
                "import the file as Shopify exported it"
            )
        # The last of the order's dates that can be read dates its refund.
        dates = {}
        for written in map(record.get, _DATED):
            with suppress(InvalidValue):
                dates[recent_instant(written)] = written
        refund["created_at"] = dates[max(dates)] if dates else None
        codes = str(record.get("Discount Code") or "").split(",")
        return {
            "order_id": order_id,
            "created_at": record.get("Created at"),
            "exported_at": record.get(EXPORTED_AT),
            "currency": currency,
            "total_cents": money("Total"),
            "discount_cents": target.if_usable("discount_cents", lambda: money("Discount Amount")),
            "discount_codes": [{"code": code.strip()} for code in codes if code.strip()],
            "refunds": [refund] if refunded else [],
            "cancelled_at": record.get("Cancelled at"),
            "email": record.get("Email"),
            "visitor_id": record.get(_NOTES),
        }
