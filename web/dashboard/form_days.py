"""The days of one form. Orders and revenue are on the clock of the address: those that are credited to the
form by the day of the order, or those that followed from the submissions of each day, to date."""

from datetime import date
from typing import Any, Final

from warehouse.domain.hash_ids import text_id
from web.dashboard import formatting
from web.dashboard.charts.days import series
from web.dashboard.compare import ComparedRow, ComparedRows
from web.dashboard.daily_noise import daily_noise, summary
from web.dashboard.day_notes import note_columns, notes_of_days
from web.dashboard.order_links import Filters
from web.dashboard.page import View
from web.dashboard.table import columns_of, table
from web.http.parameters import ORDER_CLOCK
from web.reports.form_analytics import TREND, form_trends
from web.reports.revenue_by_form import revenue_by_form

_column = columns_of(TREND)
_COLUMNS: Final = (
    _column("date", text=lambda row: formatting.day(date.fromisoformat(row["date"]))),
    _column("views"),
    _column("starts", "Starts"),
    _column("submissions", "Submissions"),
    _column("orders"),
    _column("netRevenueCents"),
)


def days_of_form(view: View, form_id: str) -> ComparedRows:
    form = {"form": text_id(form_id)}
    names = "funnel", "form_orders"
    noise = daily_noise(
        view, TREND, [summary(view, revenue_by_form, name, where=form) for name in names]
    )
    return view.compared(
        form_trends, "date", form_id=form_id, noise=noise, clock=view.selection.clock
    )


def orders_of_form(view: View, form_id: str, **days: str) -> list[Filters]:
    """Those that its figures are made of."""
    return [{"form_id": form_id, **days}] if view.selection.clock == ORDER_CLOCK else []


def form_days(view: View, form_id: str, rows: ComparedRows) -> dict[str, Any]:
    """Two charts, and the rows of their table."""
    days = [date.fromisoformat(row["date"]) for row in rows.now]
    visits = {
        name: [row[figure] for row in rows.now]
        for name, figure in (("Views", "views"), ("Submissions", "submissions"))
    }
    revenue = {"Net revenue": [row["netRevenueCents"] for row in rows.now]}
    lines = [ComparedRow(row) for row in rows.now]
    notes = notes_of_days(view)
    columns = [*_COLUMNS, *note_columns(notes, "date")]
    return {
        "day_table": table(
            view,
            "days",
            columns,
            lines,
            most=len(lines),
            marks={"row": "date"},
            is_numbers=True,
            orders=lambda row, _: orders_of_form(
                view, form_id, range=f"{row['date']}..{row['date']}"
            ),
        ),
        "day_visits": series(days, visits, notes=notes),
        "day_revenue": series(days, revenue, view.shop.currency, notes),
    }
