"""How long it takes from a sign-up to an order: the curve on a form's page."""

from typing import Any, Final

from web.dashboard.charts.histogram import sparkline
from web.dashboard.compare import ComparedRow
from web.dashboard.page import View
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
    """`delays` are (row, days) of a few days for words, and `delay_curve` the line through all of them; both
    are empty where no sign-up is old enough."""
    rows = view.data(time_to_order, form_id)
    known = [row for row in rows if row["submissions"]]
    told = sorted({*(_TOLD if len(known) > 1 else ()), len(known)} if known else ())
    return {
        "delays": [(known[days - 1], days) for days in told if days <= len(known)],
        "delay_curve": sparkline([row["conversionRate"] for row in known]),
        "delay_width": max(len(known) - 1, 1),
        "delay_table": table(
            view,
            "delays",
            _COLUMNS,
            [ComparedRow(row) for row in rows],
            marks={"row": "days"},
            most=len(rows),
        ),
    }
