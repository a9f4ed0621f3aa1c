"""The notes on the days that a page shows: a column of its tables of days, and by day for its charts."""

from collections.abc import Mapping
from datetime import date
from typing import Final

from warehouse.domain.time import day_date
from warehouse.operations import notes
from web.dashboard.page import View
from web.dashboard.table import Column

_NONE: Final = "no note on this day"


def notes_of_days(view: View) -> Mapping[date, str]:
    """The notes of each shown day that has some, in one text: for a chart."""
    window = view.selection.window
    found = notes.by_day(view.answers.connection, view.shop.key, window.first, window.last)
    return {day_date(day): text for day, text in found.items()}


def note_columns(found: Mapping[date, str], day_column: str) -> list[Column]:
    """The column `note` of a table whose rows have their day (`2026-11-28`) under this name; no column where
    none of the shown days has a note."""
    if not found:
        return []
    return [
        Column(
            "note",
            "Note",
            "text",
            text=lambda row: found.get(date.fromisoformat(row[day_column])),
            without=_NONE,
        )
    ]
