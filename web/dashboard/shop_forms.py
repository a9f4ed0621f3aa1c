"""The forms of a shop, each with its funnel: for the overview and the page of all forms."""

from dataclasses import dataclass
from typing import Any

from web.api.rounding import cents
from web.dashboard.charts.columns import line
from web.dashboard.comparison import Rate
from web.dashboard.page import View


@dataclass(frozen=True)
class FormLine:
    """A form: the figures of its funnel, submissions among views, and the line of submissions a day."""

    form_id: str
    name: str
    figures: dict[str, Any]
    submission_rate: Rate
    days: str

    @property
    def per_submission(self) -> int:
        """Net revenue per submission, in minor units."""
        return cents(self.figures["netRevenueCents"], self.figures["submissions"])


def active_forms(view: View) -> list[tuple[str, str]]:
    """(form id, name) of the forms of the shop with an event in these days, by views descending."""
    # Events can name forms that the shop's list does not have: those have no funnel of their own.
    rows = view.data("/forms/funnel")
    return [(row["formId"], row["formName"]) for row in rows if row["formName"] is not None]


def form_line(view: View, form_id: str, name: str) -> FormLine:
    """One of them."""
    funnel = view.data("/forms/{id}/funnel", form_id)
    before = view.before("/forms/{id}/funnel", form_id) or {}
    return FormLine(
        form_id=form_id,
        name=name,
        figures=funnel,
        submission_rate=Rate(
            funnel["submissions"],
            funnel["views"],
            before.get("submissions"),
            before.get("views"),
        ),
        days=line([day["submissions"] for day in view.data("/forms/{id}/trends", form_id)]),
    )
