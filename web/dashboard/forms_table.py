"""The forms of a shop, each with its funnel: the table on the overview and on the page of all forms."""

from collections.abc import Mapping
from typing import Any, Final

from web.api.forms import FORM_FUNNEL, all_funnels
from web.dashboard.compare import ComparedRow, Rows
from web.dashboard.page import View
from web.dashboard.table import columns_of

_column = columns_of(FORM_FUNNEL)
COLUMNS: Final = (
    _column(
        "formName", "Form", unit="drawn", sort="name", key=lambda row: row["formName"].casefold()
    ),
    _column("views", compared=True),
    _column("submissions", "Submissions", compared=True),
    _column("submissionRate", "Submitted", without="no one yet", compared=True, sort="rate"),
    _column("netRevenueCents", "Revenue credited", compared=True, sort="revenue"),
    _column("revenuePerSubmissionCents", "per submission", compared=True, sort="each"),
    _column("submissionsByDay", "by day", unit="drawn", sort=None),
)


def form_rows(view: View, names: Mapping[str, str]) -> list[ComparedRow]:
    """The forms with these names by their id, in this order. A form without events has only zeros."""
    now, before = _by_form(view.data(all_funnels)), view.before(all_funnels)
    former = None if before is None else _by_form(before)
    return [
        ComparedRow(
            {**now.get(form_id, {}), "formId": form_id, "formName": name},
            None if former is None else former.get(form_id, {}),
        )
        for form_id, name in names.items()
    ]


def active_forms(view: View) -> dict[str, str]:
    """The names of the forms of the shop with an event in these days, by their id, most views first."""
    # Events can name forms that the shop's list does not have: those have no funnel of their own.
    rows = view.data(all_funnels)
    return {row["formId"]: row["formName"] for row in rows if row["formName"] is not None}


def _by_form(rows: Rows) -> dict[str, Mapping[str, Any]]:
    return {row["formId"]: row for row in rows}
