"""Ad spend and its return (18)."""

from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import Any, Final

from warehouse.domain.currencies import minor_units
from warehouse.domain.figures import count, money, number
from warehouse.domain.rounding import ratio
from web.api.ad_campaigns import Campaign, Campaigns, Spend, spend_between, spend_ever
from web.api.ad_outcomes import Outcome, Outcomes, outcomes_of
from web.api.ad_providers import UNAVAILABLE_PROVIDER, staleness, unavailable_providers
from web.api.endpoint import get
from web.api.exchange_rates import WORKING
from web.api.query import Query
from web.api.row_limit import OTHER, other_rows
from web.api.rows import Answer, Row, column, rows, text

# fmt: off
ROW: Final = Row(
    "AdSpendRow",
    """A campaign and a currency of its spend. Spend is dated by the platform's date, which is taken as the
    shop's day; submissions and orders are dated by their own day. Orders that belong to no campaign are in
    the last row: its `campaignName` is `unattributed`, its other texts are empty. Order: spend descending,
    provider, campaignId.""",
    text("provider", "Provider", "The ad provider: `meta`, `google`, `tiktok`, ..."),
    text("campaignId", "Campaign", "The provider's id of the campaign."),
    text("campaignName", "Name", "The campaign's latest name."),
    text("currency", "Currency", "The currency of `spend` (ISO 4217)."),
    number("spend", "Spend",
        "Spend in major units of `currency`; negative if credits exceed the cost.",
        "What the ads cost, as the provider reports it.",
        bounds={}),
    count("impressions", "Impressions",
        "Impressions that the provider reports.",
        "How often the ads were shown, as the provider reports it."),
    count("clicks", "Clicks",
        "Clicks that the provider reports.",
        "How often the ads were clicked, as the provider reports it."),
    count("attributedSubmissions", "Submissions",
        "Submissions whose UTM values belong to the campaign. If a campaign has spend in two "
        "currencies, its submissions and orders are in the row with more spend.",
        "Submissions of these days that the campaign brought."),
    count("attributedOrders", "Orders",
        "Orders whose UTM values, or those of their submission, belong to the campaign.",
        "Orders of these days that the campaign brought, by a form or without one."),
    money("attributedNetRevenueCents", "Net revenue",
        "Net revenue of these orders, in minor units of `revenueCurrency`.",
        "What these orders came to, less what was paid back."),
    text("revenueCurrency", "Currency of revenue", "The shop's currency (ISO 4217)."),
    number("costPerLead", "Cost per submission",
        "`spend` / `attributedSubmissions`, in `currency`, to 2 decimals.",
        "What a submission cost in ads.",
        bounds={}, without="no submissions"),
    number("costPerAcquisition", "Cost per order",
        "`spend` / `attributedOrders`, in `currency`, to 2 decimals.",
        "What an order cost in ads.",
        bounds={}, without="no orders"),
    number("roas", "Return",
        "Net revenue / spend, a plain ratio to 4 decimals. The revenue is converted into `currency` at "
        "the exchange rate of each order's day; without a rate, `roas` is 0.",
        "How much net revenue came back for each unit of money that the ads cost. Above 1, it is more.",
        bounds={}, without="no spend"),
    owner="What the ads cost in these days, and the submissions and orders of the same days that they "
    "brought. The last row has the orders that no campaign brought, so the rows add up to the shop.",
)
SPEND: Final = Row(
    "AdSpend",
    "Ad spend and its return. The rows add up to the shop's orders.",
    rows("rows", "", "", ROW),
    column("attributionCoverage", "Coverage",
        "By provider: the percentage of the window's submissions from this provider (by `utm_source`) "
        "whose campaign is known; null if there are no such submissions.",
        {"type": "object", "additionalProperties": {"anyOf": [{"type": "number"}, {"type": "null"}]}}),
    rows("unavailableProviders", "Incomplete",
        "One entry per provider and reason. Order: provider, reason.", UNAVAILABLE_PROVIDER),
)
# fmt: on
_NO_SPEND: Final = Spend(Decimal(0), 0, 0)


@dataclass(frozen=True, slots=True)
class _Entry:
    """A campaign and a currency of its spend, or the sums of several in one currency."""

    campaign: Campaign
    name: str
    currency: str
    cost: Spend
    outcome: Outcome


@get("/ads/spend", "analytics:read", SPEND, single=True, limited=True, clock=staleness)
def ad_spend(query: Query) -> Answer:
    """Ad spend with its leads, orders and return.

    `{rows, attributionCoverage, unavailableProviders}`. Submissions are on the submission clock and orders on
    the order clock. Spend is dated by the platform's date, which is taken as the shop's day. At most 10,000
    rows; the others are summed in one row `(other)` for each currency, before the unattributed row.
    """
    campaigns = _campaigns(query)
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
    data = {
        "rows": [_row(query, campaigns, entry) for entry in entries] + _unattributed(unattributed),
        "attributionCoverage": coverage,
        "unavailableProviders": unavailable_providers(query, without_rate),
    }
    return Answer(data, meta=other_rows(len(others)))


def _campaigns(query: Query) -> Campaigns:
    """Every ad campaign of the shop."""
    shop = query.shop
    return query.cache.get(
        "campaigns", shop.key, shop.data_version, lambda: Campaigns(query.connection, shop.key)
    )


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


def _row(query: Query, campaigns: Campaigns, entry: _Entry) -> dict[str, Any]:
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


def _unattributed(outcome: Outcome) -> list[dict[str, Any]]:
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
