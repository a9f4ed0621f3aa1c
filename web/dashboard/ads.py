"""`/ads`: ad spend beside the revenue that is credited to its campaigns.

Spend is dated by the platform, submissions and orders by their own day. Revenue is in the shop's currency,
spend in that of the ad account: the two meet only where the API has converted the revenue, in `roas`.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from decimal import Decimal
from typing import Any, Final

from warehouse.domain.hash_ids import SEPARATOR, text_id
from warehouse.domain.rounding import ratio
from warehouse.domain.vocabulary import UTM_FIELDS, minor_units
from web.api.query import Query
from web.dashboard.changes import Cell
from web.dashboard.compare import EVENTS, ORDERS, SPEND, ComparedRow, Value
from web.dashboard.daily_noise import daily_noise, orders_by_utm
from web.dashboard.page import Page, View
from web.dashboard.statistics import Noise, p_changed
from web.dashboard.table import Card, Column, Sum, Table, card, columns_of
from web.db.dimensions import Utm
from web.reports.ads import ROW, ad_spend, campaigns_of
from web.reports.revenue_by_utm import HIERARCHY

# The advice about a provider whose figures are not complete.
REASONS: Final = {
    "sync_failed": "The last pull of its spend failed. Check its access, then pull again.",
    "stale": "Its spend was last pulled before the end of these days. Pull again.",
    "no_exchange_rate": "A day of its orders has no exchange rate. Import the rates of that day.",
}
# Below it, in per cent, too many submissions cannot be set against the spend that won them.
LOW_COVERAGE: Final = 80
_ROAS_DIGITS: Final = 4
# Spend is dated by the platform; what it brought is made of events and orders.
_MADE_OF: Final = (SPEND, EVENTS, ORDERS)
_NO_SPEND: Final = "no spend in these days"
_NET: Final = "attributedNetRevenueCents"
_SOURCE, _CAMPAIGN, _ID = (
    UTM_FIELDS.index(name) for name in ("utm_source", "utm_campaign", "utm_id")
)
_column = columns_of(ROW)

# A campaign, or several whose spend is in one currency, as a row of the report. `spend` is in minor units of
# `currency`; `converted` is the net revenue in minor units of `currency`, None where the API has not
# converted all of it. The costs, in major units, and `roas` are None without a divisor.
Line = dict[str, Any]


def ads(view: View) -> Page:
    data = view.data(ad_spend)
    by_campaign = _lines_by(view, "currency", "provider", "campaignId", noise=_noise(view))
    totals = spend_by_currency(view)
    sums = [Sum(f"All with spend in {each['currency']}", each) for each in totals]

    def of_orders(rows: list[dict[str, Any]]) -> ComparedRow:
        both = ROW.total(rows)
        return ComparedRow({name: both[name] for name in ("attributedOrders", _NET)})

    if others := [row for row in data["rows"] if not row["provider"]]:
        sums.append(Sum("Orders from no ad campaign", of_orders(others)))
    sums.append(Sum("All orders of the shop", of_orders(data["rows"]), orders=[{}]))
    marks = {"provider": "provider", "currency": "currency"}
    return view.page(
        "ads.html",
        cards=_cards(view, totals) if by_campaign else [],
        providers=Table(
            view,
            "providers",
            [replace(column, bar=None) for column in _COLUMNS[1:]],
            _ranked(_lines_by(view, "currency", "provider")),
            sums=sums,
            marks=marks | {"row": "provider"},
            is_numbers=True,
        ),
        campaigns=Table(
            view,
            "campaigns",
            _COLUMNS,
            by_campaign,
            "-spend",
            sums=sums,
            marks=marks | {"row": "campaignId"},
            is_exact=False,
        ),
        coverage=sorted(data["attributionCoverage"].items()),
        low_coverage=LOW_COVERAGE,
        unavailable=[
            {
                **entry,
                "what_to_do": REASONS[entry["reason"]],
                "pulled": entry["lastSyncedAt"] and view.local_time(entry["lastSyncedAt"]),
            }
            for entry in data["unavailableProviders"]
        ],
    )


def ad_card(view: View) -> Card:
    """The return on ads, with the spend in each currency."""
    totals = [row for row in spend_by_currency(view) if row["spend"] or row.amount("spend").before]
    if not totals:
        return Card("Return on ads", Cell("", "no ad spend in these days"))
    spent = _in_each(view, totals, _SPENT, "spent in")
    return _of_first("Return on ads", _in_each(view, totals, _RETURN, "back per"), spent)


def costs(view: View, rows: list[dict[str, Any]]) -> list[tuple[Cell, Cell]]:
    """The spend and the return of campaigns, from their rows of the report, in each currency of the spend."""
    lines = [ComparedRow(line) for line in _lines(rows, ("currency",)) if line["spend"]]
    return [(_SPEND.cell(view, line), _RETURN.cell(view, line)) for line in _ranked(lines)]


def spend_by_currency(view: View) -> list[ComparedRow]:
    """All campaigns, summed by the currency of their spend: the shop's first."""
    return _ranked(_lines_by(view, "currency", noise=_noise(view, is_sum=True)))


def _noise(view: View, *, is_sum: bool = False) -> Callable[[Any, str], Noise | None]:
    """The noise of the net revenue of campaigns, or of all of them together."""

    def key(campaign: tuple[str, str]) -> int:
        return text_id(SEPARATOR.join(() if is_sum else campaign))

    def keys_of(query: Query, utms: Iterator[Utm]) -> Iterator[int]:
        campaigns = campaigns_of(query)
        for utm in utms:
            campaign = campaigns.match(utm[_SOURCE], utm[_CAMPAIGN], utm[_ID])
            yield key(campaign) if campaign else 0

    read = orders_by_utm(ad_spend, keys_of)
    net = daily_noise(
        view, HIERARCHY, [read], lambda row: key((row["provider"], row["campaignId"])), _MADE_OF
    )
    # Revenue in the shop's currency stands beside spend in that alone.
    return lambda row, _: (
        net(row, "netRevenueCents") if row["currency"] == row["revenueCurrency"] else None
    )


def _lines_by(
    view: View, *keys: str, noise: Callable[[Any, str], Noise | None] = lambda *_: None
) -> list[ComparedRow]:
    """The campaigns with the same keys, summed."""

    def lines(data: Any) -> list[Line]:
        return _lines(data["rows"], keys)

    return view.compared(ad_spend, *keys, lines=lines, made_of=_MADE_OF, noise=noise).rows()


def _ranked(rows: list[ComparedRow]) -> list[ComparedRow]:
    """The shop's currency first, in each currency those with most spend."""

    def key(row: ComparedRow) -> tuple[bool, str, int]:
        return row["currency"] != row["revenueCurrency"], row["currency"], -row["spend"]

    return sorted(rows, key=key)


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

    def in_spend(row: dict[str, Any]) -> int | None:
        net = row[_NET]
        if row["currency"] == row["revenueCurrency"] or not net:
            return int(net)
        return round(row["roas"] * row["spend"] * units) if row["roas"] else None

    parts = [in_spend(row) for row in rows]
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


def _in_currency(name: str) -> Callable[[ComparedRow], Any]:
    """A sort key for amounts, which are not compared across currencies: the shop's are the greatest."""
    return lambda row: (
        None
        if row[name] is None
        else (row["currency"] == row["revenueCurrency"], row["currency"], row[name])
    )


def _cost(name: str, label: str, noun: str, sort: str) -> Column:
    return _column(
        name,
        label,
        unit="amount",
        currency="currency",
        without=lambda row: f"no {noun}" if row["spend"] > 0 else _NO_SPEND,
        sort=sort,
        key=_in_currency(name),
    )


def _roas(row: ComparedRow) -> Value:
    """The return, in ten-thousandths. A return that was 0 is no measure of a change. Spend is no chance: the
    change is that of the revenue beside as much as that spend had brought before."""

    value = row.value(
        lambda line: None if line.get("roas") is None else round(line["roas"] * 10**_ROAS_DIGITS),
        "roas",
    )
    if value.now is None or not value.before:
        return Value(value.now)
    net, spend, tested = row.amount(_NET), row.amount("spend"), None
    if net.noise and net.pair and spend.fair and spend.before:
        days = net.pair.days.first, net.pair.before.first, net.pair.count
        scale = spend.fair / spend.before
        tested = p_changed(net.noise, net.fair, net.before, *days, scale=scale)
    return replace(value, tested=tested)


_SPENT: Final = _column("spend", unit="spend", currency="currency")
_SPEND: Final = replace(_SPENT, of="spend", without=_NO_SPEND, key=_in_currency("spend"))
_RETURN: Final = _column(
    "roas",
    unit="return",
    figure=_roas,
    without=lambda row: (
        f"revenue in {row['revenueCurrency']} is not converted" if row["spend"] > 0 else _NO_SPEND
    ),
    compared=True,
    main=True,
)
_COLUMNS: Final = (
    _column("campaignName", "Campaign", sort="campaign"),
    _column("provider"),
    _SPEND,
    _column("attributedSubmissions", deep=True, sort="submissions"),
    _cost("costPerLead", "Per sign-up", "submissions", sort="lead"),
    _column("attributedOrders", deep=True, sort="orders"),
    _cost("costPerAcquisition", "Per order", "orders", sort="order"),
    _column(_NET, "Credited to ads", compared=True, sort="net", bar=0),
    _RETURN,
)


def _cards(view: View, totals: list[ComparedRow]) -> list[Card]:
    sums = ComparedRow(
        {name: sum(each[name] for each in totals) for name in (_NET, "attributedOrders")}
    )
    only = totals[0] if len(totals) == 1 else sums
    return [
        _of_first("Spend", _in_each(view, totals, _SPENT, "spent in")),
        card(view, _column(_NET, "Revenue credited to ads"), only),
        card(view, _column("attributedOrders", "Orders credited to ads"), sums),
        _of_first("Return", _in_each(view, totals, _RETURN, "back per")),
    ]


def _of_first(
    heading: str, each: list[tuple[str, Cell]], more: Sequence[tuple[str, Cell]] = ()
) -> Card:
    """The figure of the first currency, and its name where there are others: the revenue and the orders
    beside it are of all. The others open with it, and `more`."""
    (words, cell), *others = each
    return Card(heading, cell, words.partition(" ")[2] if others else "", [*others, *more])


def _in_each(
    view: View, totals: list[ComparedRow], column: Column, words: str
) -> list[tuple[str, Cell]]:
    """The figure for each currency of spend."""
    return [(f"{words} {each['currency']}", column.cell(view, each)) for each in totals]
