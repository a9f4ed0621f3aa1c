"""Hand-computed answers of endpoint 18."""

from datetime import date
from fractions import Fraction
from typing import Any

from tests.support.oracle.exchange import rate_on
from tests.support.oracle.making import SHOP, ask, order, spend, submission, table

META = {"utm_source": "facebook", "utm_campaign": "m1"}


def account(provider: str, status: str, synced_at: str, account_id: str = "") -> dict[str, Any]:
    return {
        "shop_id": SHOP,
        "provider": provider,
        "account_id": account_id,
        "status": status,
        "synced_at": synced_at,
    }


def rate(day: int, base: str, quote: str, value: float) -> dict[str, Any]:
    return {"date": f"2024-03-{day:02}", "base": base, "quote": quote, "rate": value}


def test_rows_of_a_campaign_and_of_what_has_none() -> None:
    rows = [
        spend("meta", "m1", 1, 7),
        spend("meta", "m1", 1, 8, impressions=200),
        spend("meta", "m1", 1, 2.5, segment="mobile"),
        spend("meta", "m1", 2, 0.5, campaign_name="Renamed"),
        spend("google", "g1", 1, 30),
        submission("s1", "1", **META),
        submission("s2", "1", **META),
        submission("s3", "1", utm_source="ig", utm_campaign="unknown"),
        submission("s4", "1", utm_source="letters"),
        order("o1", "2", 3000, visitor_id="visitor of s1"),
        order("o2", "2", 155, utm_source="FB", utm_id="m1"),
        order("o3", "2", 700, utm_source="letters"),
    ]
    data = ask("/v1/ads/spend", rows)
    google, meta, unattributed = data["rows"]
    assert google["provider"] == "google"
    assert meta == {
        "provider": "meta",
        "campaignId": "m1",
        "campaignName": "Renamed",
        "currency": "EUR",
        "spend": 11.0,
        "impressions": 400,
        "clicks": 30,
        "attributedSubmissions": 2,
        "attributedOrders": 2,
        "attributedNetRevenueCents": 3155,
        "revenueCurrency": "EUR",
        "costPerLead": 5.5,
        "costPerAcquisition": 5.5,
        "roas": 2.8682,
    }
    assert unattributed == {
        "provider": "",
        "campaignId": "",
        "campaignName": "unattributed",
        "currency": "",
        "spend": 0,
        "impressions": 0,
        "clicks": 0,
        "attributedSubmissions": 0,
        "attributedOrders": 1,
        "attributedNetRevenueCents": 700,
        "revenueCurrency": "",
        "costPerLead": 0,
        "costPerAcquisition": 0,
        "roas": 0,
    }
    assert data["attributionCoverage"] == {"google": None, "meta": 66.67}
    assert data["unavailableProviders"] == []


def test_the_row_with_the_greater_number_of_spend_carries_the_orders() -> None:
    rows = [
        spend("meta", "m1", 1, 10),
        spend("meta", "m1", 2, 20, currency="USD"),
        order("o1", "2", 1000, **META),
    ]
    columns = ("currency", "spend", "attributedOrders", "roas")
    rates = [rate(1, "EUR", "USD", 1.5)]
    found = ask("/v1/ads/spend", rows, rates=rates)["rows"]
    assert table(found, *columns) == [("USD", 20, 1, 0.75), ("EUR", 10, 0, 0)]
    rows[1]["spend"] = 10
    found = ask("/v1/ads/spend", rows, rates=rates)["rows"]
    assert table(found, *columns) == [("EUR", 10, 1, 1.0), ("USD", 10, 0, 0)]


def test_without_spend_in_the_range_the_currency_with_most_ever() -> None:
    rows = [
        spend("meta", "m1", 1, 10),
        spend("meta", "m1", 2, 11, currency="USD"),
        submission("s1", "9", **META),
    ]
    found = ask("/v1/ads/spend", rows, {"range": "2024-03-09"})["rows"]
    assert table(found, "campaignName", "currency", "spend", "attributedSubmissions") == [
        ("m1 name", "USD", 0, 1)
    ]


def test_no_rate_on_one_orders_day_leaves_the_row_without_a_return() -> None:
    rows = [
        spend("meta", "m1", 1, 10, currency="USD"),
        order("o1", "2", 1000, **META),
        order("o2", "5", 1000, **META),
    ]
    accounts = [
        account("meta", "ok", "2024-04-01T00:00Z"),
        account("meta", "ok", "2024-04-02T00:00Z", "a"),
    ]
    data = ask("/v1/ads/spend", rows, rates=[rate(3, "EUR", "USD", 2)], accounts=accounts)
    assert data["rows"][0]["roas"] == 0
    [entry] = data["unavailableProviders"]
    assert entry == {
        "provider": "meta",
        "reason": "no_exchange_rate",
        "lastSyncedAt": "2024-04-01T00:00:00.000Z",
    }
    data = ask("/v1/ads/spend", rows, rates=[rate(2, "EUR", "USD", 2)])
    assert (data["rows"][0]["roas"], data["unavailableProviders"]) == (4.0, [])


def test_minor_units_by_the_currencys_exponent() -> None:
    rows = [spend("meta", "m1", 1, 500, currency="JPY"), order("o1", "2", 2000, **META)]
    assert ask("/v1/ads/spend", rows, currency="JPY")["rows"][0]["roas"] == 4.0


def test_rates_are_direct_else_inverse_else_crossed() -> None:
    rates = [
        rate(1, "EUR", "USD", 1.25),
        rate(3, "EUR", "USD", 2),
        rate(1, "EUR", "GBP", 0.5),
        rate(1, "CHF", "USD", 9),
        rate(2, "CHF", "GBP", 3),
    ]

    def found(day: int, base: str, quote: str) -> Fraction | None:
        return rate_on(date(2024, 3, day), base, quote, rates)

    assert found(2, "EUR", "USD") == Fraction(5, 4)
    assert found(9, "EUR", "USD") == 2
    assert found(2, "USD", "EUR") == Fraction(4, 5)
    assert found(1, "USD", "GBP") == Fraction(2, 5)  # through EUR: CHF has no GBP yet
    assert found(2, "USD", "GBP") == Fraction(1, 3)  # through CHF, the first by code
    assert found(2, "USD", "SEK") is None
    assert found(2, "SEK", "SEK") == 1


def test_accounts_that_failed_or_are_stale() -> None:
    accounts = [
        account("Google", "ok", "2024-03-30T00:00Z"),
        account("google", "error", "2024-03-01T00:00Z"),  # restates the one above
        account("meta", "ok", "2024-03-27T00:00Z", "b"),
        account("meta", "ok", "2024-03-29T11:59Z", "a"),
        account("meta", "ok", "2024-03-29T12:01Z", "c"),
        account("meta", "error", "2024-03-01T00:00Z", "d"),
    ]
    # The range ends today, at noon of which the question is asked: 48 h before is the 29th, noon.
    columns = ("provider", "reason", "lastSyncedAt")
    data = ask("/v1/ads/spend", [], accounts=accounts)
    assert table(data["unavailableProviders"], *columns) == [
        ("google", "sync_failed", "2024-03-01T00:00:00.000Z"),
        ("meta", "stale", "2024-03-27T00:00:00.000Z"),
        ("meta", "sync_failed", "2024-03-01T00:00:00.000Z"),
    ]
    # A range that is over is covered by a pull after its end.
    data = ask("/v1/ads/spend", [], {"range": "2024-03-26"}, accounts=accounts)
    assert [entry["reason"] for entry in data["unavailableProviders"]] == ["sync_failed"] * 2
