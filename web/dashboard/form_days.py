"""The days of one form. Orders and revenue are on the clock of the address: those that are credited to the
form by the day of the order, or those that followed from the submissions of each day, to date."""

from collections.abc import Mapping
from datetime import date
from typing import Any, Final

from warehouse.domain.hash_ids import text_id
from web.dashboard import formatting
from web.dashboard.charts.days import Series, series
from web.dashboard.compare import ComparedRow, ComparedRows, Rows
from web.dashboard.daily_noise import daily_noise, summary, usual_days
from web.dashboard.page import View
from web.dashboard.table import Filters, Table, columns_of, note_columns
from web.http.parameters import ORDER_CLOCK
from web.reports.form_analytics import TREND, form_trends
from web.reports.revenue_by_form import revenue_by_form

_column = columns_of(TREND)
_COLUMNS: Final = (
    _column("date", text=lambda row: formatting.stated_day(row["date"])),
    _column("views"),
    _column("starts", "Starts"),
    _column("submissions", "Submissions"),
    _column("orders"),
    _column("netRevenueCents"),
)


def days_of_form(view: View, form_id: str) -> ComparedRows:
    form = {"form": text_id(form_id)}
    names = "funnel", "form_orders"
    noise = daily_noise(view, TREND, [summary(revenue_by_form, name, where=form) for name in names])
    return view.compared(
        form_trends, "date", form_id=form_id, noise=noise, clock=view.selection.clock
    )


def orders_of_form(view: View, form_id: str, **days: str) -> list[Filters]:
    """The orders that the figures of a form are made of."""
    return [{"form_id": form_id, **days}] if view.selection.clock == ORDER_CLOCK else []


def form_days(view: View, form_id: str, rows: ComparedRows) -> dict[str, Any]:
    """The charts, each after its heading, and their table. Where two filters stand side by side, each figure
    has a chart of its own, with a line for each filter."""
    days = [date.fromisoformat(row["date"]) for row in rows.now]

    def chart(lines: Mapping[str, tuple[Rows, str]], currency: str = "") -> Series:
        values = {name: [row[figure] for row in of] for name, (of, figure) in lines.items()}
        # Revenue that follows from sign-ups still grows: no day is usual.
        bands = [
            usual_days(view, rows.noise_of(None, figure), days, is_count=not currency)
            for _, figure in lines.values()
            if not currency or view.selection.clock == ORDER_CLOCK
        ]
        return series(days, values, currency, view.notes, bands)

    if rows.others is None:
        visits = {"Views": (rows.now, "views"), "Submissions": (rows.now, "submissions")}
        charts = [("Views and submissions", chart(visits))]
        revenue = {"Net revenue": (rows.now, "netRevenueCents")}
    else:
        own, other = view.selection.sides

        def sides(figure: str) -> dict[str, tuple[Rows, str]]:
            return {own: (rows.now, figure), other: (rows.others or (), figure)}

        charts = [(name.capitalize(), chart(sides(name))) for name in ("views", "submissions")]
        revenue = sides("netRevenueCents")
    lines = [ComparedRow(row.now, other=row.other) for row in rows.rows()]
    return {
        "day_table": Table(
            view,
            "days",
            [*_COLUMNS, *note_columns(view, "date")],
            lines,
            most=len(lines),
            marks={"row": "date"},
            is_numbers=True,
            orders=lambda row, _: orders_of_form(
                view, form_id, range=f"{row['date']}..{row['date']}"
            ),
        ),
        "day_charts": [*charts, ("Net revenue", chart(revenue, view.shop.currency))],
    }
