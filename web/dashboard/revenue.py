"""`/revenue`: all revenue of the shop, by the way it is credited and by UTM."""

from dataclasses import replace
from datetime import date
from typing import Any, Final

from web.dashboard import formatting
from web.dashboard.charts.bars import stack
from web.dashboard.charts.days import stacked_days
from web.dashboard.comparable import ORDERS
from web.dashboard.compare import ComparedRow
from web.dashboard.day_notes import note_columns
from web.dashboard.page import Page, View
from web.dashboard.table import Column, Sum, Table, columns_of, table
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
# Campaigns on the page; the CSV has all.
_CAMPAIGNS_SHOWN: Final = 50

_part = columns_of(ROW)
_PARTS: Final = (
    _part("attributionType", unit="drawn", text=lambda row: CREDIT_NAMES[row["credit"]]),
    _part("netRevenueCents", compared=True),
    _part("shareOfRevenue", "Share", of="netOfAll", without="no net revenue"),
    _part("orders", compared=True),
    _part("grossRevenueCents"),
    _part("totalRefundedCents"),
)
# Submissions and how many of them bought are on the submission clock; orders and net revenue are those
# credited on the order clock.
_campaign = columns_of(CAMPAIGN)
_SOURCE: Final = _campaign("utmSource", absent="direct or unknown", sort="source")
_CAMPAIGN: Final = _campaign("utmCampaign", absent="no campaign", sort="campaign")
_SUBMISSIONS: Final = _campaign("submissionCount", compared=True, sort="submissions")
_ORDERS: Final = _campaign("attributedOrders", "Orders", compared=True, sort="orders")
_NET: Final = _campaign("netRevenueCents", compared=True, sort="net")
CAMPAIGN_MARKS: Final = {"source": "utmSource", "row": "utmCampaign"}
CAMPAIGNS_AT_A_GLANCE: Final = (
    *(_SOURCE, _CAMPAIGN, _SUBMISSIONS, _ORDERS),
    replace(_NET, label="Revenue credited"),
)
_BOUGHT: Final = _campaign(
    "conversionRate",
    "Bought after submitting",
    over=("convertedSubmissions", "submissionCount"),
    compared=True,
    has_interval=False,
    sort="bought",
)
_CAMPAIGNS: Final = (_SOURCE, _CAMPAIGN, _SUBMISSIONS, _BOUGHT, _ORDERS, _NET)


def revenue(view: View) -> Page:
    rows = view.compared(attribution, "attributionType")
    sums = view.compared(attribution, made_of=(ORDERS,)).total(ROW.total)
    window = view.comparable.window_days
    days = f"{window} days" if window > 1 else "24 hours"
    return view.page(
        "revenue.html",
        parts=table(
            view,
            "parts",
            _PARTS,
            [
                part.plus(credit=place, netOfAll=sums["netRevenueCents"])
                for place, part in enumerate(rows.rows())
            ],
            marks={"row": "attributionType"},
            sums=[Sum("All orders", sums)],
        ),
        credits=[(name, rule.format(days=days)) for name, rule in CREDITS],
        credit_names=CREDIT_NAMES,
        bar=stack([row["netRevenueCents"] for row in rows.now]),
        sums=sums,
        **days_of(view),
        tree=utm_tree(view.compared(revenue_by_utm, dimension="hierarchy")),
        campaigns=table(
            view,
            "campaigns",
            _CAMPAIGNS,
            campaign_rows(view),
            "-net",
            marks=CAMPAIGN_MARKS,
            empty="No submission and no credited order in these days.",
            most=_CAMPAIGNS_SHOWN,
            noun="campaigns in this order",
        ),
    )


def campaign_rows(view: View) -> list[ComparedRow]:
    """The campaigns by UTM, those with most net revenue first."""
    keys = "utmSource", "utmCampaign"
    return view.compared(revenue_by_utm, *keys, dimension="campaign").rows()


def days_of(view: View) -> dict[str, Any]:
    """Net revenue by day and attribution type: `days` as a chart, `day_table` as a table."""
    by_day: dict[date, list[int]] = {}
    for row in view.data(attribution_daily):
        by_day.setdefault(date.fromisoformat(row["date"]), []).append(row["netRevenueCents"])
    return {
        "days": stacked_days(list(by_day), CREDIT_NAMES, list(by_day.values()), view.shop.currency),
        "day_table": _day_table(view, by_day),
    }


def _day_table(view: View, by_day: dict[date, list[int]]) -> Table:
    parts = (Column(name, name, "money", api="netRevenueCents") for name in CREDIT_NAMES)
    rows = [
        ComparedRow({"day": day.isoformat(), **dict(zip(CREDIT_NAMES, cents, strict=True))})
        for day, cents in by_day.items()
    ]
    day = Column("day", "Day", "text", text=lambda row: _written(row["day"]))
    columns = [day, *parts, *note_columns(view, "day")]
    return table(view, "days", columns, rows, marks={"row": "day"}, most=len(rows))


def _written(day: str) -> str:
    return formatting.day(date.fromisoformat(day))
