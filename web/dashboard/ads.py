"""`/ads`: ad spend beside the revenue that is credited to its campaigns.

Spend is dated by the platform, submissions and orders by their own day. Revenue is in the shop's currency,
spend in that of the ad account: the two meet only where the API has converted the revenue, in `roas`.
"""

from collections.abc import Callable
from datetime import datetime
from decimal import Decimal
from typing import Any, Final

from warehouse.domain.currencies import minor_units
from warehouse.domain.rounding import ratio
from warehouse.domain.zones import zone
from web.dashboard.charts.bars import pairs
from web.dashboard.comparable import EVENTS, ORDERS, SPEND
from web.dashboard.compare import Amount, ComparedRow
from web.dashboard.page import Page, View
from web.dashboard.table import Card, Column, Sum, card, columns_of, shown, table
from web.reports.ads import ROW, ad_spend

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
_NO_SUBMISSIONS: Final = "no submissions from it"
# Spend is dated by the platform; what it brought is made of events and orders.
_MADE_OF: Final = (SPEND, EVENTS, ORDERS)
_NO_SPEND: Final = "no spend in these days"
_NET: Final = "attributedNetRevenueCents"
_column = columns_of(ROW)

# A campaign, or several whose spend is in one currency, as a row of the report. `spend` is in minor units of
# `currency`; `converted` is the net revenue in minor units of `currency`, None where the API has not
# converted all of it. The costs, in major units, and `roas` are None without a divisor.
Line = dict[str, Any]


def ads(view: View) -> Page:
    home, data = view.shop.currency, view.data(ad_spend)
    totals = spend_by_currency(view)
    by_provider = _ranked(_lines_by(view, "currency", "provider"), home)
    by_campaign = _lines_by(view, "currency", "provider", "campaignId")
    credited = view.compared(ad_spend, lines=_of_campaigns, made_of=_MADE_OF).total(ROW.total)
    columns = _columns(home)
    sums = [Sum(f"All with spend in {each['currency']}", each) for each in totals]
    sums += _other_orders(data["rows"])
    marks = {"provider": "provider", "currency": "currency"}
    return view.page(
        "ads.html",
        cards=_cards(totals, credited, (columns[2], columns[-1]), home) if by_campaign else [],
        provider_charts=_charts(by_provider),
        campaign_charts=_charts(_ranked(by_campaign, home), _DRAWN),
        drawn=_DRAWN,
        providers=table(
            view,
            "providers",
            (columns[0], *columns[2:]),
            by_provider,
            sums=sums,
            marks=marks | {"row": "provider"},
        ),
        campaigns=table(
            view,
            "campaigns",
            columns,
            by_campaign,
            "-spend",
            sums=sums,
            marks=marks | {"row": "campaignId"},
        ),
        coverage=[
            (
                row["provider"],
                row["coverage"],
                shown(row.amount("coverage"), "percent", without=_NO_SUBMISSIONS),
            )
            for row in view.compared(ad_spend, "provider", lines=_coverage, made_of=_MADE_OF).rows()
        ],
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


def spend_by_currency(view: View) -> list[ComparedRow]:
    """All campaigns, summed by the currency of their spend: the shop's first."""
    return _ranked(_lines_by(view, "currency"), view.shop.currency)


def _lines_by(view: View, *keys: str) -> list[ComparedRow]:
    """The campaigns with the same keys, summed."""

    def lines(data: Any) -> list[Line]:
        return _lines(data["rows"], keys)

    return view.compared(ad_spend, *keys, lines=lines, made_of=_MADE_OF).rows()


def _coverage(data: Any) -> list[Line]:
    coverage = data["attributionCoverage"]
    return [{"provider": each, "coverage": coverage[each]} for each in sorted(coverage)]


def _of_campaigns(data: Any) -> list[Line]:
    return [row for row in data["rows"] if row["provider"]]


def _ranked(rows: list[ComparedRow], home: str) -> list[ComparedRow]:
    """The shop's currency first, in each currency those with most spend."""
    return sorted(rows, key=lambda row: (row["currency"] != home, row["currency"], -row["spend"]))


def _lines(rows: list[dict[str, Any]], keys: tuple[str, ...]) -> list[Line]:
    """The campaigns with the same keys summed, without the row of the orders that belong to none."""
    groups: dict[tuple[str, ...], list[dict[str, Any]]] = {}
    for row in rows:
        if row["provider"]:
            groups.setdefault(tuple(row[key] for key in keys), []).append(row)
    return [_line(members) for members in groups.values()]


def _line(rows: list[dict[str, Any]]) -> Line:
    """The API's rows of one currency, summed; a single one as the API has rounded it."""
    first, units = rows[0], minor_units(rows[0]["currency"])
    # The shortest decimal of the number is the one that the API rounded to.
    spend = sum((Decimal(str(row["spend"])) for row in rows), Decimal(0))
    sums = ROW.total(rows)
    submissions, orders = sums["attributedSubmissions"], sums["attributedOrders"]
    parts = [_converted(row, units) for row in rows]
    converted = None if None in parts else sum(part or 0 for part in parts)
    lead, order = ratio(spend, submissions, 2), ratio(spend, orders, 2)
    roas = ratio(converted or 0, spend * units, _ROAS_DIGITS)
    if len(rows) == 1:
        lead, order, roas = first["costPerLead"], first["costPerAcquisition"], first["roas"]
    return {
        **first,
        **sums,
        "campaignName": first["campaignName"] or first["campaignId"],
        # Half-up, as all that the API divides.
        "spend": int(ratio(spend * units, 1, 0)),
        "converted": converted,
        "costPerLead": lead if spend > 0 and submissions else None,
        "costPerAcquisition": order if spend > 0 and orders else None,
        "roas": roas if spend > 0 and converted is not None else None,
    }


def _converted(row: dict[str, Any], units: int) -> int | None:
    net = row[_NET]
    if row["currency"] == row["revenueCurrency"] or not net:
        return int(net)
    return round(row["roas"] * row["spend"] * units) if row["roas"] else None


def _columns(home: str) -> tuple[Column, ...]:
    """Amounts in different currencies are not compared: the shop's come first where the most does."""

    def in_currency(name: str) -> Callable[[ComparedRow], Any]:
        return lambda row: (
            None if row[name] is None else (row["currency"] == home, row["currency"], row[name])
        )

    def cost(name: str, noun: str, sort: str) -> Column:
        return _column(
            name,
            "Cost each",
            unit="amount",
            currency="currency",
            without=lambda row: f"no {noun}" if row["spend"] > 0 else _NO_SPEND,
            sort=sort,
            key=in_currency(name),
        )

    return (
        _column("provider"),
        _column("campaignName", "Campaign", sort="campaign"),
        _column(
            "spend",
            unit="spend",
            of="spend",
            without=_NO_SPEND,
            compared=True,
            currency="currency",
            key=in_currency("spend"),
        ),
        _column("attributedSubmissions", sort="submissions"),
        cost("costPerLead", "submissions", sort="lead"),
        _column("attributedOrders", sort="orders"),
        cost("costPerAcquisition", "orders", sort="order"),
        _column(_NET, compared=True, sort="net"),
        _column(
            "roas",
            unit="return",
            figure=_roas,
            without=lambda row: _no_return(row, home),
            compared=True,
        ),
    )


def _roas(row: ComparedRow) -> Amount:
    """In ten-thousandths. A return that was 0 is no measure of a change."""

    def scaled(line: Any) -> int | None:
        roas = line.get("roas")
        return None if roas is None else round(roas * 10**_ROAS_DIGITS)

    amount = row.amount("roas", scaled)
    return amount if amount.now is not None and amount.before else Amount(amount.now)


def _no_return(row: ComparedRow, home: str) -> str:
    return f"revenue in {home} is not converted" if row["spend"] > 0 else _NO_SPEND


def _cards(
    totals: list[ComparedRow], credited: ComparedRow, columns: tuple[Column, ...], home: str
) -> list[Card]:
    """Spend and return for each currency of spend."""
    spend, roas = (
        [column.shown(each, home, is_exact=False) for each in totals] for column in columns
    )
    clocks = [""] * (len(totals) - 1) + ["of these days, by the platforms’ date"]
    returns = [f"net revenue back per {each['currency']} of spend (ROAS)" for each in totals]
    by_ads = "orders of these days, with and without a form"
    return [
        Card("Spend", list(zip(spend, clocks, strict=True))),
        card("Net revenue credited", _NET, credited.amount(_NET), by_ads, home),
        card("Orders credited", "attributedOrders", credited.amount("attributedOrders"), by_ads),
        Card("Return", list(zip(roas, returns, strict=True))),
    ]


def _other_orders(rows: list[dict[str, Any]]) -> list[Sum]:
    """The orders that belong to no campaign, and all."""

    def sums(rows: list[dict[str, Any]]) -> ComparedRow:
        both = ROW.total(rows)
        return ComparedRow({name: both[name] for name in ("attributedOrders", _NET)})

    others = [row for row in rows if not row["provider"]]
    unknown = [Sum("Orders from no known campaign", sums(others))] if others else []
    return [*unknown, Sum("All orders of the shop", sums(rows))]


def _charts(
    rows: list[ComparedRow], most: int | None = None
) -> dict[str, list[tuple[ComparedRow, Any]]]:
    """By currency of spend: the lines with most spend, and their bars on one scale."""
    by_currency: dict[str, list[ComparedRow]] = {}
    for row in rows:
        by_currency.setdefault(row["currency"], []).append(row)
    charts = {}
    for currency, members in by_currency.items():
        drawn = members[:most]
        bars = pairs([(row["spend"] or None, row["converted"]) for row in drawn])
        charts[currency] = list(zip(drawn, bars, strict=True))
    return charts


def _local(text: str | None, timezone: str) -> datetime | None:
    return datetime.fromisoformat(text).astimezone(zone(timezone)) if text else None
