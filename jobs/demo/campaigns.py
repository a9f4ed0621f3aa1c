"""The campaigns that visitors come from: their UTM values, and the budgets of the paid ones."""

from dataclasses import dataclass
from datetime import date
from typing import Final


@dataclass(frozen=True)
class Campaign:
    """One source of visits.

    `weight` is its share of the visits (relative to the others); `quality` multiplies the chance of an
    order. A paid campaign has a provider, the provider's id for it, and a daily budget in `currency`.
    It runs in the first weeks of each period: `every` is (weeks of the period, weeks it runs).
    """

    utm: dict[str, str]
    weight: float
    quality: float
    provider: str = ""
    campaign_id: str = ""
    name: str = ""
    currency: str = ""
    budget: float = 0.0
    every: tuple[int, int] = (1, 1)

    def runs(self, day: date) -> bool:
        period, weeks_on = self.every
        return day.toordinal() // 7 % period < weeks_on


def _utm(source: str, medium: str, campaign: str = "", **more: str) -> dict[str, str]:
    values = {"utm_source": source, "utm_medium": medium, "utm_campaign": campaign}
    values |= {f"utm_{name}": value for name, value in more.items()}
    return {name: value for name, value in values.items() if value}


CAMPAIGNS: Final = (
    Campaign({}, 30, 1.0),
    Campaign(_utm("google", "organic"), 14, 1.1),
    Campaign(_utm("newsletter", "email", "weekly-letter"), 9, 1.9),
    Campaign(_utm("lumen-blog", "referral"), 3, 1.2),
    # Meta tags its links with the campaign's id.
    Campaign(
        _utm("facebook", "paid_social", "spring-glow", content="video-15s", id="238501"),
        11,
        0.9,
        *("meta", "238501", "Spring Glow | Prospecting", "USD", 32.0),
    ),
    Campaign(
        _utm("instagram", "paid_social", "retargeting", content="carousel", id="238502"),
        8,
        1.6,
        *("meta", "238502", "Retargeting | Visitors 30d", "USD", 24.0),
    ),
    Campaign(
        _utm("ig", "paid_social", "weekend-offer", content="story", id="238503"),
        10,
        1.2,
        *("meta", "238503", "Weekend offer", "USD", 40.0),
        every=(5, 2),
    ),
    # Google's links carry the campaign's name only.
    Campaign(
        _utm("google", "cpc", "brand - search", term="demo botanicals"),
        9,
        2.1,
        *("google", "71002001", "Brand - Search", "USD", 14.0),
    ),
    Campaign(
        _utm("google", "cpc", "generic - search", term="face serum"),
        8,
        0.8,
        *("google", "71002002", "Generic - Search", "USD", 45.0),
    ),
    Campaign(
        _utm("youtube", "video", "how-to videos", content="bumper"),
        5,
        0.6,
        *("google", "71002003", "How-to videos", "USD", 18.0),
        every=(4, 3),
    ),
    # TikTok's account bills in euros; its links carry the campaign's id in utm_campaign.
    Campaign(
        _utm("tiktok", "paid_social", "17990001", content="creator-mia"),
        10,
        0.7,
        *("tiktok", "17990001", "Creators Q", "EUR", 28.0),
    ),
    Campaign(
        _utm("tiktok", "paid_social", "17990002", content="spark"),
        7,
        0.5,
        *("tiktok", "17990002", "Spark ads", "EUR", 20.0),
        every=(3, 2),
    ),
    # A flat fee: no spend is imported, so its orders match no ad campaign.
    Campaign(_utm("meta", "paid_social", "partner-boost"), 1, 1.0),
)

PAID: Final = tuple(campaign for campaign in CAMPAIGNS if campaign.provider)
