"""`/revenue`: all revenue of the shop, by the way it is credited and by UTM."""

from datetime import date
from typing import Any, Final

from warehouse.settings import ATTRIBUTION_WINDOW_DAYS
from web.dashboard import formatting
from web.dashboard.charts.bars import stack
from web.dashboard.charts.days import stacked_days
from web.dashboard.compare import Amount, ComparedRow, beside, total
from web.dashboard.page import View
from web.dashboard.table import Column, Sum, Table, count, money, percent, table, text
from web.dashboard.utm_tree import utm_tree
from web.reports.attribution import attribution, attribution_daily
from web.reports.revenue_by_utm import revenue_by_utm

# By attribution type, in the order of the API's rows: its name, and its rule in a sentence.
CREDITS: Final = (
    ("by a code", "The order used a discount code that a form had issued in the {days} before it."),
    (
        "by the customer",
        "It used no such code, but the same customer had submitted a form in the {days} before it.",
    ),
    (
        "by the visitor",
        "Neither, but the same browser had submitted a form in the {days} before the order.",
    ),
    ("not credited", "No submission of the buyer is known from the {days} before the order."),
)
CREDIT_NAMES: Final = tuple(name for name, _ in CREDITS)
# Campaigns on the page; the CSV has all.
_CAMPAIGNS: Final = 50

_ORDERS: Final = count("orders", "Orders", compared=True)
_NET: Final = money("netRevenueCents", "Net revenue", compared=True)
_PARTS: Final = (
    Column("credit", "Credited", "drawn"),
    _NET,
    percent("shareOfRevenue", "Share", of="netOfAll", without="no net revenue"),
    _ORDERS,
    money("grossRevenueCents", "Before refunds"),
    money("totalRefundedCents", "Refunded", figure=lambda row: Amount(-row["totalRefundedCents"])),
)
# Submissions and how many of them bought are on the submission clock; orders and net revenue are those
# credited on the order clock.
_SOURCE: Final = text("utmSource", "Source", absent="no source", sort="source")
_CAMPAIGN: Final = text("utmCampaign", "Campaign", absent="no campaign", sort="campaign")
_SUBMISSIONS: Final = count("submissionCount", "Submissions", compared=True, sort="submissions")
_CREDITED: Final = count("attributedOrders", "Orders", compared=True, sort="orders")
CAMPAIGNS_AT_A_GLANCE: Final = (
    _SOURCE,
    _CAMPAIGN,
    _SUBMISSIONS,
    _CREDITED,
    money("netRevenueCents", "Revenue credited", compared=True),
)
_CAMPAIGN_COLUMNS: Final = (
    _SOURCE,
    _CAMPAIGN,
    _SUBMISSIONS,
    percent(
        "conversionRate",
        "Bought after submitting",
        over=("convertedSubmissions", "submissionCount"),
        without="no submissions",
        compared=True,
        has_interval=False,
        sort="bought",
    ),
    _CREDITED,
    money("netRevenueCents", "Net revenue", compared=True, sort="net"),
)


def revenue(view: View) -> str:
    rows, before = view.data(attribution), view.before(attribution)
    sums = total(
        rows, before, "orders", "grossRevenueCents", "totalRefundedCents", "netRevenueCents"
    )
    window = view.shop.window_days or ATTRIBUTION_WINDOW_DAYS.get()
    days = f"{window} days" if window > 1 else "24 hours"
    return view.render(
        "revenue.html",
        parts=table(
            view,
            _PARTS,
            [
                ComparedRow(
                    {**part.now, "credit": place, "netOfAll": sums["netRevenueCents"]}, part.before
                )
                for place, part in enumerate(beside(rows, before, "attributionType"))
            ],
            sums=[Sum("All orders", sums)],
        ),
        credits=[(name, rule.format(days=days)) for name, rule in CREDITS],
        credit_names=CREDIT_NAMES,
        bar=stack([row["netRevenueCents"] for row in rows]),
        sums=sums,
        **days_of(view),
        tree=utm_tree(*_by_utm(view, "hierarchy")),
        campaigns=table(
            view,
            _CAMPAIGN_COLUMNS,
            campaign_rows(view),
            "campaigns.-net",
            empty="No submission and no credited order in these days.",
            most=_CAMPAIGNS,
            noun="campaigns in this order",
        ),
    )


def campaign_rows(view: View) -> list[ComparedRow]:
    """The campaigns by UTM, those with most net revenue first."""
    return beside(*_by_utm(view, "campaign"), "utmSource", "utmCampaign")


def _by_utm(view: View, dimension: str) -> tuple[Any, Any]:
    now, before = (ask(revenue_by_utm, dimension=dimension) for ask in (view.data, view.before))
    return now["rows"], before and before["rows"]


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
    parts = (money(name, name) for name in CREDIT_NAMES)
    rows = [
        ComparedRow({"day": formatting.day(day), **dict(zip(CREDIT_NAMES, cents, strict=True))})
        for day, cents in by_day.items()
    ]
    return table(view, [text("day", "Day"), *parts], rows, most=len(rows))
