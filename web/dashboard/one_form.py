"""`/forms/<id>`: one form in full.

Funnel, steps, devices, visitors and answers are here; the days, the times to complete and two questions
crossed each have a module of their own.
"""

from dataclasses import dataclass
from functools import partial
from typing import Any, Final

from web.api.endpoint import Endpoint
from web.dashboard.charts import bars
from web.dashboard.compare import ComparedRow, Rate, beside
from web.dashboard.form_days import form_days
from web.dashboard.one_form_crossed import crossed
from web.dashboard.one_form_times import times
from web.dashboard.page import View
from web.dashboard.table import Card, Reason, card, columns_of, table
from web.http.errors import not_found
from web.reports.form_analytics import (
    DEVICE,
    STAGE,
    STEP,
    VISITOR,
    form_devices,
    form_funnel,
    step_dropoff,
    visitor_conversion,
)
from web.reports.response_revenue import ROW, response_revenue

# The stages of a funnel, each with its figure.
_STAGES: Final = (
    ("Viewed", "views"),
    ("Started", "starts"),
    ("Submitted", "submissions"),
    ("Bought", "convertedSubmissions"),
)
# Steps that are drawn; the table has more.
_STEPS_DRAWN: Final = 30


def _later(reason: str) -> Reason:
    return lambda stage: "the first stage" if stage["is_first"] else reason


_stage, _step, _device, _visitor = (
    partial(columns_of(row), compared=True) for row in (STAGE, STEP, DEVICE, VISITOR)
)
_answer = columns_of(ROW)
_STAGE_COLUMNS: Final = (
    _stage("stage"),
    _stage("count"),
    _stage("rateFromPrevious", "of the stage before", without=_later("nobody in the stage before")),
    _stage("rateFromFirst", "of views", without=_later("no views")),
)
_STEP_COLUMNS: Final = (
    _step("stepName", "Step", mark=("worst", "loses most", lambda step: bool(step["is_worst"]))),
    _step("views"),
    _step("completions", compared=False),
    _step("completionRate", "of those who saw it", without="nobody saw it", compared=False),
    _step("dropoffs"),
    _step("dropoffRate", "of those who saw it", without="nobody saw it", is_loss=True),
    _step("shareOfDropoffs", "of all who left", compared=False),
)
_DEVICE_COLUMNS: Final = (
    _device("deviceType"),
    _device("views"),
    _device("shareOfViews", "Share", compared=False),
    _device("starts"),
    _device("submissions", "Submissions"),
    _device("submissionRate", "of views"),
    _device("convertedSubmissions"),
    _device("conversionRate", "of submissions"),
    _device("netRevenueCents"),
)
_VISITOR_COLUMNS: Final = (
    _visitor("visitorType"),
    _visitor("visitors"),
    _visitor("submitters"),
    _visitor("submissionRate", "of those who saw it", without="nobody saw it"),
    _visitor("purchasers"),
    _visitor("conversionRate", "of those who submitted"),
    _visitor("purchaseRate", "of those who saw it", without="nobody saw it"),
)
_ANSWER_COLUMNS: Final = (
    _answer("fieldId", sort="question"),
    _answer("value", absent="no answer", sort="answer"),
    _answer("submissions", "Submissions"),
    _answer("conversionRate", "Bought", compared=True, sort="bought"),
    _answer("netRevenueCents", sort="net"),
    _answer(
        "revenuePerSubmissionCents",
        "per submission",
        compared=True,
        bar=lambda answer: answer["share"],
        sort="per",
    ),
)


@dataclass(frozen=True, slots=True)
class RisenStep:
    """`rate`: the sessions that dropped off at the step, of those that saw it, now and before."""

    name: str
    rate: Rate


def one_form(view: View, form_id: str) -> str:
    form_id = form_id.lower()
    form = view.form(form_id)
    if form is None:
        raise not_found()
    funnel = ComparedRow(view.data(form_funnel, form_id), view.before(form_funnel, form_id))
    devices = _named(view, form_devices, form_id, "deviceType")
    return view.render(
        "one_form.html",
        form=form,
        cards=_cards(funnel, view.shop.currency),
        stages=_stages(funnel),
        stage_table=table(view, _STAGE_COLUMNS, [stage for stage, _ in _stages(funnel)]),
        **form_days(view, form_id),
        **_steps(view, form_id),
        **times(view, form_id),
        devices=[(device, _stages(device)) for device in devices],
        device_table=table(view, _DEVICE_COLUMNS, devices),
        visitors=table(
            view, _VISITOR_COLUMNS, _named(view, visitor_conversion, form_id, "visitorType")
        ),
        **_answers(view, form_id),
        **crossed(view, form_id),
    )


def risen_steps(view: View, form_id: str) -> list[RisenStep]:
    """The steps whose drop-off rose beyond chance, the greatest rise first; none where nothing is
    compared."""
    steps = [
        RisenStep(step["stepName"] or step["stepId"], step.rate("dropoffs", "views"))
        for step in _compared(view, step_dropoff, form_id, "stepId")
    ]
    risen = [step for step in steps if (step.rate.change or 0) > 0 and not step.rate.is_chance]
    return sorted(risen, key=lambda step: -(step.rate.change or 0))


def _compared(view: View, report: Endpoint, form_id: str, *keys: str) -> list[ComparedRow]:
    """The rows of an answer about the form, each beside the one before with the same `keys`."""
    return beside(view.data(report, form_id), view.before(report, form_id), *keys)


def _named(view: View, report: Endpoint, form_id: str, key: str) -> list[ComparedRow]:
    """The same with the key as a word of the page."""
    rows = _compared(view, report, form_id, key)
    return [ComparedRow({**row.now, key: row[key].capitalize()}, row.before) for row in rows]


def _cards(funnel: ComparedRow, currency: str) -> list[Card]:
    """The note of the section says whose orders they are."""
    return [
        card("Submitted", funnel.rate("submissions", "views"), ""),
        card("Bought after submitting", funnel.rate("convertedSubmissions", "submissions"), ""),
        card("Orders", funnel.amount("orders"), ""),
        card("Net revenue", funnel.amount("netRevenueCents"), "", currency),
    ]


def _stages(figures: ComparedRow) -> list[tuple[ComparedRow, tuple[float, float]]]:
    """The stages of the funnel of a form, or of a device, each with its bar: its sessions, those of the
    `previous` one and of the `first`. The first stage has none to be compared with."""
    measures = [measure for _, measure in _STAGES]
    widths = bars.funnel([figures[measure] for measure in measures])

    def stage(place: int, sums: Any) -> dict[str, int]:
        counts = [sums.get(measure, 0) for measure in measures]
        first, previous = (counts[0], counts[place - 1]) if place else (0, 0)
        return {"count": counts[place], "previous": previous, "first": first}

    return [
        (
            ComparedRow(
                {"stage": name, "is_first": not place, **stage(place, figures.now)},
                None if figures.before is None else stage(place, figures.before),
            ),
            widths[place],
        )
        for place, (name, _) in enumerate(_STAGES)
    ]


def _steps(view: View, form_id: str) -> dict[str, Any]:
    """The steps as bars and as a table, and those that lose more than before."""
    rows = _compared(view, step_dropoff, form_id, "stepId")
    most = max((row["dropoffs"] for row in rows), default=0)
    steps = [
        ComparedRow(
            {
                **row.now,
                "stepName": row["stepName"] or row["stepId"],
                "is_worst": most and row["dropoffs"] == most,
            },
            row.before,
        )
        for row in rows
    ]
    widths = bars.losses([(step["views"] - step["dropoffs"], step["dropoffs"]) for step in steps])
    return {
        "steps": table(view, _STEP_COLUMNS, steps),
        "step_bars": list(zip(steps, widths, strict=True))[:_STEPS_DRAWN],
        "risen_steps": risen_steps(view, form_id),
    }


def _answers(view: View, form_id: str) -> dict[str, Any]:
    """The answers to the questions of the form, and the orders that followed from each. A value that is None
    stands for submissions without one."""
    rows = _compared(view, response_revenue, form_id, "fieldId", "value")
    per = [row["revenuePerSubmissionCents"] for row in rows if row["submissions"]]
    best = max(per, default=0)

    def share(row: ComparedRow) -> float | None:
        if not row["submissions"] or best <= 0:
            return None
        return max(row["revenuePerSubmissionCents"] / best, 0)

    answers = [ComparedRow({**row.now, "share": share(row)}, row.before) for row in rows]
    return {
        "answers": table(view, _ANSWER_COLUMNS, answers, "answers.question"),
        "has_several_choices": any(row["multiSelect"] for row in rows),
    }
