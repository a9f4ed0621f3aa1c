"""Ad spend: one row per shop, provider, account, campaign, day and segment, as imported last."""

from typing import Final

from jobs.importing import cells
from jobs.importing.rows import Field
from jobs.importing.upserts import Upsert
from warehouse.tables import ad_spend

FIELDS: Final = (
    Field("shop_id", cells.identifier),
    Field("provider", cells.lowered),
    Field("account_id", cells.identifier, ""),
    Field("campaign_id", cells.identifier),
    Field("date", cells.day),
    Field("segment", cells.identifier, ""),
    Field("campaign_name", cells.name),
    Field("currency", cells.currency),
    # Platforms give money back: a day's spend can be negative.
    Field("spend", cells.decimal),
    Field("impressions", cells.count),
    Field("clicks", cells.count),
)

WAY: Final = Upsert(
    ad_spend,
    ("shop_key", "provider", "account_id", "campaign_id", "day", "segment",
     "campaign_name", "currency", "spend", "impressions", "clicks"),
    keys=6,
)
