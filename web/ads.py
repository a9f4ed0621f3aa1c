"""Ad spend and its return (18)."""

from decimal import Decimal
from fractions import Fraction
from typing import Final

from warehouse.currencies import minor_units
from web.ad_outcomes import Outcome, Outcomes, outcomes_of
from web.ad_sync import staleness, unavailable_providers
from web.campaigns import (
    Campaign,
    Campaigns,
    Spend,
    spend_between,
    spend_ever,
)
from web.endpoint import Endpoint
from web.endpoint import blueprint as resource
from web.questions import Question
from web.rounding import ratio
from web.shapes.ads import AdSpend, AdSpendRow

_NO_SPEND: Final = Spend(Decimal(0), 0, 0)


def ad_spend(question: Question) -> AdSpend:
    """Ad spend with leads, orders and the return on it.

    `{rows, attributionCoverage, unavailableProviders}`. Submissions on the submission clock, orders
    on the order clock; spend on the platform's date, taken as the shop's day.
    """
    campaigns = question.known_campaigns()
    outcomes, coverage = outcomes_of(question, campaigns)
    unattributed = outcomes.pop(None)
    window = question.window
    spend = spend_between(question.connection, question.shop.key, window.first, window.last)
    carriers = _carriers(question, spend, outcomes)
    rows, without_rate = [], set()
    pairs = {(campaign, currency) for campaign, costs in spend.items() for currency in costs}
    for campaign, currency in pairs | set(carriers.items()):
        cost = spend.get(campaign, {}).get(currency, _NO_SPEND)
        outcome = outcomes.get(campaign) if carriers.get(campaign) == currency else None
        outcome = outcome or Outcome()
        row, has_rate = _row(question, campaigns, campaign, currency, cost, outcome)
        if not has_rate:
            without_rate.add(campaign[0])
        if cost != _NO_SPEND or outcome.submissions or outcome.orders:
            rows.append((-cost.amount, campaign, currency, row))
    rows.sort(key=lambda entry: entry[:3])
    return {
        "rows": [entry[-1] for entry in rows] + _unattributed(unattributed),
        "attributionCoverage": coverage,
        "unavailableProviders": unavailable_providers(question, without_rate),
    }


def _carriers(
    question: Question,
    spend: dict[Campaign, dict[str, Spend]],
    outcomes: Outcomes,
) -> dict[Campaign, str]:
    """The currency in whose row a campaign's submissions and orders stand: the one with most spend
    in the range, else the one with most ever (ties: the first)."""
    with_outcome = {
        campaign
        for campaign, outcome in outcomes.items()
        if campaign and (outcome.submissions or outcome.orders)
    }
    spent = {
        campaign
        for campaign in with_outcome
        if any(cost.amount for cost in spend.get(campaign, {}).values())
    }
    costs = {campaign: spend[campaign] for campaign in spent}
    if with_outcome - spent:
        costs |= spend_ever(question.connection, question.shop.key, with_outcome - spent)
    return {
        campaign: min(of_it, key=lambda currency: (-of_it[currency].amount, currency))
        for campaign, of_it in costs.items()
    }


def _row(
    question: Question,
    campaigns: Campaigns,
    campaign: Campaign,
    currency: str,
    cost: Spend,
    outcome: Outcome,
) -> tuple[AdSpendRow, bool]:
    """A row, and whether its revenue could be brought into the spend's currency."""
    shop_currency = question.shop.currency
    revenue = campaigns.rates.convert(
        question.connection, outcome.net_by_day, shop_currency, currency
    )
    row: AdSpendRow = {
        "provider": campaign[0],
        "campaignId": campaign[1],
        "campaignName": campaigns.names[campaign],
        "currency": currency,
        "spend": float(cost.amount),
        "impressions": cost.impressions,
        "clicks": cost.clicks,
        "attributedSubmissions": outcome.submissions,
        "attributedOrders": outcome.orders,
        "attributedNetRevenueCents": outcome.net,
        "revenueCurrency": shop_currency,
        "costPerLead": ratio(cost.amount, outcome.submissions, 2),
        "costPerAcquisition": ratio(cost.amount, outcome.orders, 2),
        "roas": ratio(revenue or 0, Fraction(cost.amount) * minor_units(shop_currency), 4),
    }
    return row, revenue is not None


def _unattributed(outcome: Outcome) -> list[AdSpendRow]:
    """The row of the orders that belong to no campaign, where there are any."""
    if not outcome.orders:
        return []
    return [
        {
            "provider": "",
            "campaignId": "",
            "campaignName": "unattributed",
            "currency": "",
            "spend": 0,
            "impressions": 0,
            "clicks": 0,
            "attributedSubmissions": 0,
            "attributedOrders": outcome.orders,
            "attributedNetRevenueCents": outcome.net,
            "revenueCurrency": "",
            "costPerLead": 0,
            "costPerAcquisition": 0,
            "roas": 0,
        }
    ]


blueprint = resource(
    "ads", Endpoint("GET", "/ads/spend", "analytics:read", ad_spend, clock=staleness)
)
