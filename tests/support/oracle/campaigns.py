"""Ad spend rows and the campaign of a UTM: contract sections 2 (ad-spend) and 3."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date
from fractions import Fraction

from tests.support.oracle.records import UTM, Row, last_import_wins, present

SOURCES = {
    "meta": ("meta", "facebook", "fb", "instagram", "ig"),
    "google": ("google", "adwords", "googleads", "youtube"),
    "tiktok": ("tiktok",),
    "microsoft": ("microsoft", "bing"),
    "pinterest": ("pinterest",),
    "snapchat": ("snapchat",),
}

Campaign = tuple[str, str]
"""Provider and campaign id."""


@dataclass(frozen=True)
class Spend:
    campaign: Campaign
    name: str
    day: date
    currency: str
    spend: Fraction
    impressions: int
    clicks: int


def spend_of(rows: Iterable[Row]) -> list[Spend]:
    """Section 2: "One row per shop, provider, account, campaign, date and `segment`; the last
    import wins"; "finer rows add up, they never replace each other"; "`provider` is lower-case"."""
    lowered = [{**row, "provider": row["provider"].lower()} for row in rows]
    standing = last_import_wins(lowered, "provider", "account_id", "campaign_id", "date", "segment")
    return [
        Spend(
            campaign=(row["provider"], row["campaign_id"]),
            name=present(row, "campaign_name", 1000) or "",
            day=date.fromisoformat(row["date"]),
            currency=row["currency"],
            spend=Fraction(str(row["spend"])),
            impressions=row["impressions"],
            clicks=row["clicks"],
        )
        for row in standing
    ]


def is_source(utm_source: str, provider: str) -> bool:
    """Section 3: "a provider whose sources include `utm_source` (case-insensitive)"."""
    return utm_source.lower() in SOURCES.get(provider, (provider,))


def campaign_of(utm: tuple[str, ...], spend: Iterable[Spend]) -> Campaign | None:
    """Section 3: "Of those, the campaign whose `campaign_id` equals `utm_id`, else whose
    `campaign_id` equals `utm_campaign`, else which ever had a `campaign_name` equal to
    `utm_campaign` case-insensitively (several: the smallest `campaign_id`)"."""
    value = dict(zip(UTM, utm, strict=True))
    of_source = [row for row in spend if is_source(value["utm_source"], row.campaign[0])]
    name = value["utm_campaign"].lower()
    for matching in (
        [row.campaign for row in of_source if row.campaign[1] == value["utm_id"]],
        [row.campaign for row in of_source if row.campaign[1] == value["utm_campaign"]],
        [row.campaign for row in of_source if name and row.name.lower() == name],
    ):
        if matching:
            return min(matching, key=lambda campaign: (campaign[1], campaign[0]))
    return None


def latest_name(campaign: Campaign, spend: Iterable[Spend]) -> str:
    """Section 4 (18): "`campaignName` is the latest by date"; of one date, the greatest."""
    return max((row.day, row.name) for row in spend if row.campaign == campaign)[1]
