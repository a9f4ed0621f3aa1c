"""Ad spend and its return: contract section 4, endpoint 18."""

from datetime import datetime, timedelta
from fractions import Fraction
from typing import Any

from tests.oracle.campaigns import Campaign, campaign_of, is_source, latest_name
from tests.oracle.exchange import rate_on
from tests.oracle.orders import Order
from tests.oracle.state import Question, State
from tests.oracle.times import day_end, instant, iso
from tests.oracle.values import divide, major, rate

STALE_AFTER = timedelta(hours=48)


def ads(state: State, question: Question) -> Any:
    """18: `{rows, attributionCoverage, unavailableProviders}`."""
    rows, no_rate = spend_rows(state, question)
    return {
        "rows": rows,
        "attributionCoverage": coverage(state, question),
        "unavailableProviders": unavailable(state, question, no_rate),
    }


def spend_rows(state: State, question: Question) -> tuple[list[dict[str, Any]], set[str]]:
    """The rows, and the providers that lack an exchange rate. "Order: spend descending, provider,
    campaignId; the unattributed row last." """
    submissions: dict[Campaign, int] = {}
    for session in state.submitted(state.sessions, question):
        campaign = campaign_of(session.utm, state.spend)
        if campaign:
            submissions[campaign] = submissions.get(campaign, 0) + 1
    orders: dict[Campaign | None, list[Order]] = {}
    for order in state.ordered(question):
        orders.setdefault(campaign_of(state.utm(order), state.spend), []).append(order)
    in_range = [row for row in state.spend if question.first <= row.day <= question.last]

    rows: list[dict[str, Any]] = []
    no_rate: set[str] = set()
    keys = {(row.campaign, row.currency) for row in in_range}
    for campaign in [*submissions, *filter(None, orders)]:
        keys.add((campaign, carrier(state, question, campaign)))
    for campaign, currency in keys:
        of_it = [row for row in in_range if (row.campaign, row.currency) == (campaign, currency)]
        carries = currency == carrier(state, question, campaign)
        leads = submissions.get(campaign, 0) if carries else 0
        sales = orders.get(campaign, []) if carries else []
        spend = sum((row.spend for row in of_it), Fraction(0))
        revenue = converted_revenue(state, sales, currency)
        if revenue is None:
            no_rate.add(campaign[0])
        row = {
            "provider": campaign[0],
            "campaignId": campaign[1],
            "campaignName": latest_name(campaign, state.spend),
            "currency": currency,
            "spend": float(spend),
            "impressions": sum(row.impressions for row in of_it),
            "clicks": sum(row.clicks for row in of_it),
            "attributedSubmissions": leads,
            "attributedOrders": len(sales),
            "attributedNetRevenueCents": sum(order.net for order in sales),
            "revenueCurrency": state.currency,
            "costPerLead": divide(spend, leads, 2),
            "costPerAcquisition": divide(spend, len(sales), 2),
            "roas": divide(revenue or 0, spend, 4),
        }
        if spend or row["impressions"] or row["clicks"] or leads or sales:
            rows.append(row)
    rows.sort(key=lambda r: (-r["spend"], r["provider"], r["campaignId"], r["currency"]))
    return rows + unattributed(orders.get(None, [])), no_rate


def carrier(state: State, question: Question, campaign: Campaign) -> str:
    """Section 4: "A campaign with spend in two currencies carries its submissions and orders in
    the row with the greater number of spend (ties: the first currency); without spend in the
    range, in the currency in which it had most, ever." """
    ever: dict[str, Fraction] = {}
    now: dict[str, Fraction] = {}
    for row in state.spend:
        if row.campaign == campaign:
            ever[row.currency] = ever.get(row.currency, Fraction(0)) + row.spend
            if question.first <= row.day <= question.last:
                now[row.currency] = now.get(row.currency, Fraction(0)) + row.spend
    amounts = now if any(now.values()) else ever
    return min(amounts, key=lambda currency: (-amounts[currency], currency))


def converted_revenue(state: State, orders: list[Order], currency: str) -> Fraction | None:
    """Net revenue in major units "brought into the spend's currency at each order day's exchange
    rate"; None where "the day of one of its orders has no rate"."""
    total = Fraction(0)
    for order in orders:
        rate = rate_on(state.day(order.at), state.currency, currency, state.rates)
        if rate is None:
            return None
        total += major(order.net, state.currency) * rate
    return total


def unattributed(orders: list[Order]) -> list[dict[str, Any]]:
    """The interface's row of revenue without a campaign, "where there are such orders"."""
    texts = dict.fromkeys(("provider", "campaignId", "currency", "revenueCurrency"), "")
    zeros = ("impressions", "clicks", "attributedSubmissions")
    rates = ("spend", "costPerLead", "costPerAcquisition", "roas")
    row = {
        **texts,
        "campaignName": "unattributed",
        **dict.fromkeys(zeros, 0),
        **dict.fromkeys(rates, 0.0),
        "attributedOrders": len(orders),
        "attributedNetRevenueCents": sum(order.net for order in orders),
    }
    return [row] if orders else []


def coverage(state: State, question: Question) -> dict[str, float | None]:
    """Section 4: "of the submissions in the range whose `utm_source` is one of its sources, the
    percentage with an ad campaign; `null` where there are none"."""
    shares: dict[str, float | None] = {}
    for provider in {row.campaign[0] for row in state.spend}:
        from_it = [
            session.utm
            for session in state.submitted(state.sessions, question)
            if is_source(session.utm[0], provider)
        ]
        matched = [utm for utm in from_it if campaign_of(utm, state.spend)]
        shares[provider] = rate(len(matched), len(from_it)) if from_it else None
    return shares


def unavailable(state: State, question: Question, no_rate: set[str]) -> list[dict[str, Any]]:
    """Section 4: "One entry per provider and reason; a failed account is not also stale;
    `lastSyncedAt` is the `synced_at` of the affected account (the earliest of several; `null`
    without accounts)." """
    end = day_end(question.last, state.timezone)
    deadline = end if end <= question.now else question.now - STALE_AFTER
    affected: dict[tuple[str, str], list[datetime]] = {}
    for account in state.accounts:
        provider, synced_at = account["provider"].lower(), instant(account["synced_at"])
        if account["status"] == "error":
            affected.setdefault((provider, "sync_failed"), []).append(synced_at)
        elif synced_at < deadline:
            affected.setdefault((provider, "stale"), []).append(synced_at)
        if provider in no_rate:
            affected.setdefault((provider, "no_exchange_rate"), []).append(synced_at)
    for provider in no_rate:
        affected.setdefault((provider, "no_exchange_rate"), [])
    return [
        {
            "provider": provider,
            "reason": reason,
            "lastSyncedAt": iso(min(synced)) if synced else None,
        }
        for (provider, reason), synced in sorted(affected.items())
    ]
