"""How long it takes from a sign-up to an order: the curve on a form's page."""

from typing import Any, Final

from web.dashboard.charts.histogram import sparkline
from web.dashboard.compare import ComparedRow
from web.dashboard.page import View
from web.dashboard.statistics import FEW
from web.dashboard.table import columns_of, table
from web.reports.form_analytics import form_funnel
from web.reports.time_to_order import ROW, time_to_order

# The days that are told in words, beside the last.
_TOLD: Final = (1, 7)
_column = columns_of(ROW)
_COLUMNS: Final = (
    _column("days", "Within days", unit="text", text=lambda row: f"{row['days'] + 1}"),
    _column("submissions", "Old enough"),
    _column("convertedSubmissions"),
    _column(
        "conversionRate", "of them", over=("convertedSubmissions", "submissions"), compared=True
    ),
    _column("orders"),
    _column("netRevenueCents"),
)


def time_to_buy(view: View, form_id: str) -> dict[str, Any]:
    """`delays` are (days, of 100 sign-ups those that bought within them) for a few days, all of the same
    sign-ups: those that are old enough for the last. `delay_curve` is the line up to it. Both are empty where
    no sign-up is old enough; `has_few_delays` where they are few."""
    rows = view.data(time_to_order, form_id)
    most = view.comparable.most_days
    funnels = []
    if most:
        window = view.comparable.days_of_age(most)
        funnels = [
            (days, view.answers.data(form_funnel, window, form_id, within=days))
            for days in sorted({*(each for each in _TOLD if each < most), most})
        ]
    submissions = funnels[-1][1]["submissions"] if funnels else 0
    return {
        "delays": [(days, funnel["conversionRate"]) for days, funnel in funnels if submissions],
        "delay_window": view.comparable.days_of_age(most) if most else None,
        "has_few_delays": submissions < FEW,
        "delay_curve": sparkline([row["conversionRate"] for row in rows[:most]]),
        "delay_width": max(most - 1, 1),
        "delay_table": table(
            view,
            "delays",
            _COLUMNS,
            [ComparedRow(row) for row in rows],
            marks={"row": "days"},
            most=len(rows),
        ),
    }
