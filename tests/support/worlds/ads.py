"""Random ad spend, how its accounts were pulled, and exchange rates with gaps."""

from datetime import date, datetime, timedelta
from random import Random

from tests.support.worlds.cast import Cast, Row, chance, written

CAMPAIGNS = (
    ("meta", "c-100"),
    ("Meta", "c-100"),
    ("meta", "c-200"),
    ("meta", "c-300"),
    ("google", "c-100"),
    ("letters", "l-1"),
)
NAMES = {
    "c-100": ("Summer", "Sommer"),
    "c-200": ("SUMMER", "Winter"),
    "c-300": ("Brand", "Brand"),
    "l-1": ("Été", "été"),
}
CURRENCIES = ("EUR", "GBP", "CHF")
CENTRAL_BANK = tuple(("EUR", quote) for quote in ("USD", "INR", "JPY", "GBP", "CHF"))
RATES = (*CENTRAL_BANK, ("USD", "GBP"), ("CHF", "USD"), ("CHF", "GBP"), ("GBP", "INR"))


def ad_spend(rng: Random, cast: Cast, size: int) -> list[Row]:
    """Rows of a few campaigns over the days of the world; equal keys are restatements.

    A campaign's name is settled by its day, so that restating never renames: what "ever had a
    name" means for a row that was replaced is left open.
    """
    rows = []
    for _ in range(rng.choice((0, size, size))):
        provider, campaign_id = rng.choice(CAMPAIGNS)
        day = rng.choice(cast.days)
        rows.append(
            {
                "shop_id": cast.shop_id,
                "provider": provider,
                "account_id": rng.choice(("", None, "acc-1")),
                "campaign_id": campaign_id,
                "campaign_name": NAMES[campaign_id][day.toordinal() % 2],
                "date": day.isoformat(),
                "segment": rng.choice((None, "", "mobile", "desktop")),
                "currency": rng.choice((cast.currency, cast.currency, *CURRENCIES)),
                "spend": rng.choice((0, 10, 12.34, 0.5, 100, "7.125")),
                "impressions": rng.choice((0, 1000)),
                "clicks": rng.choice((0, 7)),
                "reported_conversions": rng.choice((None, 0, 2.5)),
                "reported_value": rng.choice((None, "129.90")),
            }
        )
    return rows


def ad_accounts(rng: Random, cast: Cast, now: datetime) -> list[Row]:
    """Accounts pulled lately, long ago, or in vain; of one account, the last row counts."""
    rows = []
    for provider in ("meta", "google", "Letters", "tiktok"):
        for account_id in ("", "acc-1"):
            for _ in range(rng.choice((0, 1, 1, 2))):
                pulled = now - timedelta(hours=rng.choice((1, 5, 70, 20 * 24 + 5)), minutes=17)
                failed = chance(rng, 0.25)
                rows.append(
                    {
                        "shop_id": cast.shop_id,
                        "provider": provider,
                        "account_id": account_id,
                        "status": "error" if failed else "ok",
                        "synced_at": written(rng, pulled),
                        "message": "token expired" if failed else None,
                    }
                )
    return rows


def exchange_rates(rng: Random, days: list[date]) -> list[Row]:
    """Rates on some days, of some pairs or as a central bank publishes them; a day without one
    has the last before it, if any."""
    rows = []
    pairs = rng.choice((CENTRAL_BANK, rng.sample(RATES, rng.randrange(len(RATES) + 1))))
    for base, quote in pairs:
        for day in rng.choices(sorted(set(days)), k=3):
            rate = rng.choice((0.5, 1.25, 0.8732, 83.1, "1.0541"))
            rows.append({"date": day.isoformat(), "base": base, "quote": quote, "rate": rate})
    return rows
