"""Ad spend and its return: contract section 4, endpoint 18."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from fractions import Fraction
from typing import Any

from tests.support.oracle.campaigns import Campaign, Spend, campaign_of, is_source, latest_name
from tests.support.oracle.exchange import rate_on
from tests.support.oracle.orders import Order
from tests.support.oracle.row_limit import OTHER, Limited
from tests.support.oracle.state import Question, State, answers
from tests.support.oracle.times import day_end, instant, iso
from tests.support.oracle.values import divide, major, rate

STALE_AFTER = timedelta(hours=48)


@dataclass
class Advertised:
    """A campaign, or several, and a currency: its spend, its submissions and its orders."""

    campaign: Campaign
    name: str
    currency: str
    spent: list[Spend]
    leads: int
    sales: list[Order]

    @property
    def spend(self) -> Fraction:
        return sum((row.spend for row in self.spent), Fraction(0))


@answers("/v1/ads/spend")
def ads(state: State, question: Question) -> Limited:
    """18: `{rows, attributionCoverage, unavailableProviders}`. "Order: spend descending, provider,
    campaignId; the unattributed row last." """
    found, without = advertised(state, question)
    found.sort(key=lambda one: (-one.spend, one.campaign, one.currency))
    first, others = found[: question.limits.rows], found[question.limits.rows :]
    # Spend in two currencies cannot be added: one row for each.
    sums = [
        summed([one for one in others if one.currency == currency], currency)
        for currency in {one.currency for one in others}
    ]
    sums.sort(key=lambda one: (-one.spend, one.currency))
    no_rate = {
        one.campaign[0]
        for one in found
        if converted_revenue(state, one.sales, one.currency) is None
    }
    data = {
        "rows": [spend_row(state, one) for one in first + sums] + unattributed(without),
        "attributionCoverage": coverage(state, question),
        "unavailableProviders": unavailable(state, question, no_rate),
    }
    return Limited(data, len(others))


def summed(several: list[Advertised], currency: str) -> Advertised:
    return Advertised(
        (OTHER, OTHER),
        OTHER,
        currency,
        [row for one in several for row in one.spent],
        sum(one.leads for one in several),
        [order for one in several for order in one.sales],
    )


def advertised(state: State, question: Question) -> tuple[list[Advertised], list[Order]]:
    """Every campaign and currency with any figure; and the orders without a campaign."""
    submissions: dict[Campaign, int] = {}
    for session in state.submitted(state.sessions, question):
        campaign = campaign_of(session.utm, state.spend)
        if campaign:
            submissions[campaign] = submissions.get(campaign, 0) + 1
    orders: dict[Campaign | None, list[Order]] = {}
    for order in state.ordered(question):
        orders.setdefault(campaign_of(state.utm(order), state.spend), []).append(order)
    in_range = [row for row in state.spend if question.first <= row.day <= question.last]

    found = []
    keys = {(row.campaign, row.currency) for row in in_range}
    for campaign in [*submissions, *filter(None, orders)]:
        keys.add((campaign, carrier(state, question, campaign)))
    for campaign, currency in keys:
        spent = [row for row in in_range if (row.campaign, row.currency) == (campaign, currency)]
        carries = currency == carrier(state, question, campaign)
        leads = submissions.get(campaign, 0) if carries else 0
        sales = orders.get(campaign, []) if carries else []
        name = latest_name(campaign, state.spend)
        one = Advertised(campaign, name, currency, spent, leads, sales)
        if one.spend or any(row.impressions or row.clicks for row in spent) or leads or sales:
            found.append(one)
    return found, orders.get(None, [])


def spend_row(state: State, one: Advertised) -> dict[str, Any]:
    revenue = converted_revenue(state, one.sales, one.currency)
    return {
        "provider": one.campaign[0],
        "campaignId": one.campaign[1],
        "campaignName": one.name,
        "currency": one.currency,
        "spend": float(one.spend),
        "impressions": sum(row.impressions for row in one.spent),
        "clicks": sum(row.clicks for row in one.spent),
        "attributedSubmissions": one.leads,
        "attributedOrders": len(one.sales),
        "attributedNetRevenueCents": sum(order.net for order in one.sales),
        "revenueCurrency": state.currency,
        "costPerLead": divide(one.spend, one.leads, 2),
        "costPerAcquisition": divide(one.spend, len(one.sales), 2),
        "roas": divide(revenue or 0, one.spend, 4),
    }


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
