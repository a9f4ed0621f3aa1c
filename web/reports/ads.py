"""Ad spend and its return (18): by campaign, and the providers whose data are incomplete.

Submissions are on the submission clock and orders on the order clock. Spend is dated by the platform's date.
"""

from dataclasses import dataclass, field
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import Any, Final

import numpy as np
from sqlalchemy import bindparam, select

from warehouse.connections.look_ups import read_rows
from warehouse.daily.group_sum import Column, add_up, distinct
from warehouse.domain.figures import count, money, number
from warehouse.domain.rounding import percent, ratio
from warehouse.domain.time import MICROS_PER_SECOND, NEVER, iso_millis
from warehouse.domain.vocabulary import UTM_FIELDS, minor_units
from warehouse.tables import ad_account
from web.api.ad_campaigns import (
    Campaign,
    Campaigns,
    Spend,
    sources_of,
    spend_between,
    spend_ever,
)
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
        "The cost of the ads, as the provider reports it.",
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
        "The total of these orders, less the money that was paid back."),
    text("revenueCurrency", "Currency of revenue", "The shop's currency (ISO 4217)."),
    number("costPerLead", "Cost per submission",
        "`spend` / `attributedSubmissions`, in `currency`, to 2 decimals.",
        "The cost of the ads, spread over the submissions that they brought.",
        bounds={}, without="no submissions"),
    number("costPerAcquisition", "Cost per order",
        "`spend` / `attributedOrders`, in `currency`, to 2 decimals.",
        "The cost of the ads, spread over the orders that they brought.",
        bounds={}, without="no orders"),
    number("roas", "Return",
        "Net revenue / spend, a plain ratio to 4 decimals. The revenue is converted into `currency` at "
        "the exchange rate of each order's day; without a rate, `roas` is 0.",
        "How much net revenue came back for each unit of money that the ads cost. Above 1, it is more.",
        bounds={}, without="no spend"),
    owner="The cost of the ads in these days, and the submissions and orders of the same days that they "
    "brought. The last row has the orders that no campaign brought, so the rows add up to the shop.",
)
UNAVAILABLE_PROVIDER: Final = Row(
    "UnavailableProvider",
    "A provider whose figures are incomplete, and the reason.",
    text("provider", "Provider", "The ad provider."),
    column("reason", "Reason",
        "`sync_failed`: the last pull of an account failed. `stale`: the last pull of an account is "
        "older than the end of the window, or older than 48 hours if that end is in the future. "
        "`no_exchange_rate`: the day of an order has no rate into the currency of the spend.",
        {"enum": ["no_exchange_rate", "stale", "sync_failed"]}),
    text("lastSyncedAt", "Last pull",
        "The last pull of the affected account, the earliest of several; null if there is no account.",
        null=True, format="date-time"),
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
_SOURCE: Final = UTM_FIELDS.index("utm_source")
_CAMPAIGN: Final = UTM_FIELDS.index("utm_campaign")
_ID: Final = UTM_FIELDS.index("utm_id")
# The status of an account whose last pull failed.
FAILED: Final = "error"
STALE_AFTER: Final = 48 * 3600 * MICROS_PER_SECOND
_ACCOUNTS: Final = select(ad_account.c.provider, ad_account.c.status, ad_account.c.synced_at).where(
    ad_account.c.shop_key == bindparam("shop_key")
)


@dataclass(slots=True)
class Outcome:
    """Submissions and orders of the window. `net` and `net_by_day` (days with orders only) are in minor
    units of the shop's currency."""

    submissions: int = 0
    orders: int = 0
    net: int = 0
    net_by_day: dict[int, int] = field(default_factory=dict)

    def add(self, other: "Outcome") -> None:
        """Add the submissions and orders of another one."""
        self.submissions += other.submissions
        self.orders += other.orders
        self.net += other.net
        for day, net in other.net_by_day.items():
            self.net_by_day[day] = self.net_by_day.get(day, 0) + net


Outcomes = dict[Campaign | None, Outcome]
"""By campaign. None has the submissions and orders that belong to no campaign."""


@dataclass(frozen=True, slots=True)
class _Entry:
    """A campaign and a currency of its spend, or the sums of several in one currency. `revenue` is the net
    revenue in that currency; None if the day of an order has no rate."""

    campaign: Campaign
    name: str
    currency: str
    cost: Spend
    outcome: Outcome
    revenue: Decimal | None


def staleness(query: Query) -> tuple[int, int]:
    """The number of stale accounts, and the first instant at which it may be greater.

    While the data stays the same, accounts only become stale. So the number changes exactly when the
    answer does.
    """
    accounts = read_rows(query.connection, _ACCOUNTS, {"shop_key": query.shop.key})
    pulls = [synced_at for _, status, synced_at in accounts if status != FAILED]
    deadline = _deadline(query)
    stale = sum(synced_at < deadline for synced_at in pulls)
    if deadline == query.window.end:
        return stale, NEVER
    fresh = [synced_at + STALE_AFTER + 1 for synced_at in pulls if synced_at >= deadline]
    return stale, min([query.window.end, *fresh])


@get("/ads/spend", "analytics:read", SPEND, single=True, limited=True, clock=staleness)
def ad_spend(query: Query) -> Answer:
    """Ad spend with its leads, orders and return.

    `{rows, attributionCoverage, unavailableProviders}`. Submissions are on the submission clock and orders on
    the order clock. Spend is dated by the platform's date, which is taken as the shop's day. At most 10,000
    rows; the others are summed in one row `(other)` for each currency, before the unattributed row.
    """
    campaigns = campaigns_of(query)
    outcomes, coverage = outcomes_of(query, campaigns)
    unattributed = outcomes.pop(None)
    window = query.window
    spend = spend_between(query.connection, query.shop.key, window.first, window.last)
    carriers = _carriers(query, spend, outcomes)

    def entry(campaign: Campaign, name: str, currency: str, cost: Spend, own: Outcome) -> _Entry:
        source = query.shop.currency
        revenue = campaigns.rates.convert(query.connection, own.net_by_day, source, currency)
        return _Entry(campaign, name, currency, cost, own, revenue)

    entries = []
    pairs = {(campaign, currency) for campaign, costs in spend.items() for currency in costs}
    for campaign, currency in pairs | set(carriers.items()):
        cost = spend.get(campaign, {}).get(currency, _NO_SPEND)
        outcome = outcomes.get(campaign) if carriers.get(campaign) == currency else None
        outcome = outcome or Outcome()
        if cost == _NO_SPEND and not outcome.submissions and not outcome.orders:
            continue
        entries.append(entry(campaign, campaigns.names[campaign], currency, cost, outcome))
    without_rate = {one.campaign[0] for one in entries if one.revenue is None}
    entries.sort(key=_order)
    others = entries[query.limits.rows :]
    entries = entries[: query.limits.rows]
    # Amounts in two currencies do not add up.
    costs: dict[str, Spend] = {}
    sums: dict[str, Outcome] = {}
    with localcontext(WORKING):
        for other in others:
            costs[other.currency] = costs.get(other.currency, _NO_SPEND) + other.cost
            sums.setdefault(other.currency, Outcome()).add(other.outcome)
    of_others = (
        entry((OTHER, OTHER), OTHER, currency, cost, sums[currency])
        for currency, cost in costs.items()
    )
    entries += sorted(of_others, key=_order)
    shown = [_row(one, query.shop.currency) for one in entries]
    if unattributed.orders:
        last = {name: 0 if name in ROW.figures else "" for name in ROW.columns}
        last |= {"campaignName": "unattributed", "attributedOrders": unattributed.orders}
        shown.append(last | {"attributedNetRevenueCents": unattributed.net})
    data = {
        "rows": shown,
        "attributionCoverage": coverage,
        "unavailableProviders": unavailable_providers(query, without_rate),
    }
    return Answer(data, meta=other_rows(len(others)))


def campaigns_of(query: Query) -> Campaigns:
    """Every ad campaign of the shop."""
    shop = query.shop
    return query.cache.get(
        "campaigns", shop.key, shop.data_version, lambda: Campaigns(query.connection, shop.key)
    )


def _order(entry: _Entry) -> tuple[Decimal, Campaign, str]:
    return -entry.cost.amount, entry.campaign, entry.currency


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


def _row(entry: _Entry, shop_currency: str) -> dict[str, Any]:
    cost, outcome = entry.cost, entry.outcome
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
        "roas": ratio(entry.revenue or 0, Fraction(cost.amount) * minor_units(shop_currency), 4),
    }


def outcomes_of(query: Query, campaigns: Campaigns) -> tuple[Outcomes, dict[str, float | None]]:
    """The outcome of each campaign; and by provider, the percentage of its submissions (by `utm_source`)
    that belong to a campaign, None without submissions."""
    submitted = query.cells("utm_submission", ("utm",))
    # Days are needed only to convert revenue into another currency.
    foreign = campaigns.currencies - {query.shop.currency}
    ordered = query.cells("utm_order", ("day", "utm") if foreign else ("utm",))
    utms, index = distinct(np.concatenate([submitted["utm"], ordered.pop("utm")]))
    of_submissions, of_orders = np.split(index, [len(submitted["utm"])])
    submissions, group_keys = np.zeros((2, len(utms)), dtype=np.int64)
    np.add.at(submissions, of_submissions, submitted["submissions"])
    outcomes: Outcomes = {None: Outcome()}
    numbers: dict[Campaign | None, int] = {None: 0}
    # Submissions of each source that is a provider's: with a campaign, and all.
    by_source = {
        source: [0, 0] for provider in campaigns.providers for source in sources_of(provider)
    }
    each_utm = zip(query.each_utm(utms), submissions.tolist(), strict=True)
    for place, (utm, sent) in enumerate(each_utm):
        campaign = campaigns.match(utm[_SOURCE], utm[_CAMPAIGN], utm[_ID])
        outcomes.setdefault(campaign, Outcome()).submissions += sent
        group_keys[place] = numbers.setdefault(campaign, len(numbers))
        counts = by_source.get(utm[_SOURCE].lower())
        if counts:
            counts[0] += sent if campaign else 0
            counts[1] += sent
    _add_orders(list(outcomes.values()), group_keys[of_orders], ordered)
    coverage: dict[str, float | None] = {}
    for provider in campaigns.providers:
        of_provider = [by_source[source] for source in sources_of(provider)]
        with_campaign, of_all = map(sum, zip(*of_provider, strict=True))
        coverage[provider] = percent(with_campaign, of_all) if of_all else None
    return outcomes, coverage


def _add_orders(outcomes: list[Outcome], group_keys: Column, ordered: dict[str, Column]) -> None:
    """Add rows of `ordered` (`orders`, `gross`, `refunded`, perhaps `day`) to the outcomes. The group key
    of a row is the index of its outcome."""
    days = ordered.get("day", np.zeros(len(group_keys), dtype=np.int64))
    (keys, days), (orders, net) = add_up(
        [group_keys, days], [ordered["orders"], ordered["gross"] - ordered["refunded"]]
    )
    has_orders = orders != 0
    keys, days, orders, net = (column[has_orders] for column in (keys, days, orders, net))
    # The rows of one outcome follow each other: they are sorted by key, then day.
    distinct_keys, starts, counts = np.unique(keys, return_index=True, return_counts=True)
    for key, start, length in zip(
        distinct_keys.tolist(), starts.tolist(), counts.tolist(), strict=True
    ):
        end = start + length
        amounts = net[start:end].tolist()
        outcome = outcomes[key]
        outcome.orders = int(orders[start:end].sum())
        outcome.net = sum(amounts)
        outcome.net_by_day = dict(zip(days[start:end].tolist(), amounts, strict=True))


def unavailable_providers(query: Query, without_rate: set[str]) -> list[dict[str, Any]]:
    """One entry per provider and reason, sorted by them.

    A pull is stale if it is older than the end of the window, or older than 48 hours if that end is in the
    future. A failed pull is not also stale. `without_rate` has the providers whose revenue could not be
    converted. `lastSyncedAt` is the earliest of the affected accounts, null without accounts.
    """
    deadline = _deadline(query)
    affected: dict[tuple[str, str], list[int]] = {
        (provider, "no_exchange_rate"): [] for provider in without_rate
    }
    accounts = read_rows(query.connection, _ACCOUNTS, {"shop_key": query.shop.key})
    for provider, status, synced_at in accounts:
        if status == FAILED:
            affected.setdefault((provider, "sync_failed"), []).append(synced_at)
        elif synced_at < deadline:
            affected.setdefault((provider, "stale"), []).append(synced_at)
        if provider in without_rate:
            affected[provider, "no_exchange_rate"].append(synced_at)
    return [
        {
            "provider": provider,
            "reason": reason,
            "lastSyncedAt": iso_millis(min(synced)) if synced else None,
        }
        for (provider, reason), synced in sorted(affected.items())
    ]


def _deadline(query: Query) -> int:
    """A pull before this instant is stale."""
    end = query.window.end
    return end if end <= query.now else query.now - STALE_AFTER
