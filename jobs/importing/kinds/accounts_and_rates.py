"""Ad accounts and exchange rates: of each key, the row that was imported last."""

from typing import ClassVar

import pyarrow as pa

from jobs.importing.kinds.replace_last import ReplaceLast, Upsert
from jobs.importing.shops import SHOP_ID
from jobs.importing.values.fields import (
    CURRENCY_CODE,
    DAY,
    ID,
    NAME,
    OLD_INSTANT,
    POSITIVE,
    PROVIDER,
    Field,
    FieldType,
)
from jobs.importing.values.texts import word_of
from warehouse.tables import ad_account, exchange_rate

STATUS = FieldType(
    "ok or error", word_of({"ok": "ok", "error": "error"}, any_case=True), arrow=pa.string()
)


class AdAccountsKind(ReplaceLast):
    """The result of the last pull of each account: one row per shop, provider and account."""

    name = "ad-accounts"
    fields: ClassVar = (
        SHOP_ID,
        Field("provider", PROVIDER, "meta, google, tiktok, ...", required=True),
        Field("account_id", ID, "the account, if there are several", decides=True),
        Field("status", STATUS, "how the last pull ended", required=True),
        Field("synced_at", OLD_INSTANT, "when it ended", required=True),
        Field("message", NAME, "the error, for people"),
    )
    upsert = Upsert(
        ad_account,
        ("shop_key", "provider", "account_id", "status", "synced_at", "message"),
        keys=3,
    )


class ExchangeRatesKind(ReplaceLast):
    """One row per base, quote and day."""

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
