"""Exchange rates: one row per base, quote and day; and the ECB's table of them, which has a column
for each currency."""

import json
from typing import Any, Final

import numpy as np

from jobs.importing import cells
from jobs.importing.portion import Portion
from jobs.importing.rows import Field
from jobs.importing.upserts import Upsert
from warehouse.tables import exchange_rate

FIELDS: Final = (
    Field("base", cells.currency_code),
    Field("quote", cells.currency_code),
    Field("date", cells.day),
    Field("rate", cells.positive),
)

# A rate belongs to no shop: the answers of each may change.
WAY: Final = Upsert(exchange_rate, ("base", "quote", "day", "rate"), keys=3, touched="true")

_ECB_BASE: Final = "EUR"
_ECB_NONE: Final = ("", "N/A")


def one_per_row(portion: Portion) -> Portion:
    """The portion itself or, of the ECB's table, one row per rate: a rate that is rejected is
    kept as a row that stands alone."""
    columns = portion.columns
    if "Date" not in columns or "rate" in columns:
        return portion
    quotes = [name for name in columns if name not in ("Date", "")]
    dates: list[Any] = list(columns["Date"])
    rates = list(zip(*(columns[quote] for quote in quotes), strict=True)) or [()] * len(dates)
    found = [
        (line, {"date": date, "base": _ECB_BASE, "quote": quote, "rate": rate})
        for line, date, of_day in zip(portion.lines.tolist(), dates, rates, strict=True)
        for quote, rate in zip(quotes, of_day, strict=True)
        if rate is not None and rate.strip() not in _ECB_NONE
    ]
    return Portion(
        {field.name: [row[field.name] for _, row in found] for field in FIELDS},
        np.array([line for line, _ in found], dtype=np.int64),
        lambda place: json.dumps(found[place][1], ensure_ascii=False),
        textual=True,
        broken=portion.broken,
        position=portion.position,
    )
