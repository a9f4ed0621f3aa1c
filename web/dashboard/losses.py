"""The rates of the shop that got worse than before, more than chance does to so many rates.

Steps that lose more, forms that are submitted less often, and the shop as a whole are tested together: among
sixteen rates that are as they were, some week makes one of them look worse by itself.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import compress
from typing import Final

from markupsafe import Markup

from web.dashboard import formatting
from web.dashboard.changes import DOWN, UP, written
from web.dashboard.compare import Rate
from web.dashboard.forms_table import ShopForms
from web.dashboard.page import View
from web.dashboard.statistics import benjamini_hochberg, p_greater
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
    rate: Rate
    form_id: str = ""
    step_id: str = ""

    @property
    def is_tested(self) -> bool:
        """Whether both samples are large enough to say anything."""
        return bool(self.rate.fair and self.rate.before) and not self.rate.is_few

    @property
    def p_value(self) -> float:
        """That it got worse, of a tested rate."""
        assert self.rate.fair
        assert self.rate.before
        now, before = self.rate.fair, self.rate.before
        return p_greater(*now, *before) if self.figure == _LEFT else p_greater(*before, *now)


@dataclass(frozen=True, slots=True)
class Loss:
    """A rate that got worse, with the names of its form and its step."""

    candidate: Candidate
    form_name: str
    step_name: str

    @property
    def within(self) -> int | None:
        """The days to buy, of a rate of those who bought."""
        pair = self.candidate.rate.pair
        return pair.within if pair else None

    @property
    def texts(self) -> tuple[str, str]:
        """The rate over the days that are compared, and the former one."""
        rate = self.candidate.rate
        assert rate.fair_rate is not None
        assert rate.before_rate is not None
        return formatting.percent(rate.fair_rate), formatting.percent(rate.before_rate)

    @property
    def attributes(self) -> Markup:
        """Those of the figure for programs."""
        rate, pair = self.candidate.rate, self.candidate.rate.pair
        assert pair
        return written(
            {
                "data-figure": self.candidate.figure,
                "data-value": rate.fair_rate,
                "data-change": UP if self.candidate.figure == _LEFT else DOWN,
                "data-within": pair.within,
                "data-before": rate.before_rate,
                "data-days": pair.days_text,
                "data-days-before": pair.before_text,
            }
        )


@dataclass(frozen=True, slots=True)
class Losses:
    """`worse` are the rates that got worse, the surest first, among so many that were `tested`."""

    worse: list[Loss]
    tested: int

    def of_steps(self, form_id: str) -> list[Loss]:
        return [
            loss
            for loss in self.worse
            if loss.candidate.kind == STEP and loss.candidate.form_id == form_id
        ]


def losses(candidates: Sequence[Candidate]) -> list[Candidate]:
    """Those that got worse, the surest first.

    Where no rate has really changed, there is one in at most 1 of 20 lists; where some have, at most 1 of 20
    that are in lists has not. One that tables call within chance by itself is none.
    """
    tested = [candidate for candidate in candidates if candidate.is_tested]
    p_values = [candidate.p_value for candidate in tested]
    worse = compress(zip(p_values, tested, strict=True), benjamini_hochberg(p_values))
    surest = sorted(worse, key=lambda pair: pair[0])
    return [candidate for _, candidate in surest if not candidate.rate.is_chance]


def shop_losses(view: View, forms: ShopForms) -> Losses:
    """Of all forms on the shop's list, whatever page asks: no two pages disagree."""
    candidates = _candidates(view, forms)
    worse = [
        Loss(candidate, forms.names.get(candidate.form_id, ""), _step_name(view, candidate))
        for candidate in losses(candidates)
    ]
    return Losses(worse, sum(candidate.is_tested for candidate in candidates))


def _candidates(view: View, forms: ShopForms) -> list[Candidate]:
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
    return candidates


def _step_name(view: View, candidate: Candidate) -> str:
    if candidate.kind != STEP:
        return ""
    steps = view.data(step_dropoff, candidate.form_id)
    return next(
        str(step["stepName"] or step["stepId"])
        for step in steps
        if step["stepId"] == candidate.step_id
    )
