"""Ad spend, ad accounts and exchange rates: the last import wins; answers read them directly."""

from typing import Final

from sqlalchemy import Table

from warehouse.tables.base import index, integer, key, metadata, text, text_key

ad_spend: Final = Table(
    "ad_spend",
    metadata,
    key("shop_key"),
    text_key("provider"),
    text_key("account_id"),
    text_key("campaign_id"),
    key("day"),
    text_key("segment"),
    text("campaign_name"),
    text("currency"),
    # A decimal in major units, as text: no digit is lost on SQLite.
    text("spend"),
    integer("impressions"),
    integer("clicks"),
    # The conversions that the platform claims, and their value in major units of `currency`; in no answer.
    # Decimals as text, "" without a claim: platforms share a conversion out, so it may be a fraction.
    text("reported_conversions"),
    text("reported_value"),
    # In the order of grouping, so that SQLite does not sort to group.
    index("shop_key", "provider", "campaign_id", "currency", "day"),
)

ad_account: Final = Table(
    "ad_account",
    metadata,
    key("shop_key"),
    text_key("provider"),
    text_key("account_id"),
    text("status"),
    integer("synced_at"),
    text("message"),
)

exchange_rate: Final = Table(
    "exchange_rate",
    metadata,
    text_key("base"),
    text_key("quote"),
    key("day"),
    text("rate"),
)
