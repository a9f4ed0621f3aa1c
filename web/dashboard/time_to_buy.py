"""How long it takes from a sign-up to an order: the curve on a form's page."""

from itertools import repeat
from typing import Any, Final

from web.dashboard.charts.days import ages
from web.dashboard.compare import ComparedRow
from web.dashboard.page import View
from web.dashboard.statistics import FEW
from web.dashboard.table import Table, columns_of
from web.reports.time_to_order import ROW, time_to_order

# The days that are told in words, beside the last.
_TOLD: Final = (1, 7)
_column = columns_of(ROW)
_COLUMNS: Final = (
    _column("days", "Within days", unit="text", text=lambda row: f"{row['days'] + 1}"),
    _column("submissions", "Old enough"),
    _column("convertedSubmissions"),
    _column("conversionRate", "of them", compared=True),
    _column("orders"),
    _column("netRevenueCents"),
)


def time_to_buy(view: View, form_id: str) -> dict[str, Any]:
    """`delays` are (name, (days, of 100 sign-ups those that bought within them) for a few days, whether the
    sign-ups are few) of each filter that stands side by side, else of one without a name; `delay_curves` are
    the lines up to the last day. All of a line are of the same sign-ups, those that are old enough for the
    last: so it does not fall. Empty where no sign-up is old enough."""
    rows, others = view.data(time_to_order, form_id), None
    if view.beside:
        others = view.beside.data(time_to_order, view.selection.window, form_id)
    most = view.comparable.most_days
    told = sorted({*(each for each in _TOLD if each < most), most})
    delays, curves = [], []
    for name, answers in zip(view.selection.sides, (view.answers, view.beside), strict=True):
        if not most or not answers:
            continue
        aged = answers.data(time_to_order, view.comparable.days_of_age(most), form_id)[:most]
        submissions = aged[-1]["submissions"]
        if submissions:
            rates = [row["conversionRate"] for row in aged]
            curves.append(rates)
            delays.append((name, [(days, rates[days - 1]) for days in told], submissions < FEW))
    lines, axes = ages(curves)
    return {
        "delays": delays,
        "delay_curves": lines,
        "delay_axes": axes,
        "delay_width": most,
        "delay_table": Table(
            view,
            "delays",
            _COLUMNS,
            [
                ComparedRow(row, other=other)
                for row, other in zip(rows, others or repeat(None), strict=False)
            ],
            marks={"row": "days"},
            most=len(rows),
            is_numbers=True,
        ),
    }
