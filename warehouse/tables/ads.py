"""Ad spend, ad accounts and exchange rates: the last import wins; answers read them directly."""

from typing import Final

from warehouse.columns import Index, Table, key, text, text_key, whole

ad_spend: Final = Table(
    "ad_spend",
    key("shop_key"),
    text_key("provider"),
    text_key("account_id"),
    text_key("campaign_id"),
    key("day"),
    text_key("segment"),
    text("campaign_name"),
    text("currency"),
    # Decimal major units; text on SQLite, so that no digit is lost.
    text("spend"),
    whole("impressions"),
    whole("clicks"),
    # In the order in which spend is added up, so that SQLite need not sort it for that.
    Index("shop_key", "provider", "campaign_id", "currency", "day"),
)

ad_account: Final = Table(
    "ad_account",
    key("shop_key"),
    text_key("provider"),
    text_key("account_id"),
    text("status"),
    whole("synced_at"),
    text("message"),
)

exchange_rate: Final = Table(
    "exchange_rate",
    text_key("base"),
    text_key("quote"),
    key("day"),
    text("rate"),
)
