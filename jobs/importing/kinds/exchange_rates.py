"""Exchange rates: one row per base, quote and day, as it was imported last."""

from typing import ClassVar

from jobs.importing.kinds.replace_last import ReplaceLast, Upsert
from jobs.importing.values.fields import CURRENCY_CODE, DAY, POSITIVE, Field
from warehouse.tables import exchange_rate


class ExchangeRatesKind(ReplaceLast):
    name = "exchange-rates"
    needs_shop = False
    fields: ClassVar = (
        Field("base", CURRENCY_CODE, "the currency of which one unit is priced", required=True),
        Field("quote", CURRENCY_CODE, "the currency of the price", required=True),
        Field("date", DAY, "the day of the rate", required=True),
        Field("rate", POSITIVE, "1 base = rate quote", required=True),
    )
    # A rate belongs to no shop: the answers of every shop may change.
    upsert = Upsert(exchange_rate, ("base", "quote", "day", "rate"), keys=3, touched="true")
