"""Ad spend, the state of the ad accounts, and exchange rates."""

import math
from collections.abc import Iterator
from datetime import date, datetime, timedelta
from typing import Any

from jobs.demo.cast import CAMPAIGNS, SHOP_ID
from jobs.demo.people import randomness

ACCOUNTS = {"meta": "act_5501", "google": "880-221-7", "tiktok": "tt_9907"}
_PRICE_OF_A_CLICK = {"meta": 0.85, "google": 1.2, "tiktok": 0.55}
_SEGMENTS = {"mobile": 0.7, "desktop": 0.3}


def ad_spend(day: date, elapsed: float) -> Iterator[dict[str, Any]]:
    """One row per campaign and segment; `elapsed` is the part of the day that has passed, 0 to 1."""
    chance = randomness("ads", day)
    for campaign in CAMPAIGNS:
        if not campaign.provider:
            continue
        for segment, share in _SEGMENTS.items():
            spend = campaign.budget * share * chance.uniform(0.8, 1.15) * elapsed
            clicks = spend / _PRICE_OF_A_CLICK[campaign.provider] * chance.uniform(0.85, 1.15)
            if campaign.runs(day) and spend >= 0.01:
                yield {
                    "shop_id": SHOP_ID,
                    "provider": campaign.provider,
                    "account_id": ACCOUNTS[campaign.provider],
                    "campaign_id": campaign.campaign_id,
                    "campaign_name": campaign.name,
                    "date": day.isoformat(),
                    "segment": segment,
                    "currency": campaign.currency,
                    "spend": f"{spend:.2f}",
                    "impressions": round(clicks * chance.uniform(55, 90)),
                    "clicks": round(clicks),
                }


def ad_accounts(now: datetime) -> Iterator[dict[str, Any]]:
    """Two accounts that are in order, and TikTok's, whose token has expired."""
    for provider, account in ACCOUNTS.items():
        failed = provider == "tiktok"
        yield {
            "shop_id": SHOP_ID,
            "provider": provider,
            "account_id": account,
            "status": "error" if failed else "ok",
            "synced_at": (now - timedelta(hours=30 if failed else 1)).isoformat(timespec="seconds"),
        } | ({"message": "The access token has expired."} if failed else {})


def exchange_rates(first: date, last: date) -> Iterator[list[str]]:
    """Rows of a CSV in the ECB's own form: the newest day first, no weekends, a column per currency."""
    yield ["Date", "USD", "JPY", "GBP", ""]
    for back in range((last - first).days + 1):
        day = last - timedelta(days=back)
        if day.weekday() < 5:
            drift = 0.03 * math.sin(day.toordinal() / 40) + randomness("rates", day).gauss(0, 0.002)
            rates = (1.11 * (1 + drift), 162.4 * (1 + drift / 2), 0.855 * (1 - drift / 3))
            yield [day.isoformat(), *(f"{rate:.4f}" for rate in rates), ""]
