"""The rates of the shop that got worse than before, more than chance does to so many rates.

Steps that lose more, forms that are submitted less often, and the shop as a whole are tested together: among
sixteen rates that are as they were, some week makes one of them look worse by itself.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import compress
from typing import Final

from warehouse.domain.figures import PERCENT
from web.dashboard import formatting
from web.dashboard.changes import Cell, Chip, PageChanges
from web.dashboard.compare import ComparedRow, Value, number
from web.dashboard.forms_table import ShopForms
from web.dashboard.page import View
from web.dashboard.statistics import FEW, benjamini_hochberg, of_difference, p_greater
from web.dashboard.table import Column
from web.reports.form_analytics import all_steps, step_dropoff

FORM: Final = "form"
STEP: Final = "step"
SHOP: Final = "shop"

# The names of the rates in answers.
_SUBMITTED: Final = "submissionRate"
_BOUGHT: Final = "conversionRate"
_LEFT: Final = "dropoffRate"


@dataclass(frozen=True, slots=True)
class Candidate:
    """A rate that may have got worse: the `figure` (the API's name of it) of a step, of a form or of the shop
    (`kind`)."""

    kind: str
    figure: str
    rate: Value
    form_id: str = ""
    step_id: str = ""

    @property
    def is_tested(self) -> bool:
        """Whether both samples are large enough to say anything."""
        return bool(self.rate.fair and self.rate.before) and self.rate.fewest >= FEW

    @property
    def p_value(self) -> float:
        """The p-value that a tested rate got worse."""
        now, before = self.rate.fair, self.rate.before
        return p_greater(*now, *before) if self.figure == _LEFT else p_greater(*before, *now)

    @property
    def within(self) -> int | None:
        """The days to buy, of a rate of those who bought."""
        return self.rate.pair.within if self.rate.pair else None

    @property
    def before(self) -> str:
        """The former rate."""
        return formatting.percent(number(self.rate.before))

    def cell(self, view: View) -> Cell:
        """The rate over the days that are compared."""
        pair = self.rate.pair
        assert pair
        shown = replace(self.rate, now=self.rate.fair, pair=replace(pair, is_shown=True))
        column = Column(
            *(self.figure, "", PERCENT),
            figure=lambda row: row["rate"],
            compared=True,
            is_loss=self.figure == _LEFT,
        )
        return column.cell(replace(view, changes=_Regressions()), ComparedRow({"rate": shown}))


class _Regressions(PageChanges):
    """Changes of which `losses` has told already that chance does not explain them."""

    def believes(self, chip: Chip) -> bool:
        return True


def losses(candidates: Sequence[Candidate]) -> list[Candidate]:
    """The candidates that got worse, the surest first.

    Where no rate has really changed, there is one in at most 1 of 20 lists; where some have, at most 1 of 20
    that are in lists has not. One that tables call within chance by itself is none.
    """
    tested = [candidate for candidate in candidates if candidate.is_tested]
    p_values = [candidate.p_value for candidate in tested]
    worse = compress(zip(p_values, tested, strict=True), benjamini_hochberg(p_values))
    surest = [candidate for _, candidate in sorted(worse, key=lambda pair: pair[0])]
    return [
        each for each in surest if not of_difference(*each.rate.fair, *each.rate.before).has_zero
    ]


def shop_losses(view: View, forms: ShopForms) -> tuple[list[Candidate], int]:
    """The regressions of all forms on the shop's list, whatever page asks, among so many rates that were
    tested: no two pages disagree."""
    names, total = forms.names, forms.total
    candidates = [
        Candidate(SHOP, _BOUGHT, total.rate("convertedSubmissions", "submissions")),
        *(
            Candidate(FORM, _SUBMITTED, form.rate("submissions", "views"), form["formId"])
            for form in forms.rows.rows()
            if form["formId"] in names
        ),
        *(
            Candidate(STEP, _LEFT, step.rate("dropoffs", "views"), step["formId"], step["stepId"])
            for step in view.compared(all_steps, "formId", "stepId").rows()
            if step["formId"] in names
        ),
    ]
    # One form alone says it already.
    if len(forms.rows.now) > 1:
        candidates.append(Candidate(SHOP, _SUBMITTED, total.rate("submissions", "views")))
    return losses(candidates), sum(candidate.is_tested for candidate in candidates)


def step_name(view: View, candidate: Candidate) -> str:
    """The name of the step of a candidate; "" for the rate of no step."""
    if candidate.kind != STEP:
        return ""
    steps = view.data(step_dropoff, candidate.form_id)
    return next(
        str(step["stepName"] or step["stepId"])
        for step in steps
        if step["stepId"] == candidate.step_id
    )
