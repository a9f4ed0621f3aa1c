"""Exchange rates: one row per base, quote and day; and the ECB's table of them, which has a column
for each currency."""

import json
from typing import Any, ClassVar, Final

import numpy as np

from jobs.importing import cells
from jobs.importing.portion import Portion
from jobs.importing.rows import Field, names_of
from jobs.importing.standing import Standing
from jobs.importing.upserts import Upsert
from warehouse.tables import exchange_rate

_FIELDS: Final = (
    Field("base", cells.currency_code),
    Field("quote", cells.currency_code),
    Field("date", cells.day),
    Field("rate", cells.positive),
)

_OWN: Final = ("base", "quote", "rate")
_ECB_BASE: Final = "EUR"
_ECB_NONE: Final = ("", "N/A")


class ExchangeRates(Standing):
    """One row per base, quote and day, as it was imported last."""

    name = "exchange-rates"
    reads = _FIELDS
    fields: ClassVar = names_of(_FIELDS)
    of_shop = False
    # A rate belongs to no shop: the answers of each may change.
    way = Upsert(exchange_rate, ("base", "quote", "day", "rate"), keys=3, touched="true")

    def reshape(self, portion: Portion) -> Portion:
        if "date" not in portion.columns or not portion.columns.keys().isdisjoint(_OWN):
            return portion
        quotes = [name for name in portion.columns if name not in ("date", "")]
        return _one_per_row(portion, quotes) if quotes else portion


def _one_per_row(portion: Portion, quotes: list[str]) -> Portion:
    """The ECB's table with a row for each rate that it states. A rate that is rejected is kept as
    such a row, which needs no header when it is tried again."""
    columns = portion.columns
    dates: list[Any] = list(columns["date"])
    rates = zip(*(columns[quote] for quote in quotes), strict=True)
    found = [
        (line, {"date": date, "base": _ECB_BASE, "quote": quote, "rate": rate})
        for line, date, of_day in zip(portion.lines.tolist(), dates, rates, strict=True)
        for quote, rate in zip(quotes, of_day, strict=True)
        if rate is not None and rate.strip() not in _ECB_NONE
    ]
    return Portion(
        {field.name: [row[field.name] for _, row in found] for field in _FIELDS},
        np.array([line for line, _ in found], dtype=np.int64),
        lambda place: json.dumps(found[place][1], ensure_ascii=False),
        textual=True,
        broken=portion.broken,
        position=portion.position,
    )
