"""Ad spend and its return (18)."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from typing import Any, Final

import numpy as np

from warehouse.currencies import minor_units
from warehouse.reader import Sums
from warehouse.vocabulary import UTM_FIELDS
from web.ad_sync import unavailable_providers
from web.campaigns import (
    Campaign,
    Campaigns,
    Spend,
    sources_of,
    spend_between,
    spend_ever,
)
from web.endpoint import Endpoint
from web.endpoint import blueprint as resource
from web.exchange import Rates
from web.grouping import add_up, relabel
from web.questions import Question
from web.rounding import percent, ratio

Row = dict[str, Any]

_SOURCE: Final = UTM_FIELDS.index("utm_source")
_CAMPAIGN: Final = UTM_FIELDS.index("utm_campaign")
_ID: Final = UTM_FIELDS.index("utm_id")
# More than any day's number: a campaign's number and a day make one label.
_DAYS: Final = 1 << 32
_NO_SPEND: Final = Spend(Decimal(0), 0, 0)


@dataclass(slots=True)
class Outcome:
    """What came of a campaign (or of none): submissions and orders of the range. `net` and
    `net_by_day` (of days with orders) are in minor units of the shop's currency."""

    submissions: int = 0
    orders: int = 0
    net: int = 0
    net_by_day: dict[int, int] = field(default_factory=dict)


def ad_spend(question: Question) -> Row:
    """`{rows, attributionCoverage, unavailableProviders}`. Submissions on the submission clock,
    orders on the order clock; spend on the platform's date, taken as the shop's day."""
    campaigns = Campaigns(question.connection, question.shop.key)
    outcomes, coverage = _outcomes(question, campaigns)
    unattributed = outcomes.pop(None)
    window = question.window
    spend = spend_between(question.connection, question.shop.key, window.first, window.last)
    carriers = _carriers(question, spend, outcomes)
    rates = Rates(question.connection, window.first, window.last)
    rows, without_rate = [], set()
    pairs = {(campaign, currency) for campaign, costs in spend.items() for currency in costs}
    for campaign, currency in pairs | set(carriers.items()):
        cost = spend.get(campaign, {}).get(currency, _NO_SPEND)
        outcome = outcomes.get(campaign) if carriers.get(campaign) == currency else None
        outcome = outcome or Outcome()
        row, has_rate = _row(question, campaigns, campaign, currency, cost, outcome, rates)
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


def _outcomes(
    question: Question, campaigns: Campaigns
) -> tuple[dict[Campaign | None, Outcome], dict[str, float | None]]:
    """What came of each campaign, of None what belongs to no campaign; and per provider the share
    of its sources' submissions that have a campaign."""
    submitted = question.sums("utm_submission", by=("utm",))
    # Days matter only where revenue is to be brought into another currency.
    foreign = campaigns.currencies - {question.shop.currency}
    ordered = question.sums("utm_order", by=("day", "utm") if foreign else ("utm",))
    utms = question.utms(np.union1d(submitted["utm"], ordered["utm"]).tolist())
    matched = {
        id: campaigns.of(utm[_SOURCE], utm[_CAMPAIGN], utm[_ID]) for id, utm in utms.items()
    }
    outcomes = {campaign: Outcome() for campaign in (None, *matched.values())}
    _add_orders(list(outcomes.items()), matched, ordered)
    by_source: dict[str, list[int]] = {}
    for utm, count in zip(
        submitted["utm"].tolist(), submitted["submissions"].tolist(), strict=True
    ):
        campaign = matched[utm]
        outcomes[campaign].submissions += count
        seen = by_source.setdefault(utms[utm][_SOURCE].lower(), [0, 0])
        seen[0] += count if campaign else 0
        seen[1] += count
    return outcomes, {
        provider: _coverage(by_source.get(source, (0, 0)) for source in sources_of(provider))
        for provider in campaigns.providers
    }


def _add_orders(
    outcomes: list[tuple[Campaign | None, Outcome]],
    matched: dict[int, Campaign | None],
    ordered: Sums,
) -> None:
    """Add lines of orders, by UTM and perhaps day, to the outcomes of their campaigns."""
    numbers = {campaign: number for number, (campaign, _) in enumerate(outcomes)}
    labels = relabel(ordered["utm"], {utm: numbers[of] for utm, of in matched.items()})
    days = ordered.columns.get("day", np.zeros(len(ordered), dtype=np.int64))
    found, (orders, net) = add_up(
        labels * _DAYS + days, ordered["orders"], ordered["gross"] - ordered["refunded"]
    )
    for label, count, amount in zip(found.tolist(), orders.tolist(), net.tolist(), strict=True):
        number, day = divmod(label, _DAYS)
        if count:
            outcome = outcomes[number][1]
            outcome.orders += count
            outcome.net += amount
            outcome.net_by_day[day] = amount


def _coverage(seen: Iterable[Iterable[int]]) -> float | None:
    with_campaign, submissions = map(sum, zip(*seen, strict=True))
    return percent(with_campaign, submissions) if submissions else None


def _carriers(
    question: Question,
    spend: dict[Campaign, dict[str, Spend]],
    outcomes: dict[Campaign | None, Outcome],
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
    rates: Rates,
) -> tuple[Row, bool]:
    """A row, and whether its revenue could be brought into the spend's currency."""
    shop_currency = question.shop.currency
    revenue = rates.convert(outcome.net_by_day, shop_currency, currency)
    spend = Fraction(cost.amount)
    row = {
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
        "costPerLead": ratio(spend, outcome.submissions, 2),
        "costPerAcquisition": ratio(spend, outcome.orders, 2),
        "roas": ratio(Fraction(revenue or 0) / minor_units(shop_currency), spend, 4),
    }
    return row, revenue is not None


def _unattributed(outcome: Outcome) -> list[Row]:
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


blueprint = resource("ads", Endpoint("GET", "/ads/spend", "analytics:read", ad_spend))
