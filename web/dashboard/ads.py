"""`/ads`: ad spend beside the revenue that is credited to its campaigns.

Spend is dated by the platform, submissions and orders by their own day. Revenue is in the shop's currency,
spend in that of the ad account: the two meet only where the API has converted the revenue, in `roas`.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any, Final
from zoneinfo import ZoneInfo

from warehouse.domain.currencies import minor_units
from warehouse.domain.rounding import ratio
from web.api.row_limit import OTHER
from web.dashboard.charts.pairs import Pair, pairs
from web.dashboard.comparison import Amount
from web.dashboard.page import View
from web.dashboard.sorting import SortedTable, sorted_table

# The advice about a provider whose figures are not complete.
REASONS: Final = {
    "sync_failed": "The last pull of its spend failed. Check its access, then pull again.",
    "stale": "Its spend was last pulled before the end of these days. Pull again.",
    "no_exchange_rate": "A day of its orders has no exchange rate. Import the rates of that day.",
}
# Below it, in per cent, too many submissions cannot be set against the spend that won them.
LOW_COVERAGE: Final = 80
# Campaigns of the chart, for each currency of spend; the table has more.
_DRAWN: Final = 8
_ROAS_DIGITS: Final = 4


@dataclass(frozen=True, slots=True)
class Line:
    """A campaign, or the sums of several whose spend is in one currency.

    `spend` and the costs are in major units of `currency`. `net` is in minor units of the shop's currency,
    `converted` the same in minor units of `currency`: None where the API has not converted all of it. The
    costs and `roas` are None where there is nothing to divide, or to divide by.
    """

    provider: str
    campaign_id: str
    name: str
    currency: str
    spend: Decimal
    submissions: int
    orders: int
    net: int
    converted: int | None
    cost_per_lead: float | None
    cost_per_order: float | None
    roas: float | None

    @property
    def spend_cents(self) -> int:
        """In minor units of `currency`, half-up as all that the API divides."""
        return int(ratio(self.spend * minor_units(self.currency), 1, 0))


@dataclass(frozen=True, slots=True)
class Compared:
    """A line with its spend, net revenue and return beside those of the days before. `roas` is in
    ten-thousandths, None where there is no return."""

    line: Line
    spend: Amount
    net: Amount
    roas: Amount | None


Key = tuple[str, ...]


def ads(view: View) -> str:
    data, data_before = view.data("/ads/spend"), view.before("/ads/spend")
    campaigns = _campaigns(data["rows"])
    former = None if data_before is None else _campaigns(data_before["rows"])
    home = view.shop.currency

    def by(key: Callable[[Line], Key]) -> list[Compared]:
        return _compared(_summed(campaigns, key), None if former is None else _summed(former, key))

    by_provider = by(lambda line: (line.currency, line.provider))
    by_campaign = by(lambda line: (line.currency, line.provider, line.campaign_id))
    return view.render(
        "ads.html",
        totals=by_currency(data, data_before, home),
        net=Amount(_net(campaigns), None if former is None else _net(former)),
        orders=Amount(_orders(campaigns), None if former is None else _orders(former)),
        unattributed=next((row for row in data["rows"] if not row["provider"]), None),
        provider_charts=_charts(by_provider, home),
        campaign_charts=_charts(by_campaign, home, _DRAWN),
        drawn=_DRAWN,
        compares=former is not None,
        table=_sorted(by_campaign, home),
        coverage=_coverage(data, data_before),
        low_coverage=LOW_COVERAGE,
        unavailable=[
            {
                **entry,
                "what_to_do": REASONS[entry["reason"]],
                "pulled": _local(entry["lastSyncedAt"], view.shop.timezone),
            }
            for entry in data["unavailableProviders"]
        ],
    )


def by_currency(
    data: dict[str, Any], data_before: dict[str, Any] | None, home: str
) -> list[Compared]:
    """All campaigns of an answer, summed by the currency of their spend: the shop's first."""

    def sums(answer: dict[str, Any]) -> dict[Key, Line]:
        return _summed(_campaigns(answer["rows"]), lambda line: (line.currency,))

    totals = _compared(sums(data), None if data_before is None else sums(data_before))
    return sorted(totals, key=lambda each: _rank(each.line, home))


def _campaigns(rows: list[dict[str, Any]]) -> list[Line]:
    """The campaigns, without the row of the orders that belong to none."""
    return [_campaign(row) for row in rows if row["provider"]]


def _campaign(row: dict[str, Any]) -> Line:
    net, has_spend = row["attributedNetRevenueCents"], row["spend"] > 0
    converted = net if row["currency"] == row["revenueCurrency"] or not net else None
    if converted is None and row["roas"]:
        converted = round(row["roas"] * row["spend"] * minor_units(row["currency"]))
    return Line(
        provider=row["provider"],
        campaign_id=row["campaignId"],
        name=row["campaignName"] or row["campaignId"],
        currency=row["currency"],
        # The shortest decimal of the number is the one that the API rounded to.
        spend=Decimal(str(row["spend"])),
        submissions=row["attributedSubmissions"],
        orders=row["attributedOrders"],
        net=net,
        converted=converted,
        cost_per_lead=row["costPerLead"] if has_spend and row["attributedSubmissions"] else None,
        cost_per_order=row["costPerAcquisition"] if has_spend and row["attributedOrders"] else None,
        roas=row["roas"] if has_spend and converted is not None else None,
    )


def _summed(lines: list[Line], key: Callable[[Line], Key]) -> dict[Key, Line]:
    """The sums of the lines with the same key, all of one currency; a single one as it is."""
    groups: dict[Key, list[Line]] = {}
    for line in lines:
        groups.setdefault(key(line), []).append(line)
    return {each: lines[0] if len(lines) == 1 else _sum(lines) for each, lines in groups.items()}


def _sum(lines: list[Line]) -> Line:
    spend = sum((line.spend for line in lines), Decimal(0))
    submissions, orders = sum(line.submissions for line in lines), _orders(lines)
    known = [line.converted for line in lines if line.converted is not None]
    converted = sum(known) if len(known) == len(lines) else None
    has_spend, currency = spend > 0, lines[0].currency
    return Line(
        provider=lines[0].provider,
        campaign_id="",
        name="",
        currency=currency,
        spend=spend,
        submissions=submissions,
        orders=orders,
        net=_net(lines),
        converted=converted,
        cost_per_lead=ratio(spend, submissions, 2) if has_spend and submissions else None,
        cost_per_order=ratio(spend, orders, 2) if has_spend and orders else None,
        roas=ratio(converted, spend * minor_units(currency), _ROAS_DIGITS)
        if has_spend and converted is not None
        else None,
    )


def _compared(now: dict[Key, Line], before: dict[Key, Line] | None) -> list[Compared]:
    # A line that is not among the former ones can be in their sum of others.
    is_complete = before is not None and all(line.provider != OTHER for line in before.values())
    missing = 0 if is_complete else None
    compared = []
    for key, line in now.items():
        former = (before or {}).get(key)
        roas, roas_before = _scaled(line.roas), _scaled(former.roas) if former else None
        compared.append(
            Compared(
                line=line,
                spend=Amount(line.spend_cents, former.spend_cents if former else missing),
                net=Amount(line.net, former.net if former else missing),
                roas=None if roas is None else Amount(roas, roas_before),
            )
        )
    return compared


def _scaled(roas: float | None) -> int | None:
    return None if roas is None else round(roas * 10**_ROAS_DIGITS)


def _charts(
    lines: list[Compared], home: str, most: int | None = None
) -> list[tuple[str, list[tuple[Compared, Pair]]]]:
    """By currency of spend, the shop's first: the lines with most spend, and their bars of spend and net
    revenue on one scale."""
    by_currency: dict[str, list[Compared]] = {}
    for each in sorted(lines, key=lambda each: (_rank(each.line, home), -each.line.spend)):
        by_currency.setdefault(each.line.currency, []).append(each)
    charts = []
    for currency, members in by_currency.items():
        shown = members[:most]
        values = [(each.line.spend_cents or None, each.line.converted) for each in shown]
        charts.append((currency, list(zip(shown, pairs(values), strict=True))))
    return charts


def _sorted(lines: list[Compared], home: str) -> SortedTable:
    """The campaigns. Amounts in different currencies are not compared: the shop's come first where the
    most does."""

    def in_currency(value: Callable[[Line], Any]) -> Callable[[Compared], Any]:
        def key(each: Compared) -> tuple[bool, str, Any] | None:
            line = each.line
            number = value(line)
            return None if number is None else (line.currency == home, line.currency, number)

        return key

    return sorted_table(
        "campaigns",
        lines,
        {
            "provider": lambda each: each.line.provider,
            "campaign": lambda each: each.line.name,
            "spend": in_currency(lambda line: line.spend or None),
            "submissions": lambda each: each.line.submissions,
            "lead": in_currency(lambda line: line.cost_per_lead),
            "orders": lambda each: each.line.orders,
            "order": in_currency(lambda line: line.cost_per_order),
            "net": lambda each: each.line.net,
            "roas": lambda each: each.line.roas,
        },
        "-spend",
    )


def _coverage(data: dict[str, Any], before: dict[str, Any] | None) -> list[dict[str, Any]]:
    """By provider, in per cent; None where it brought no submissions."""
    former = before["attributionCoverage"] if before else {}
    return [
        {"provider": provider, "value": value, "before": former.get(provider)}
        for provider, value in sorted(data["attributionCoverage"].items())
    ]


def _rank(line: Line, home: str) -> tuple[bool, str]:
    """Orders currencies: the shop's own, then by code."""
    return line.currency != home, line.currency


def _net(lines: list[Line]) -> int:
    return sum(line.net for line in lines)


def _orders(lines: list[Line]) -> int:
    return sum(line.orders for line in lines)


def _local(text: str | None, timezone: str) -> datetime | None:
    return datetime.fromisoformat(text).astimezone(ZoneInfo(timezone)) if text else None
