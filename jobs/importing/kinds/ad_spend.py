"""Ad spend, which platforms restate for weeks."""

from typing import ClassVar, Final

from jobs.importing import cells
from jobs.importing.rows import Field, names_of
from jobs.importing.standing import Standing
from jobs.importing.upserts import Upsert
from warehouse.tables import ad_spend

_FIELDS: Final = (
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


class AdSpend(Standing):
    """One row per shop, provider, account, campaign, day and segment, as it was imported last."""

    name = "ad-spend"
    reads = _FIELDS
    fields: ClassVar = ("shop_id", *names_of(_FIELDS))
    way = Upsert(
        ad_spend,
        (
            "shop_key",
            "provider",
            "account_id",
            "campaign_id",
            "day",
            "segment",
            "campaign_name",
            "currency",
            "spend",
            "impressions",
            "clicks",
        ),
        keys=6,
    )
