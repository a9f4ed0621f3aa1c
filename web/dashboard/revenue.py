"""`/revenue`: all revenue of the shop, by the way it is credited and by UTM."""

from dataclasses import replace
from datetime import date
from typing import Any, Final

from warehouse.domain.vocabulary import ATTRIBUTION_TYPES
from web.api.row_limit import OTHER
from web.dashboard import formatting
from web.dashboard.charts.bars import stack
from web.dashboard.charts.days import stacked_days
from web.dashboard.compare import ORDERS, ComparedRow, ComparedRows, Rows
from web.dashboard.daily_noise import daily_noise, summary, usual_days
from web.dashboard.page import Page, View
from web.dashboard.table import (
    Column,
    Filters,
    Sum,
    Table,
    card,
    columns_of,
    credited,
    note_columns,
)
from web.dashboard.utm_tree import utm_tree
from web.reports.attribution import ROW, attribution, attribution_daily
from web.reports.revenue_by_utm import CAMPAIGN, revenue_by_utm

# By attribution type, in the order of the API's rows: its name, and its rule in a sentence.
CREDITS: Final = (
    ("by a code", "The order used a discount code that a form had issued in the {days} before it."),
    (
        "same customer",
        "It used no such code, but the same customer had submitted a form in the {days} before it.",
    ),
    (
        "same browser",
        "Neither, but the same browser had submitted a form in the {days} before the order.",
    ),
    ("not credited", "No submission of the buyer is known from the {days} before the order."),
)
CREDIT_NAMES: Final = tuple(name for name, _ in CREDITS)
# The parts of the chart of days: all credited orders, and the last of the types.
DAY_NAMES: Final = ("credited to forms", "other")
# Campaigns on the page; the CSV has all.
_CAMPAIGNS_SHOWN: Final = 50

_part = columns_of(ROW)
_PARTS: Final = (
    _part("attributionType", unit="drawn", text=lambda row: CREDIT_NAMES[row["credit"]]),
    _part("netRevenueCents", compared=True, main=True),
    _part("shareOfRevenue", "Share", of="netOfAll", without="no net revenue"),
    _part("orders"),
    _part("grossRevenueCents", deep=True),
    _part("totalRefundedCents", deep=True),
)
# Submissions and how many of them bought are on the submission clock; orders and net revenue are those
# credited on the order clock.
_campaign = columns_of(CAMPAIGN)
_SOURCE: Final = _campaign("utmSource", absent="no source", sort="source")
_CAMPAIGN: Final = _campaign("utmCampaign", absent="no campaign", sort="campaign")
_SUBMISSIONS: Final = _campaign("submissionCount", "Sign-ups", sort="submissions")
_ORDERS: Final = _campaign("attributedOrders", "Orders", sort="orders")
_NET: Final = _campaign("netRevenueCents", "Credited to forms", main=True, sort="net")
CAMPAIGN_MARKS: Final = {"source": "utmSource", "row": "utmCampaign"}


def filters_of_campaign(row: ComparedRow) -> dict[str, str]:
    """The filters that choose a campaign; {} for the sum of other campaigns."""
    values = {"utm_source": row["utmSource"], "utm_campaign": row["utmCampaign"]}
    return {} if OTHER in values.values() else values


CAMPAIGNS_AT_A_GLANCE: Final = (
    replace(
        _CAMPAIGN,
        unit="drawn",
        text=lambda row: row["utmCampaign"] or "no campaign",
        filters=filters_of_campaign,
    ),
    replace(_SOURCE, deep=True),
    _SUBMISSIONS,
    replace(_ORDERS, deep=True),
    _NET,
)
_BOUGHT: Final = _campaign(
    "conversionRate",
    "Bought",
    over=("convertedSubmissions", "submissionCount"),
    compared=True,
    sort="bought",
)
_CAMPAIGNS: Final = (_SOURCE, _CAMPAIGN, _SUBMISSIONS, _BOUGHT, _ORDERS, _NET)


def shop_revenue(view: View) -> ComparedRows:
    """All orders by the way they are credited, each with the noise of its days."""
    noise = daily_noise(
        view,
        ROW,
        [summary(attribution, "attribution", "type")],
        lambda row: ATTRIBUTION_TYPES.index(row["attributionType"]),
        (ORDERS,),
    )
    return view.compared(attribution, "attributionType", made_of=(ORDERS,), noise=noise)


def revenue(view: View) -> Page:
    rows = shop_revenue(view)
    sums, net = rows.total(ROW.total), "netRevenueCents"
    window = view.comparable.window_days
    days = f"{window} days" if window > 1 else "24 hours"
    more = [
        _part("orders", "orders"),
        _part("grossRevenueCents", "before refunds"),
        _part("totalRefundedCents", "refunded since"),
    ]
    campaigns = campaign_rows(view)
    return view.page(
        "revenue.html",
        cards=[card(view, _part(net), sums, "", more, orders=[{}])],
        parts=Table(
            view,
            "parts",
            _PARTS,
            [part.plus(credit=place, netOfAll=sums[net]) for place, part in enumerate(rows.rows())],
            marks={"row": "attributionType"},
            sums=[Sum("All orders", sums, orders=[{}])],
            orders=lambda part, _: [{"type": part["attributionType"]}],
            is_exact=False,
        ),
        credits=[(name, rule.format(days=days)) for name, rule in CREDITS],
        credit_names=CREDIT_NAMES,
        bar=stack([row[net] for row in rows.now]),
        **days_of(view, rows),
        tree=utm_tree(view, campaigns),
        campaigns=Table(
            view,
            "campaigns",
            _CAMPAIGNS,
            campaigns,
            "-net",
            marks=CAMPAIGN_MARKS,
            orders=orders_of_campaign,
            empty="No submission and no credited order in these days.",
            most=_CAMPAIGNS_SHOWN,
            noun="campaigns in this order",
            is_numbers=True,
        ),
    )


def campaign_rows(view: View) -> list[ComparedRow]:
    """The campaigns by UTM, those with most net revenue first."""
    keys = "utmSource", "utmCampaign"
    return view.compared(revenue_by_utm, *keys, dimension="campaign").rows()


def orders_of_campaign(row: ComparedRow, column: Column) -> list[Filters]:
    """The orders that a campaign is credited with. One figure of a row leads to them: they are three
    lists."""
    if not column.main:
        return []
    return credited(utm_source=row["utmSource"], utm_campaign=row["utmCampaign"])


def days_of(view: View, revenue: ComparedRows) -> dict[str, Any]:
    """Net revenue by day: `days` as a chart of what is credited and what is not, with the former days and the
    usual ones behind, and `day_table` as a table by attribution type."""
    by_day = _by_day(view.data(attribution_daily))
    pair, former = view.comparable.whole_days(ORDERS), list[int]()
    if pair and not pair.reason:
        before = view.answers.data(attribution_daily, pair.before)
        former = [sum(parts) for parts in _by_day(before).values()]
    parts = [[sum(amounts[:-1]), amounts[-1]] for amounts in by_day.values()]
    usual = usual_days(view, revenue.noise_of(None, "netRevenueCents"), list(by_day))
    columns = [Column(name, name, "money", api="netRevenueCents") for name in CREDIT_NAMES]
    types = dict(zip(CREDIT_NAMES, ATTRIBUTION_TYPES, strict=True))
    rows = [
        ComparedRow({"day": day.isoformat(), **dict(zip(CREDIT_NAMES, cents, strict=True))})
        for day, cents in by_day.items()
    ]
    day = Column("day", "Day", "text", text=lambda row: formatting.stated_day(row["day"]))
    return {
        "days": stacked_days(
            list(by_day), DAY_NAMES, parts, view.shop.currency, former, view.notes, usual
        ),
        "day_table": Table(
            *(view, "days", [day, *columns, *note_columns(view, "day")], rows),
            marks={"row": "day"},
            most=len(rows),
            is_numbers=True,
            orders=lambda row, part: [
                {"type": types[part.name], "range": f"{row['day']}..{row['day']}"}
            ],
        ),
    }


def _by_day(rows: Rows) -> dict[date, list[int]]:
    by_day: dict[date, list[int]] = {}
    for row in rows:
        by_day.setdefault(date.fromisoformat(row["date"]), []).append(row["netRevenueCents"])
    return by_day
