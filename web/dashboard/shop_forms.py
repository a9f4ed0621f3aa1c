"""The forms of a shop, each with its funnel: for the overview and the page of all forms."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from warehouse.domain.rounding import cents
from web.dashboard.charts.columns import line
from web.dashboard.comparison import Amount, Rate
from web.dashboard.page import View

_PATH: Final = "/forms/funnels"


@dataclass(frozen=True)
class FormLine:
    """A form with its figures in these days and in those before, of which one that did not happen is
    missing. `before` is None where nothing is compared."""

    form_id: str
    name: str
    figures: Mapping[str, Any]
    before: Mapping[str, Any] | None

    @property
    def views(self) -> Amount:
        return self._amount("views")

    @property
    def submissions(self) -> Amount:
        return self._amount("submissions")

    @property
    def net(self) -> Amount:
        """Net revenue of the submissions, in minor units."""
        return self._amount("netRevenueCents")

    @property
    def per_submission(self) -> Amount | None:
        """Net revenue per submission, in minor units; None without submissions."""
        net, submissions = self.net, self.submissions
        if not submissions.now:
            return None
        before = None
        if submissions.before:
            before = cents(net.before or 0, submissions.before)
        return Amount(cents(net.now, submissions.now), before)

    @property
    def submission_rate(self) -> Rate:
        return self.rate("submissions", "views")

    @property
    def days(self) -> str:
        """The line of submissions a day; "" where nothing happened."""
        return line(self.figures.get("submissionsByDay", []))

    def rate(self, hits: str, trials: str) -> Rate:
        """One figure among another."""
        one, other = self._amount(hits), self._amount(trials)
        return Rate(one.now, other.now, one.before, other.before)

    def _amount(self, name: str) -> Amount:
        before = None if self.before is None else self.before.get(name, 0)
        return Amount(self.figures.get(name, 0), before)


# The columns of a table of forms, by their names in the address.
COLUMNS: Final[dict[str, Callable[[FormLine], Any]]] = {
    "name": lambda line: line.name.casefold(),
    "views": lambda line: line.views.now,
    "submissions": lambda line: line.submissions.now,
    "rate": lambda line: line.submission_rate.value if line.views.now else None,
    "revenue": lambda line: line.net.now,
    "each": lambda line: line.per_submission and line.per_submission.now,
}


def form_lines(view: View, names: Mapping[str, str]) -> list[FormLine]:
    """The forms with these names by their id, in this order."""
    now, rows_before = _by_form(view.data(_PATH)), view.before(_PATH)
    before = None if rows_before is None else _by_form(rows_before)
    return [
        FormLine(
            form_id,
            name,
            now.get(form_id, {}),
            None if before is None else before.get(form_id, {}),
        )
        for form_id, name in names.items()
    ]


def active_forms(view: View) -> dict[str, str]:
    """The names of the forms of the shop with an event in these days, by their id, most views first."""
    # Events can name forms that the shop's list does not have: those have no funnel of their own.
    rows = view.data(_PATH)
    return {row["formId"]: row["formName"] for row in rows if row["formName"] is not None}


def _by_form(rows: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    return {row["formId"]: row for row in rows}
