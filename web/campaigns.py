"""Ad campaigns: which are known to a shop, their spend, and which one a UTM belongs to.

A campaign is known from the first ad-spend row that names it, whatever its date; it is matched when
an answer is read, so that a renamed campaign or a late row needs no rollup.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal, localcontext
from functools import cache
from typing import Any, Final

from sqlalchemy import Connection, Select, bindparam, func, select, tuple_

from warehouse.schema import ad_spend
from warehouse.vocabulary import PROVIDER_SOURCES
from web.callers import Shop
from web.exchange import WORKING, Rates

Campaign = tuple[str, str]
"""Provider and campaign id."""

_MOST_SHOPS: Final = 100


@dataclass(frozen=True, slots=True)
class Spend:
    """What a campaign cost in one currency (major units), and what it showed for it."""

    amount: Decimal
    impressions: int
    clicks: int


class Campaigns:
    """Every campaign that a shop's ad spend has ever named: `names`, the latest by date (of one
    date, the greatest), `currencies`, those of any spend, and `rates`, which bring revenue into them."""

    def __init__(self, connection: Connection, shop_key: int) -> None:
        self.names: dict[Campaign, str] = {}
        self.currencies: set[str] = set()
        self.rates = Rates()
        self._sources: dict[str, _Source] = {}
        # By day and name ascending: what comes last is the latest.
        for row in connection.execute(_known(), {"shop_key": shop_key}):
            campaign = row.provider, row.campaign_id
            self.names[campaign] = row.campaign_name
            self.currencies.add(row.currency)
            for source in sources_of(row.provider):
                self._sources.setdefault(source, _Source()).learn(campaign, row.campaign_name)
        self.providers = sorted({provider for provider, _ in self.names})

    def of(self, source: str, campaign: str, utm_id: str) -> Campaign | None:
        """The campaign of three UTM values (contract 3)."""
        known = self._sources.get(source.lower())
        return known.match(campaign, utm_id) if known else None


class KnownCampaigns:
    """The campaigns of shops, read again when a shop's data version has moved: to find every name
    that a campaign ever had takes a look at all its ad spend. One per process."""

    def __init__(self) -> None:
        self._by_shop: dict[int, tuple[int, Campaigns]] = {}

    def of(self, connection: Connection, shop: Shop) -> Campaigns:
        version, campaigns = self._by_shop.get(shop.key, (None, None))
        if campaigns is None or version != shop.data_version:
            campaigns = Campaigns(connection, shop.key)
            if len(self._by_shop) >= _MOST_SHOPS:
                self._by_shop.clear()
            self._by_shop[shop.key] = shop.data_version, campaigns
        return campaigns


def sources_of(provider: str) -> tuple[str, ...]:
    """The `utm_source` values, in lower case, that belong to a provider."""
    return PROVIDER_SOURCES.get(provider, (provider,))


class _Source:
    """The campaigns that one utm_source can mean; of several with one id or name, the one with the
    smallest campaign id."""

    def __init__(self) -> None:
        self._by_id: dict[str, Campaign] = {}
        self._by_name: dict[str, Campaign] = {}

    def learn(self, campaign: Campaign, name: str) -> None:
        self._by_id[campaign[1]] = min(campaign, self._by_id.get(campaign[1], campaign))
        known = self._by_name.get(name.lower(), campaign)
        self._by_name[name.lower()] = min(campaign, known, key=lambda one: (one[1], one[0]))

    def match(self, campaign: str, utm_id: str) -> Campaign | None:
        by_id = self._by_id
        return by_id.get(utm_id) or by_id.get(campaign) or self._by_name.get(campaign.lower())


def spend_between(
    connection: Connection, shop_key: int, first: int, last: int
) -> dict[Campaign, dict[str, Spend]]:
    """Campaign -> currency -> spend, over the days `first`..`last`."""
    values = {"shop_key": shop_key, "first": first, "last": last}
    return _by_currency(connection.execute(_spend(ever=False), values))


def spend_ever(
    connection: Connection, shop_key: int, campaigns: Iterable[Campaign]
) -> dict[Campaign, dict[str, Spend]]:
    """The same, of some campaigns, over all days."""
    values = {"shop_key": shop_key, "campaigns": list(campaigns)}
    return _by_currency(connection.execute(_spend(ever=True), values))


def _by_currency(rows: Iterable[Any]) -> dict[Campaign, dict[str, Spend]]:
    spend: dict[Campaign, dict[str, Spend]] = {}
    with localcontext(WORKING):
        for provider, campaign_id, currency, amounts, impressions, clicks in rows:
            amount = sum(map(Decimal, amounts.split()), Decimal(0))
            spend.setdefault((provider, campaign_id), {})[currency] = Spend(
                amount, int(impressions), int(clicks)
            )
    return spend


@cache
def _known() -> Select[Any]:
    table = ad_spend.c
    keys = (table.provider, table.campaign_id, table.campaign_name, table.currency)
    return (
        select(*keys)
        .where(table.shop_key == bindparam("shop_key"))
        .group_by(*keys)
        .order_by(func.max(table.day), table.campaign_name)
    )


@cache
def _spend(*, ever: bool) -> Select[Any]:
    # Amounts travel as one text a group and are added as decimals here: SQLite has none, and would
    # add them as floats.
    table = ad_spend.c
    keys = (table.provider, table.campaign_id, table.currency)
    sums = (
        func.aggregate_strings(table.spend, " "),
        func.sum(table.impressions),
        func.sum(table.clicks),
    )
    statement = select(*keys, *sums).where(table.shop_key == bindparam("shop_key"))
    if ever:
        named = tuple_(table.provider, table.campaign_id)
        statement = statement.where(named.in_(bindparam("campaigns", expanding=True)))
    else:
        statement = statement.where(table.day.between(bindparam("first"), bindparam("last")))
    return statement.group_by(*keys)
