"""Ad spend (endpoint 18). Now is noon of 30 June 2026, UTC."""

from typing import Any

import pytest

from tests.support.stage import Stage, pick, row

PATH = "/v1/ads/spend"
MARCH = "2026-03-01..2026-03-31"


def lead(stage: Stage, session: str, source: str, campaign: str = "", id: str = "") -> None:
    utm = {"utm_source": source, "utm_campaign": campaign, "utm_id": id}
    stage.event("subscribe", "2026-03-10T00:00:00Z", session, visitor_id=session, **utm)


def test_which_campaign(stage: Stage) -> None:
    # c2 was once called Spring, before the range; c1 is called c3, which is also an id.
    stage.spend("2026-01-01", "c2", 1, campaign_name="Spring")
    stage.spend("2026-03-01", "c2", 1, campaign_name="Summer")
    stage.spend("2026-03-01", "c1", 1, campaign_name="c3")
    stage.spend("2026-05-01", "c3", 1, campaign_name="SPRING")  # known from now on, for all days
    stage.spend("2026-03-01", "r", 1, provider="Reddit", campaign_name="SPRING")
    lead(stage, "id first", "Facebook", "c2", "c1")
    lead(stage, "then campaign as id", "IG", "c2", "?")
    lead(stage, "id before name", "meta", "c3")
    lead(stage, "name, smallest id", "fb", "sPRING")
    lead(stage, "its own name", "REDDIT", "spring")
    lead(stage, "no campaign", "instagram", "autumn")
    lead(stage, "no source", "", "", "c1")
    lead(stage, "other source", "google", "spring", "c1")
    answer = stage.ask(PATH, MARCH)
    names = ("provider", "campaignId", "campaignName", "attributedSubmissions", "spend")
    assert pick(answer["rows"], *names) == [
        ("meta", "c1", "c3", 1, 1),
        ("meta", "c2", "Summer", 2, 1),
        ("reddit", "r", "SPRING", 1, 1),
        ("meta", "c3", "SPRING", 1, 0),
    ]
    assert answer["attributionCoverage"] == {"meta": 80, "reddit": 100}
    assert stage.ask(PATH, "2026-04-01")["attributionCoverage"] == {"meta": None, "reddit": None}


def test_two_clocks_and_the_unattributed(stage: Stage) -> None:
    stage.spend("2026-03-31", "c", "0.03", impressions=7, clicks=1)
    stage.spend("2026-03-31", "c", "0.02", segment="b", account_id="other", impressions=1)
    for session in ("1", "2"):
        lead(stage, session, "meta", "c")
    # The submission's UTM goes before the order's own.
    stage.order("1", "2026-04-01T00:00:00Z", 100, visitor_id="1", utm_source="newsletter")
    stage.order("2", "2026-03-31T00:00:00Z", 10, utm_source="fb", utm_id="c")
    stage.order("3", "2026-03-31T00:00:00Z", 1, utm_source="fb")
    stage.order("4", "2026-03-31T00:00:00Z", 5, cancelled_at="2026-04-01T00:00:00Z")
    campaign, rest = stage.ask(PATH, MARCH)["rows"]
    assert campaign == {
        "provider": "meta",
        "campaignId": "c",
        "campaignName": "Name c",
        "currency": "USD",
        "spend": 0.05,
        "impressions": 8,
        "clicks": 1,
        "attributedSubmissions": 2,
        "attributedOrders": 1,
        "attributedNetRevenueCents": 10,
        "revenueCurrency": "USD",
        "costPerLead": 0.03,  # 0.025
        "costPerAcquisition": 0.05,
        "roas": 2,
    }
    assert (rest["campaignName"], rest["attributedOrders"]) == ("unattributed", 2)
    assert rest["attributedNetRevenueCents"] == 1
    (april,) = stage.ask(PATH, "2026-04-01")["rows"]
    assert (april["campaignId"], april["attributedOrders"], april["roas"]) == ("c", 1, 0)


def test_exchange_rates_of_the_orders_days(stage: Stage) -> None:
    for campaign, currency in (("d", "GBP"), ("i", "SEK"), ("x", "JPY"), ("n", "KWD")):
        stage.spend("2026-03-01", campaign, 10, currency=currency)
        for day, total in ((5, 1000), (9, 2000)):
            stage.order(
                f"{campaign}{day}",
                f"2026-03-0{day}T00:00:00Z",
                total,
                utm_source="meta",
                utm_id=campaign,
            )
    # Direct, though the inverse is younger: 10 x 0.5 + 20 x 0.25.
    stage.rate("2020-01-01", "USD", "GBP", 0.5)
    stage.rate("2026-03-09", "USD", "GBP", 0.25)
    stage.rate("2026-03-10", "USD", "GBP", 0.125)
    stage.rate("2026-03-05", "GBP", "USD", 1000)
    # Inverse: 10 / 0.1 + 20 / 0.2.
    stage.rate("2026-03-05", "SEK", "USD", 0.1)
    stage.rate("2026-03-08", "SEK", "USD", 0.2)
    # Through the first base that has both on that day: EUR from the 9th, NOK before.
    for date, base, dollars, yen in (("2026-03-01", "NOK", 2, 10), ("2026-03-09", "EUR", 1, 100)):
        stage.rate(date, base, "USD", dollars)
        stage.rate(date, base, "JPY", yen)
    # A rate for the second day alone, whose order brought something.
    stage.rate("2026-03-06", "USD", "KWD", 1)
    answer = stage.ask(PATH, MARCH)
    assert {one["currency"]: one["roas"] for one in answer["rows"]} == {
        "GBP": 1,
        "SEK": 20,
        "JPY": 205,  # (10 x 5 + 20 x 100) / 10
        "KWD": 0,
    }
    assert answer["unavailableProviders"] == [
        {"provider": "meta", "reason": "no_exchange_rate", "lastSyncedAt": None}
    ]
    assert stage.ask(PATH, "2026-03-06..2026-03-31")["unavailableProviders"] == []


def test_an_order_that_brought_nothing_needs_its_rate_too(stage: Stage) -> None:
    stage.spend("2026-03-01", "c", 10, currency="EUR")
    at = "2026-03-05T00:00:00Z"
    stage.order("1", at, 100, utm_source="meta", utm_id="c", cancelled_at=at)
    stage.account("meta", "2026-06-30T00:00:00Z", "error", "b")
    stage.account("meta", "2026-06-29T00:00:00Z", "ok", "a")
    assert pick(stage.ask(PATH, MARCH)["unavailableProviders"], "reason", "lastSyncedAt") == [
        ("no_exchange_rate", "2026-06-29T00:00:00.000Z"),
        ("sync_failed", "2026-06-30T00:00:00.000Z"),
    ]


def test_two_currencies(stage: Stage) -> None:
    stage.spend("2026-03-01", "tie", 5, currency="USD")
    stage.spend("2026-03-02", "tie", 5, currency="EUR")
    stage.spend("2026-03-01", "more", 5, currency="EUR")
    stage.spend("2026-03-02", "more", "5.01", currency="USD", segment="us")
    # Nothing in the range: most, ever, was in EUR.
    for date, currency, spend in (
        ("2025-01-01", "EUR", 9),
        ("2026-01-01", "USD", 5),
        ("2026-01-02", "USD", 4),
        ("2026-04-02", "EUR", "0.5"),
    ):
        stage.spend(date, "ever", spend, currency=currency)
    for campaign in ("tie", "more", "ever"):
        lead(stage, campaign, "meta", campaign)
    names = ("campaignId", "currency", "spend", "attributedSubmissions")
    assert pick(stage.ask(PATH, MARCH)["rows"], *names) == [
        ("more", "USD", 5.01, 1),
        ("more", "EUR", 5, 0),
        ("tie", "EUR", 5, 1),
        ("tie", "USD", 5, 0),
        ("ever", "EUR", 0, 1),
    ]


def test_money_given_back_by_a_platform(stage: Stage) -> None:
    stage.spend("2026-03-01", "c", "-0.05")
    for session in ("1", "2"):
        lead(stage, session, "meta", "c")
    stage.order("1", "2026-03-10T00:00:00Z", 1, visitor_id="1")
    (found,) = stage.ask(PATH, MARCH)["rows"]
    # -0.025 and -0.2: a half goes away from zero.
    assert (found["spend"], found["costPerLead"], found["roas"]) == (-0.05, -0.03, -0.2)


@pytest.mark.parametrize(
    ("window", "synced", "stale"),
    [
        ("2026-03-01..2026-03-31", "2026-03-31T23:59:59.998Z", True),
        ("2026-03-01..2026-03-31", "2026-03-31T23:59:59.999Z", False),
        ("2026-06-01..2026-06-30", "2026-06-28T11:59:59Z", True),  # ends in 12 hours
        ("2026-06-01..2026-06-30", "2026-06-28T12:00:00Z", False),
        ("2026-06-01..2026-06-29", "2026-06-29T23:00:00Z", True),
        ("7d", "2026-06-28T12:00:00Z", False),
    ],
)
def test_stale(stage: Stage, window: str, synced: str, stale: bool) -> None:
    stage.account("meta", synced, name="old")
    stage.account("meta", "2026-06-30T11:00:00Z", name="fresh")
    stage.account("failed", "2020-01-01T00:00:00Z", "error")
    found: list[dict[str, Any]] = stage.ask(PATH, window)["unavailableProviders"]
    assert row(found, provider="failed")["reason"] == "sync_failed"
    assert len(found) == 1 + stale
    if stale:
        entry = row(found, provider="meta")
        assert entry["reason"] == "stale"
        assert entry["lastSyncedAt"].startswith(synced.removesuffix("Z"))
