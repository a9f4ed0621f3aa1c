"""`/customers`: the lifetime value of customers, by the answer and by the form that won them."""

from datetime import date, timedelta
from typing import Final

from warehouse.domain.time import day_date
from warehouse.domain.vocabulary import LTV_HORIZONS
from web.dashboard.page import View

# Answers at a glance; the CSV has all.
_ANSWERS: Final = 30


def customers(view: View) -> str:
    by_answer = view.data("/customers/ltv", dimension="segment")["rows"]
    return view.render(
        "customers.html",
        answers=sorted(by_answer, key=lambda row: -row["ltvCents"])[:_ANSWERS],
        answer_count=len(by_answer),
        forms=view.data("/customers/ltv", dimension="form")["rows"],
        horizons=[(days, _first_counted(view, days)) for days in LTV_HORIZONS],
    )


def _first_counted(view: View, days: int) -> date | None:
    """The first day on which a customer won in these days counts for a horizon; None where some do."""
    due = view.selection.first + timedelta(days)
    return due if due > day_date(view.answers.today) else None
