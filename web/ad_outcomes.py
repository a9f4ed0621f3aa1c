"""What came of ad campaigns: submissions and orders, by the campaign of their UTM."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from warehouse.adding import Column, add_up, distinct
from warehouse.vocabulary import UTM_FIELDS
from web.campaigns import Campaign, Campaigns, sources_of
from web.questions import Question
from web.rounding import percent

_SOURCE: Final = UTM_FIELDS.index("utm_source")
_CAMPAIGN: Final = UTM_FIELDS.index("utm_campaign")
_ID: Final = UTM_FIELDS.index("utm_id")


@dataclass(slots=True)
class Outcome:
    """What came of a campaign (or of none): submissions and orders of the range. `net` and
    `net_by_day` (of days with orders) are in minor units of the shop's currency."""

    submissions: int = 0
    orders: int = 0
    net: int = 0
    net_by_day: dict[int, int] = field(default_factory=dict)


Outcomes = dict[Campaign | None, Outcome]
"""By campaign; of None, what belongs to no campaign."""


def outcomes_of(
    question: Question, campaigns: Campaigns
) -> tuple[Outcomes, dict[str, float | None]]:
    """What came of each campaign, of None what belongs to no campaign; and per provider the share
    of its sources' submissions that have a campaign."""
    submitted = question.sums("utm_submission", by=("utm",))
    # Days matter only where revenue is to be brought into another currency.
    foreign = campaigns.currencies - {question.shop.currency}
    ordered = question.cells("utm_order", ("day", "utm") if foreign else ("utm",))
    sold, places = distinct(ordered.pop("utm"))
    utms = question.utms({*submitted["utm"].tolist(), *sold.tolist()})
    matched = {
        key: campaigns.of(utm[_SOURCE], utm[_CAMPAIGN], utm[_ID]) for key, utm in utms.items()
    }
    outcomes: Outcomes = {campaign: Outcome() for campaign in (None, *matched.values())}
    numbers = {campaign: number for number, campaign in enumerate(outcomes)}
    labels = np.array([numbers[matched[utm]] for utm in sold.tolist()], dtype=np.int64)
    _add_orders(list(outcomes.values()), labels[places], ordered)
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


def _add_orders(outcomes: list[Outcome], labels: Column, ordered: dict[str, Column]) -> None:
    """Add lines of orders, perhaps by day, to outcomes; each line's is at its label's place."""
    days = ordered.get("day", np.zeros(len(labels), dtype=np.int64))
    (places, days), (orders, net) = add_up(
        [labels, days], [ordered["orders"], ordered["gross"] - ordered["refunded"]]
    )
    some = orders != 0
    places, days, orders, net = places[some], days[some], orders[some], net[some]
    # By place, then day: each outcome has one stretch.
    found, starts, lengths = np.unique(places, return_index=True, return_counts=True)
    for place, start, length in zip(found.tolist(), starts.tolist(), lengths.tolist(), strict=True):
        end = start + length
        amounts = net[start:end].tolist()
        outcome = outcomes[place]
        outcome.orders = int(orders[start:end].sum())
        outcome.net = sum(amounts)
        outcome.net_by_day = dict(zip(days[start:end].tolist(), amounts, strict=True))


def _coverage(seen: Iterable[Iterable[int]]) -> float | None:
    with_campaign, submissions = map(sum, zip(*seen, strict=True))
    return percent(with_campaign, submissions) if submissions else None
