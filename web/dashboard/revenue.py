"""`/revenue`: all revenue of the shop, by the way it is credited and by UTM."""

from datetime import date
from typing import Any, Final

from web.dashboard.charts.stacked_days import stacked_days
from web.dashboard.comparison import Amount
from web.dashboard.page import View

# By attribution type, in the order of the API's rows: its name, and its rule in a sentence.
CREDITS: Final = (
    ("by a code", "The order used a discount code that a form had issued."),
    ("by the customer", "The buyer had submitted a form as the same customer."),
    ("by the visitor", "The buyer's browser had submitted a form."),
    ("not credited", "No submission came before the order, or too long before it."),
)
CREDIT_NAMES: Final = tuple(name for name, _ in CREDITS)
# The levels of the tree, from the root.
_LEVELS: Final = ("utmSource", "utmCampaign", "utmMedium", "utmTerm", "utmContent")

Rows = list[dict[str, Any]]


def revenue(view: View) -> str:
    rows, before = view.data("/attribution"), view.before("/attribution")
    parts = [
        {
            **row,
            "name": name,
            "rule": rule,
            "net": Amount(row["netRevenueCents"], before and before[place]["netRevenueCents"]),
        }
        for place, (row, (name, rule)) in enumerate(zip(rows, CREDITS, strict=True))
    ]
    hierarchy = view.data("/revenue/by-utm", dimension="hierarchy")["rows"]
    return view.render(
        "revenue.html",
        parts=parts,
        total=sum(row["netRevenueCents"] for row in rows),
        **days_of(view),
        tree=_tree(hierarchy, _LEVELS),
        campaigns=view.data("/revenue/by-utm", dimension="campaign")["rows"],
    )


def days_of(view: View) -> dict[str, Any]:
    """Net revenue by day and attribution type: `days` as a chart, `day_rows` as a table."""
    by_day: dict[date, list[int]] = {}
    for row in view.data("/attribution/daily"):
        by_day.setdefault(date.fromisoformat(row["date"]), []).append(row["netRevenueCents"])
    return {
        "days": stacked_days(list(by_day), CREDIT_NAMES, list(by_day.values()), view.shop.currency),
        "day_rows": by_day.items(),
    }


def _tree(rows: Rows, levels: tuple[str, ...]) -> Rows:
    """The rows as a tree: by the first level, with orders and net revenue of all below, most first."""
    if not levels:
        return []
    branches: dict[str, Rows] = {}
    for row in rows:
        branches.setdefault(row[levels[0]], []).append(row)
    nodes = [
        {
            "level": levels[0].removeprefix("utm").lower(),
            "value": value,
            "orders": sum(row["orders"] for row in below),
            "netRevenueCents": sum(row["netRevenueCents"] for row in below),
            "below": _tree(below, levels[1:]) if _has_more(below, levels[1:]) else [],
        }
        for value, below in branches.items()
    ]
    return sorted(nodes, key=lambda node: (-node["netRevenueCents"], node["value"]))


def _has_more(rows: Rows, levels: tuple[str, ...]) -> bool:
    return any(row[level] for row in rows for level in levels)
