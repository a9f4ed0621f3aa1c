"""Worth a look: the few things on the overview that need a person; among them the rates of the shop that got
worse than before, more than chance does to so many rates.

Steps that lose more, forms that are submitted less often, and the shop as a whole are tested together: among
sixteen rates that are as they were, some week makes one of them look worse by itself.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import compress
from typing import Any, Final

from warehouse.domain.figures import PERCENT
from web.dashboard import formatting
from web.dashboard.ads import LOW_COVERAGE, REASONS
from web.dashboard.changes import Cell, Chip, PageChanges
from web.dashboard.compare import ComparedRow, Value, number
from web.dashboard.discounts import discount_names, is_used_by_others
from web.dashboard.forms import ShopForms
from web.dashboard.page import View
from web.dashboard.statistics import FEW, benjamini_hochberg, of_difference, p_greater
from web.dashboard.table import Column
from web.reports.discounts import discount_performance
from web.reports.form_analytics import all_steps, step_dropoff

# Rates and codes that are named; the pages behind the links have all.
_RATES: Final = 5
_CODES: Final = 3
# A form is advised to be shown more often (`seldom_seen`).
_SELDOM: Final = 1 / 3
_MUCH: Final = 1.5
_LEVEL: Final = 0.05

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


def worth_a_look(view: View, ads: Mapping[str, Any], forms: ShopForms) -> dict[str, Any]:
    """The notes for the template; {} without any. `losses` are rates that got worse than before, more than
    chance does to so many as were `tested`, the surest first, each with its cell and the names of its form
    and its step. `codes` have more orders than submissions that got them; `names` are what they are called,
    if not by their id. There are `more` of both."""
    (worse, tested), codes = shop_losses(view, forms), []
    if view.may_see(discount_performance):
        codes = [row for row in view.data(discount_performance) if is_used_by_others(row)]
    notes: dict[str, Any] = {
        "providers": [
            (entry["provider"], REASONS[entry["reason"]]) for entry in ads["unavailableProviders"]
        ],
        "coverage": [
            (provider, coverage)
            for provider, coverage in sorted(ads["attributionCoverage"].items())
            if coverage is not None and coverage < LOW_COVERAGE
        ],
        "losses": [
            (loss, loss.cell(view), forms.names.get(loss.form_id, ""), step_name(view, loss))
            for loss in worse[:_RATES]
        ],
        "codes": codes[:_CODES],
        "advice": seldom_seen(forms),
    }
    more = {
        "more_losses": len(worse[_RATES:]),
        "tested": tested,
        "names": discount_names(view, codes[:_CODES]),
        "more_codes": len(codes[_CODES:]),
    }
    return notes | more if any(notes.values()) else {}


def seldom_seen(forms: ShopForms) -> dict[str, Any] | None:
    """The one thing to do that the figures support, if any: the form to show more often, with its net revenue
    per view, beside that of all others together, and its share of all views.

    It has at most a third of all views, and earns most per view: half as much again as all others together.
    More of its views end with an order than of theirs, beyond chance: the p-value, times the forms among
    which it was found, is at most 5 %. So a few large orders alone advise nothing.
    """
    rows = [row for row in forms.rows.rows() if row["formId"] in forms.names and row["views"]]
    if len(rows) < 2:
        return None

    def per_view(row: ComparedRow) -> float:
        return float(row["netRevenueCents"] / row["views"])

    best = max(rows, key=per_view)
    others = [row for row in rows if row is not best]
    views = sum(row["views"] for row in others)
    others_per_view = sum(row["netRevenueCents"] for row in others) / views
    share = best["views"] / (views + best["views"])
    bought = [row.rate("convertedSubmissions", "views").shown or (0, 0) for row in (best, *others)]
    rest = [sum(numbers) for numbers in zip(*bought[1:], strict=True)]
    p_value = len(rows) * p_greater(*bought[0], *rest)
    if share > _SELDOM or per_view(best) < _MUCH * others_per_view or p_value > _LEVEL:
        return None
    return {
        "form_id": best["formId"],
        "form_name": forms.names[best["formId"]],
        "cents": round(per_view(best)),
        "others_cents": round(others_per_view),
        "share": round(100 * share),
    }
