"""The days of one form, on the clock that the address names.

`clock=order` (the default): orders and net revenue that are credited to the form, by the day of the order.
`clock=submission`: those that followed from the submissions of each day, to date. The API states them for
a range, so each day is a question of its own, and the range has to be short.
"""

from collections.abc import Mapping
from datetime import date
from typing import Any, Final

from flask import request

from web.dashboard import formatting
from web.dashboard.charts.days import series
from web.dashboard.compare import ComparedRow
from web.dashboard.page import View
from web.dashboard.selection import address
from web.dashboard.table import columns_of, table
from web.reports.form_analytics import TREND, form_funnel, form_trends

CLOCKS: Final = ("order", "submission")
_MOST_DAYS: Final = 92

_column = columns_of(TREND)
_COLUMNS: Final = (
    _column("date"),
    _column("views"),
    _column("starts", "Starts"),
    _column("submissions", "Submissions"),
    _column("orders"),
    _column("netRevenueCents"),
)


def form_days(view: View, form_id: str) -> dict[str, Any]:
    """Two charts, the rows of their table, and the clock of its orders and revenue."""
    clock, problem = _clock(
        request.args, view.selection.window.last - view.selection.window.first + 1
    )
    rows: list[dict[str, Any]] = [dict(row) for row in view.data(form_trends, form_id)]
    if clock == "submission":
        for row in rows:
            followed = view.on(form_funnel, row["date"], form_id)
            row |= {name: followed[name] for name in ("orders", "netRevenueCents")}
    days = [date.fromisoformat(row["date"]) for row in rows]
    visits = {
        name: [row[figure] for row in rows]
        for name, figure in (("Views", "views"), ("Submissions", "submissions"))
    }
    revenue = {"Net revenue": [row["netRevenueCents"] for row in rows]}
    lines = [
        ComparedRow({**row, "date": formatting.day(day)})
        for row, day in zip(rows, days, strict=True)
    ]
    return {
        "day_table": table(view, _COLUMNS, lines, most=len(lines)),
        "day_visits": series(days, visits),
        "day_revenue": series(days, revenue, view.shop.currency),
        "clock": clock,
        "clocks": [(name, address(clock=name)) for name in CLOCKS],
        "clock_problem": problem,
    }


def _clock(asked: Mapping[str, str], days: int) -> tuple[str, str]:
    """The clock of the address; and why it is another one than was asked for."""
    clock = asked.get("clock", "order")
    if clock not in CLOCKS:
        return "order", f"There is no clock {clock!r}. Choose one of these two."
    if clock == "submission" and days > _MOST_DAYS:
        return (
            "order",
            f"Revenue by the day of the submission can be shown for at most {_MOST_DAYS} days. "
            "Choose a shorter range.",
        )
    return clock, ""
