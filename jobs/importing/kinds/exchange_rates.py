"""Exchange rates: one row per base, quote and day."""

from typing import ClassVar, Final

from jobs.importing import cells
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


class ExchangeRates(Standing):
    """One row per base, quote and day, as it was imported last."""

    name = "exchange-rates"
    reads = _FIELDS
    fields: ClassVar = names_of(_FIELDS)
    of_shop = False
    # A rate belongs to no shop: the answers of each may change.
    way = Upsert(exchange_rate, ("base", "quote", "day", "rate"), keys=3, touched="true")
