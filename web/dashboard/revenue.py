"""`/revenue`: all revenue of the shop, by the way it is credited and by UTM."""

from datetime import date
from typing import Any, Final

from warehouse.settings import ATTRIBUTION_WINDOW_DAYS
from web.dashboard.campaigns import campaign_rows, campaigns
from web.dashboard.charts.stack import stack
from web.dashboard.charts.stacked_days import stacked_days
from web.dashboard.comparison import sum_of
from web.dashboard.page import View
from web.dashboard.sorting import sorted_table
from web.dashboard.utm_tree import utm_tree

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

_TOTALS: Final = ("orders", "grossRevenueCents", "totalRefundedCents", "netRevenueCents")

Rows = list[dict[str, Any]]


def revenue(view: View) -> str:
    rows, before = view.data("/attribution"), view.before("/attribution")
    table = sorted_table("campaigns", campaigns(*campaign_rows(view)), _COLUMNS, "-net")
    days = view.shop.window_days or ATTRIBUTION_WINDOW_DAYS.get()
    return view.render(
        "revenue.html",
        parts=_parts(rows, before, f"{days} days" if days > 1 else "24 hours"),
        credit_names=CREDIT_NAMES,
        bar=stack([row["netRevenueCents"] for row in rows]),
        total={name: sum_of(name, rows, before) for name in _TOTALS},
        **days_of(view),
        tree=utm_tree(*_hierarchy(view)),
        campaigns=table,
        shown=table.rows[:_CAMPAIGNS],
    )


_COLUMNS: Final = {
    "source": lambda row: row.source.casefold() or None,
    "campaign": lambda row: row.name.casefold() or None,
    "submissions": lambda row: row.submissions.now,
    "bought": lambda row: row.bought.value if row.bought.trials else None,
    "orders": lambda row: row.orders.now,
    "net": lambda row: row.net.now,
}


def _parts(rows: Rows, before: Rows | None, days: str) -> Rows:
    """By attribution type: its figures, its name, its rule, and its net revenue with the one before."""
    return [
        {
            **row,
            "name": name,
            "rule": rule.format(days=days),
            "net": sum_of("netRevenueCents", [row], before and [before[place]]),
            "count": sum_of("orders", [row], before and [before[place]]),
        }
        for place, (row, (name, rule)) in enumerate(zip(rows, CREDITS, strict=True))
    ]


def _hierarchy(view: View) -> tuple[Rows, Rows | None]:
    asked = {"report": "/revenue/by-utm", "dimension": "hierarchy"}
    before = view.before(**asked)
    return view.data(**asked)["rows"], before and before["rows"]


def days_of(view: View) -> dict[str, Any]:
    """Net revenue by day and attribution type: `days` as a chart, `day_rows` as a table."""
    by_day: dict[date, list[int]] = {}
    for row in view.data("/attribution/daily"):
        by_day.setdefault(date.fromisoformat(row["date"]), []).append(row["netRevenueCents"])
    return {
        "days": stacked_days(list(by_day), CREDIT_NAMES, list(by_day.values()), view.shop.currency),
        "day_rows": by_day.items(),
    }
