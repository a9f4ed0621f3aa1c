"""Submissions and orders of ad campaigns, by the campaign to which their UTM values belong."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from warehouse.daily.group_sum import Column, add_up, distinct
from warehouse.domain.rounding import percent
from warehouse.domain.vocabulary import UTM_FIELDS
from web.api.ad_campaigns import Campaign, Campaigns, sources_of
from web.api.query import Query

_SOURCE: Final = UTM_FIELDS.index("utm_source")
_CAMPAIGN: Final = UTM_FIELDS.index("utm_campaign")
_ID: Final = UTM_FIELDS.index("utm_id")


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


def outcomes_of(query: Query, campaigns: Campaigns) -> tuple[Outcomes, dict[str, float | None]]:
    """The outcome of each campaign; and by provider, the percentage of its submissions (by `utm_source`)
    that belong to a campaign, None without submissions."""
    submitted = query.sums("utm_submission", by=("utm",))
    # Days are needed only to convert revenue into another currency.
    foreign = campaigns.currencies - {query.shop.currency}
    ordered = query.cells("utm_order", ("day", "utm") if foreign else ("utm",))
    order_utms, index = distinct(ordered.pop("utm"))
    outcomes: Outcomes = {None: Outcome()}
    numbers: dict[Campaign | None, int] = {None: 0}
    group_keys = np.empty(len(order_utms), dtype=np.int64)
    for place, utm in enumerate(query.each_utm(order_utms)):
        campaign = campaigns.match(utm[_SOURCE], utm[_CAMPAIGN], utm[_ID])
        outcomes.setdefault(campaign, Outcome())
        group_keys[place] = numbers.setdefault(campaign, len(numbers))
    _add_orders(list(outcomes.values()), group_keys[index], ordered)
    # Submissions of each source that is a provider's: with a campaign, and all.
    by_source = {
        source: [0, 0] for provider in campaigns.providers for source in sources_of(provider)
    }
    for utm, count in zip(
        query.each_utm(submitted["utm"]), submitted["submissions"].tolist(), strict=True
    ):
        campaign = campaigns.match(utm[_SOURCE], utm[_CAMPAIGN], utm[_ID])
        outcomes.setdefault(campaign, Outcome()).submissions += count
        counts = by_source.get(utm[_SOURCE].lower())
        if counts:
            counts[0] += count if campaign else 0
            counts[1] += count
    return outcomes, {
        provider: _coverage(by_source[source] for source in sources_of(provider))
        for provider in campaigns.providers
    }


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
    for key, start, count in zip(
        distinct_keys.tolist(), starts.tolist(), counts.tolist(), strict=True
    ):
        end = start + count
        amounts = net[start:end].tolist()
        outcome = outcomes[key]
        outcome.orders = int(orders[start:end].sum())
        outcome.net = sum(amounts)
        outcome.net_by_day = dict(zip(days[start:end].tolist(), amounts, strict=True))


def _coverage(counts: Iterable[Iterable[int]]) -> float | None:
    with_campaign, submissions = map(sum, zip(*counts, strict=True))
    return percent(with_campaign, submissions) if submissions else None
