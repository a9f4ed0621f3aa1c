"""How long it takes from a sign-up to an order: the curve on a form's page."""

from typing import Any, Final

from web.dashboard.charts.days import ages
from web.dashboard.compare import ComparedRow
from web.dashboard.page import View
from web.dashboard.statistics import FEW
from web.dashboard.table import columns_of, table
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
    """`delays` are (days, of 100 sign-ups those that bought within them) for a few days, and `delay_curve`
    is the line up to the last. All are of the same sign-ups, those that are old enough for the last: so the
    line does not fall. Empty where no sign-up is old enough; `has_few_delays` where they are few."""
    rows = view.data(time_to_order, form_id)
    most = view.comparable.most_days
    aged = []
    if most:
        aged = view.answers.data(time_to_order, view.comparable.days_of_age(most), form_id)[:most]
    submissions = aged[-1]["submissions"] if aged else 0
    rates = [row["conversionRate"] for row in aged] if submissions else []
    told = sorted({*(each for each in _TOLD if each < most), most})
    line, axes = ages(rates)
    return {
        "delays": [(days, rates[days - 1]) for days in told] if rates else [],
        "has_few_delays": submissions < FEW,
        "delay_curve": line,
        "delay_axes": axes,
        "delay_width": len(rates),
        "delay_table": table(
            view,
            "delays",
            _COLUMNS,
            [ComparedRow(row) for row in rows],
            marks={"row": "days"},
            most=len(rows),
            is_numbers=True,
        ),
    }
