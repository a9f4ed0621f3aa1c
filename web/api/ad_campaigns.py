"""Ad campaigns of a shop: their names, their spend, and the campaign to which UTM values belong.

A shop has a campaign from the first ad-spend row that names it, whatever its date. Campaigns are matched
when an answer is read, so a renamed campaign or a late row needs no rollup.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal, localcontext
from typing import Any, Final

from sqlalchemy import Connection, bindparam, func, select, tuple_

from warehouse.domain.vocabulary import PROVIDER_SOURCES
from warehouse.tables import ad_spend
from web.api.exchange_rates import WORKING, Rates

Campaign = tuple[str, str]
"""Provider and campaign id."""

_spend = ad_spend.c
_OF_SHOP: Final = _spend.shop_key == bindparam("shop_key")
_BY_NAME: Final = (_spend.provider, _spend.campaign_id, _spend.campaign_name, _spend.currency)
_NAMED: Final = (
    select(*_BY_NAME)
    .where(_OF_SHOP)
    .group_by(*_BY_NAME)
    .order_by(func.max(_spend.day), _spend.campaign_name)
)
_BY_CURRENCY: Final = (_spend.provider, _spend.campaign_id, _spend.currency)
# A group's amounts come as one text and are added as decimals in Python: SQLite has no decimals, and would
# add floats.
_SPEND: Final = (
    select(
        *_BY_CURRENCY,
        func.aggregate_strings(_spend.spend, " "),
        func.sum(_spend.impressions),
        func.sum(_spend.clicks),
    )
    .where(_OF_SHOP)
    .group_by(*_BY_CURRENCY)
)
_SPEND_BETWEEN: Final = _SPEND.where(_spend.day.between(bindparam("first"), bindparam("last")))
_SPEND_EVER: Final = _SPEND.where(
    tuple_(_spend.provider, _spend.campaign_id).in_(bindparam("campaigns", expanding=True))
)


@dataclass(frozen=True, slots=True)
class Spend:
    """The spend of a campaign in one currency (`amount` in major units), with its impressions and clicks."""

    amount: Decimal
    impressions: int
    clicks: int

    def __add__(self, other: "Spend") -> "Spend":
        return Spend(
            self.amount + other.amount,
            self.impressions + other.impressions,
            self.clicks + other.clicks,
        )


class Campaigns:
    """Every campaign that a shop's ad spend has ever named.

    `names` has the latest name of each campaign by date (the greatest of one date), `currencies` every
    currency of spend, and `rates` converts revenue into them.
    """

    def __init__(self, connection: Connection, shop_key: int) -> None:
        self.names: dict[Campaign, str] = {}
        self.currencies: set[str] = set()
        self.rates = Rates()
        self._sources: dict[str, _SourceCampaigns] = {}
        # Rows come by day and name, so the last one is the latest.
        for row in connection.execute(_NAMED, {"shop_key": shop_key}):
            campaign = row.provider, row.campaign_id
            self.names[campaign] = row.campaign_name
            self.currencies.add(row.currency)
            for source in sources_of(row.provider):
                self._sources.setdefault(source, _SourceCampaigns()).add(
                    campaign, row.campaign_name
                )
        self.providers = sorted({provider for provider, _ in self.names})

    def __len__(self) -> int:
        return len(self.names)

    def match(self, source: str, campaign: str, utm_id: str) -> Campaign | None:
        """The campaign of the values `utm_source`, `utm_campaign` and `utm_id`."""
        matcher = self._sources.get(source.lower())
        return matcher.match(campaign, utm_id) if matcher else None


def sources_of(provider: str) -> tuple[str, ...]:
    """The `utm_source` values, in lower case, that belong to a provider."""
    return PROVIDER_SOURCES.get(provider, (provider,))


class _SourceCampaigns:
    """The campaigns of one `utm_source`. Several with the same id or name: the one with the smallest
    campaign id counts."""

    def __init__(self) -> None:
        self._by_id: dict[str, Campaign] = {}
        self._by_name: dict[str, Campaign] = {}

    def add(self, campaign: Campaign, name: str) -> None:
        self._by_id[campaign[1]] = min(campaign, self._by_id.get(campaign[1], campaign))
        same_name = self._by_name.get(name.lower(), campaign)
        self._by_name[name.lower()] = min(campaign, same_name, key=lambda each: (each[1], each[0]))

    def match(self, campaign: str, utm_id: str) -> Campaign | None:
        by_id = self._by_id
        return by_id.get(utm_id) or by_id.get(campaign) or self._by_name.get(campaign.lower())


def spend_between(
    connection: Connection, shop_key: int, first: int, last: int
) -> dict[Campaign, dict[str, Spend]]:
    """Spend by campaign and currency, over the days `first`..`last`."""
    values = {"shop_key": shop_key, "first": first, "last": last}
    return _by_currency(connection.execute(_SPEND_BETWEEN, values))


def spend_ever(
    connection: Connection, shop_key: int, campaigns: Iterable[Campaign]
) -> dict[Campaign, dict[str, Spend]]:
    """Spend of these campaigns by campaign and currency, over all days."""
    values = {"shop_key": shop_key, "campaigns": list(campaigns)}
    return _by_currency(connection.execute(_SPEND_EVER, values))


def _by_currency(rows: Iterable[Any]) -> dict[Campaign, dict[str, Spend]]:
    spend: dict[Campaign, dict[str, Spend]] = {}
    with localcontext(WORKING):
        for provider, campaign_id, currency, amounts, impressions, clicks in rows:
            amount = sum(map(Decimal, amounts.split()), Decimal(0))
            spend.setdefault((provider, campaign_id), {})[currency] = Spend(
                amount, int(impressions), int(clicks)
            )
    return spend
