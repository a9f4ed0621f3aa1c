"""Ad spend, which platforms restate for weeks."""

from typing import ClassVar, Final

import pyarrow as pa

from jobs.importing import cells
from jobs.importing.kind import Written
from jobs.importing.rows import Field, names_of
from jobs.importing.standing import Standing
from jobs.importing.upserts import STAGED, Upsert
from warehouse.bulk import Bulk
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

# What a campaign's day is counted as that has rows of different levels, which add up.
_MIXED: Final = "mixed_levels"
_DAY: Final = ("shop_key", "provider", "account_id", "campaign_id", "day")
# The level of a segment that formats compose (`adset=1/ad=2`): how many keys it has, and how the first
# is called. Texts of one's own are of one level with what has none; a hash does not tell.
_LEVEL: Final = (
    "CASE WHEN t.segment LIKE '%=%' THEN "
    "CAST(LENGTH(t.segment) - LENGTH(REPLACE(t.segment, '=', '')) AS TEXT) "
    "|| SUBSTR(t.segment, 1, 3) ELSE '' END"
)
_MIXED_DAYS: Final = (
    f"SELECT COUNT(*) FROM (SELECT 1 FROM (SELECT DISTINCT {', '.join(_DAY)} FROM {STAGED}) k "
    f"CROSS JOIN ad_spend t WHERE {' AND '.join(f't.{name} = k.{name}' for name in _DAY)} "
    f"AND t.segment NOT LIKE 'sha256=%' GROUP BY {', '.join(f'k.{name}' for name in _DAY)} "
    f"HAVING MIN({_LEVEL}) <> MAX({_LEVEL})) mixed"
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

    def write(self, bulk: Bulk, rows: pa.Table) -> Written:
        """As all standing rows, and count the days of campaigns that are at more than one level now."""
        written = super().write(bulk, rows)
        if written.new and (days := int(bulk.value(_MIXED_DAYS) or 0)):
            written.more[_MIXED] = days
        return written
