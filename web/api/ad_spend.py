"""Ad spend and its return (18)."""

from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import Final

from warehouse.domain.currencies import minor_units
from web.api.ad_campaigns import Campaign, Campaigns, Spend, spend_between, spend_ever
from web.api.ad_outcomes import Outcome, Outcomes, outcomes_of
from web.api.ad_providers import staleness, unavailable_providers
from web.api.endpoint import Answer, Endpoint
from web.api.endpoint import blueprint as resource
from web.api.exchange_rates import WORKING
from web.api.query import Query
from web.api.rounding import ratio
from web.api.row_limit import OTHER, other_rows
from web.api.schemas.ads import AdSpend, AdSpendRow
from web.api.schemas.envelope import LimitedMeta

_NO_SPEND: Final = Spend(Decimal(0), 0, 0)


@dataclass(frozen=True, slots=True)
class _Entry:
    """A campaign and a currency of its spend, or the sums of several in one currency."""

    campaign: Campaign
    name: str
    currency: str
    cost: Spend
    outcome: Outcome


def ad_spend(query: Query) -> Answer[AdSpend]:
    """Ad spend with its leads, orders and return.

    `{rows, attributionCoverage, unavailableProviders}`. Submissions are on the submission clock and orders on
    the order clock. Spend is dated by the platform's date, which is taken as the shop's day. At most 10,000
    rows; the others are summed in one row `(other)` for each currency, before the unattributed row.
    """
    campaigns = query.known_campaigns()
    outcomes, coverage = outcomes_of(query, campaigns)
    unattributed = outcomes.pop(None)
    window = query.window
    spend = spend_between(query.connection, query.shop.key, window.first, window.last)
    carriers = _carriers(query, spend, outcomes)
    entries, without_rate = [], set()
    pairs = {(campaign, currency) for campaign, costs in spend.items() for currency in costs}
    for campaign, currency in pairs | set(carriers.items()):
        cost = spend.get(campaign, {}).get(currency, _NO_SPEND)
        outcome = outcomes.get(campaign) if carriers.get(campaign) == currency else None
        outcome = outcome or Outcome()
        if cost == _NO_SPEND and not outcome.submissions and not outcome.orders:
            continue
        entries.append(_Entry(campaign, campaigns.names[campaign], currency, cost, outcome))
        if _revenue(query, campaigns, entries[-1]) is None:
            without_rate.add(campaign[0])
    entries.sort(key=_order)
    others = entries[query.limits.rows :]
    entries = entries[: query.limits.rows] + _summed(others)
    data: AdSpend = {
        "rows": [_row(query, campaigns, entry) for entry in entries] + _unattributed(unattributed),
        "attributionCoverage": coverage,
        "unavailableProviders": unavailable_providers(query, without_rate),
    }
    return Answer(data, meta=other_rows(len(others)))


def _order(entry: _Entry) -> tuple[Decimal, Campaign, str]:
    return -entry.cost.amount, entry.campaign, entry.currency


def _summed(entries: Iterable[_Entry]) -> list[_Entry]:
    """The sums of entries: one for each currency, since amounts in two currencies do not add up."""
    costs: dict[str, Spend] = {}
    outcomes: dict[str, Outcome] = {}
    with localcontext(WORKING):
        for entry in entries:
            costs[entry.currency] = costs.get(entry.currency, _NO_SPEND) + entry.cost
            outcomes.setdefault(entry.currency, Outcome()).add(entry.outcome)
    return sorted(
        (
            _Entry((OTHER, OTHER), OTHER, currency, cost, outcomes[currency])
            for currency, cost in costs.items()
        ),
        key=_order,
    )


def _revenue(query: Query, campaigns: Campaigns, entry: _Entry) -> Decimal | None:
    """The net revenue of an entry in its currency; None if the day of an order has no rate."""
    return campaigns.rates.convert(
        query.connection, entry.outcome.net_by_day, query.shop.currency, entry.currency
    )


def _carriers(
    query: Query,
    spend: dict[Campaign, dict[str, Spend]],
    outcomes: Outcomes,
) -> dict[Campaign, str]:
    """By campaign, the currency of the row that has its submissions and orders: the currency with most
    spend in the window, or with most spend ever if the window has none (ties: the first by code)."""
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
        costs |= spend_ever(query.connection, query.shop.key, with_outcome - spent)
    return {
        campaign: min(by_currency, key=lambda currency: (-by_currency[currency].amount, currency))
        for campaign, by_currency in costs.items()
    }


def _row(query: Query, campaigns: Campaigns, entry: _Entry) -> AdSpendRow:
    cost, outcome, shop_currency = entry.cost, entry.outcome, query.shop.currency
    revenue = _revenue(query, campaigns, entry)
    return {
        "provider": entry.campaign[0],
        "campaignId": entry.campaign[1],
        "campaignName": entry.name,
        "currency": entry.currency,
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


def _unattributed(outcome: Outcome) -> list[AdSpendRow]:
    """The row of the orders that belong to no campaign; none without such orders."""
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
    "ads",
    Endpoint("GET", "/ads/spend", "analytics:read", ad_spend, meta=LimitedMeta, clock=staleness),
)
