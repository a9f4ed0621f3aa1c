"""`/forms/<id>`: one form in full.

Funnel, steps, devices, visitors and answers are here; the days, the times to complete and two questions
crossed each have a module of their own.
"""

from collections.abc import Sequence
from functools import partial
from itertools import repeat
from typing import Any, Final

from web.dashboard.changes import Cell
from web.dashboard.charts import bars
from web.dashboard.compare import ComparedRow, Line, Value
from web.dashboard.form_days import days_of_form, form_days, orders_of_form
from web.dashboard.forms import shop_forms
from web.dashboard.labels import Labels, labels_of_forms
from web.dashboard.one_form_crossed import crossed
from web.dashboard.one_form_times import time_to_buy, times
from web.dashboard.page import Page, View
from web.dashboard.table import Reason, Table, card, columns_of
from web.dashboard.worth_a_look import STEP as STEP_LOSS
from web.dashboard.worth_a_look import shop_losses
from web.http.errors import not_found
from web.reports.form_analytics import (
    DEVICE,
    STAGE,
    STEP,
    TREND,
    VISITOR,
    form_devices,
    form_funnel,
    step_dropoff,
    visitor_conversion,
)
from web.reports.response_revenue import ROW, response_revenue

# The stages of a funnel, each with its figure (`measure`). `previous` is that of the stage before, "" for the
# first.
_STAGES: Final = (
    ("Viewed", "views"),
    ("Started", "starts"),
    ("Submitted", "submissions"),
    ("Bought", "convertedSubmissions"),
)
# Steps that are drawn; the table has more.
_STEPS_DRAWN: Final = 30


def _later(reason: str) -> Reason:
    return lambda stage: reason if stage["previous"] else "the first stage"


_stage, _device, _visitor = (
    partial(columns_of(row), compared=True) for row in (STAGE, DEVICE, VISITOR)
)
_step, _answer, _of_form = (columns_of(row) for row in (STEP, ROW, TREND))
_STAGE_COLUMNS: Final = (
    _stage("stage"),
    _stage("count", figure=lambda stage: stage.amount(stage["measure"])),
    _stage(
        "rateFromPrevious",
        "of the stage before",
        figure=lambda stage: stage.rate(stage["measure"], stage["previous"]),
        of="previous",
        without=_later("nobody in the stage before"),
    ),
    _stage(
        "rateFromFirst",
        "of views",
        figure=lambda stage: stage.rate(stage["measure"], _STAGES[0][1]),
        of="previous",
        without=_later("no views"),
    ),
)


def _stage_share(stage: ComparedRow) -> Value:
    """The cards say how the shares have changed; of two filters they say not all."""
    rate = stage.rate(stage["measure"], stage["previous"])
    return rate if stage.other is not None else Value(rate.shown)


_STAGE_SHARE: Final = _stage(
    "rateFromPrevious", figure=_stage_share, without="nobody in the stage before", api=None
)
_STEP_COLUMNS: Final = (
    _step("stepName", "Step", mark=("worst", "loses most", lambda step: bool(step["is_worst"]))),
    _step("views"),
    _step("completions"),
    _step("completionRate", "of those who saw it", without="nobody saw it"),
    _step("dropoffs"),
    _step(
        "dropoffRate", "of those who saw it", without="nobody saw it", compared=True, is_loss=True
    ),
    _step("shareOfDropoffs", "of all who left"),
)
_LEFT: Final = _STEP_COLUMNS[5]
_DEVICE_COLUMNS: Final = (
    _device(
        "deviceType",
        text=lambda row: row["deviceType"].capitalize(),
        filters=lambda row: {"device": row["deviceType"]},
    ),
    _device("views", compared=False),
    _device("shareOfViews", "Share", compared=False, deep=True),
    _device("starts", compared=False, deep=True),
    _device("submissions", "Submissions", compared=False, deep=True),
    _device("submissionRate", "Submitted", main=True),
    _device("convertedSubmissions", compared=False, deep=True),
    _device("conversionRate", "Bought"),
    _device("netRevenueCents", compared=False, deep=True),
)
_VISITOR_COLUMNS: Final = (
    _visitor(
        "visitorType",
        text=lambda row: row["visitorType"].capitalize(),
        filters=lambda row: {} if row["visitorType"] == "all" else {"visitor": row["visitorType"]},
    ),
    _visitor("visitors", compared=False),
    _visitor("submitters", compared=False, deep=True),
    _visitor("submissionRate", "Submitted", without="nobody saw it", main=True),
    _visitor("purchasers", compared=False, deep=True),
    _visitor("conversionRate", "Bought"),
    _visitor("purchaseRate", "of those who saw it", without="nobody saw it", deep=True),
)


def one_form(view: View, form_id: str) -> Page:
    form_id = form_id.lower()
    form = view.form(form_id)
    if form is None:
        raise not_found()
    funnel = view.compared(form_funnel, "formId", form_id=form_id).rows()[0]
    measures = [measure for _, measure in _STAGES]
    stages = [
        funnel.plus(stage=name, measure=measure, previous=previous)
        for (name, measure), previous in zip(_STAGES, ["", *measures[:-1]], strict=True)
    ]
    labels, days = labels_of_forms(view, [form_id]), days_of_form(view, form_id)
    # The note of the section says whose orders they are.
    net, orders = _of_form("netRevenueCents"), [_of_form("orders", "orders")]
    links = orders_of_form(view, form_id)
    devices = view.compared(form_devices, "deviceType", form_id=form_id).rows()
    visitors = view.compared(visitor_conversion, "visitorType", form_id=form_id).rows()
    return view.page(
        "one_form.html",
        form=form,
        cards=[
            card(view, _device("submissionRate", "Submitted"), funnel),
            card(view, _device("conversionRate", "Sign-ups that bought"), funnel),
            card(view, net, days.total(TREND.total), more=orders, orders=links),
        ],
        stages=_drawn_stages(view, stages),
        stage_table=Table(
            view, "stages", _STAGE_COLUMNS, stages, marks={"row": "stage"}, is_numbers=True
        ),
        **form_days(view, form_id, days),
        **time_to_buy(view, form_id),
        **_steps(view, form_id),
        **times(view, form_id),
        device_table=Table(view, "devices", _DEVICE_COLUMNS, devices, marks={"row": "deviceType"}),
        visitors=Table(view, "visitors", _VISITOR_COLUMNS, visitors, marks={"row": "visitorType"}),
        **_answers(view, form_id, labels),
        **crossed(view.whole, form_id, labels),
    )


Side = tuple[str, tuple[float, float], int, Cell | None]
"""Its name where two filters stand side by side, the bar, the count, and a share."""


def _drawn_stages(
    view: View, stages: Sequence[ComparedRow]
) -> list[tuple[ComparedRow, list[Side]]]:
    """Each with its count, and its share of the stage before. Those who bought are a share of those who have
    had the days to buy, as everywhere: of the sign-ups of these days, so many of a hundred."""
    rates = [stage.rate(stage["measure"], stage["previous"]) for stage in stages[1:]]
    cells = [_STAGE_SHARE.cell(view, stage) for stage in stages[1:]]

    def side(name: str, line: Line, bought: Value, cells: Sequence[Cell | None]) -> list[Side]:
        counts = [line[stage["measure"]] for stage in stages]
        counts[-1] = round(counts[-2] * (bought.value or 0) / 100)
        return list(zip(repeat(name), bars.funnel(counts), counts, [None, *cells], strict=False))

    own, other = view.selection.sides
    sides = [side(own, stages[0].now, rates[-1], cells)]
    if stages[0].other is not None:
        beside = [cell.beside for cell in cells]
        sides.append(side(other, stages[0].other, rates[-1].beside(), beside))
    return [(stage, [each[place] for each in sides]) for place, stage in enumerate(stages)]


def _steps(view: View, form_id: str) -> dict[str, Any]:
    """The steps as bars and as a table, and those that lose more than before."""
    rows = view.compared(step_dropoff, "stepId", form_id=form_id).rows()
    # There is nothing to say of one step alone.
    most = max((row["dropoffs"] for row in rows), default=0) if len(rows) > 1 else 0
    steps = [
        row.plus(
            stepName=row["stepName"] or row["stepId"],
            is_worst=bool(most) and row["dropoffs"] == most,
        )
        for row in rows
    ]
    worse, tested = shop_losses(view.alone, shop_forms(view.alone))
    names = {row["stepId"]: row["stepName"] for row in steps}
    return {
        "steps": Table(
            view, "steps", _STEP_COLUMNS, steps, marks={"row": "stepId"}, is_numbers=True
        ),
        "step_bars": _drawn_steps(view, steps),
        "step_losses": [
            (loss, loss.cell(view), names[loss.step_id])
            for loss in worse
            if loss.kind == STEP_LOSS and loss.form_id == form_id
        ],
        "tested_rates": tested,
    }


def _drawn_steps(view: View, steps: Sequence[ComparedRow]) -> list[tuple[ComparedRow, list[Side]]]:
    """Each with those who saw it, and the share that left there."""
    own, other = view.selection.sides
    cells = [_LEFT.cell(view, step) for step in steps[:_STEPS_DRAWN]]

    def side(name: str, lines: Sequence[Line], cells: Sequence[Cell | None]) -> list[Side]:
        counts = [(line.get("views", 0), line.get("dropoffs", 0)) for line in lines]
        widths = bars.losses([(views - left, left) for views, left in counts])
        drawn = zip(widths, counts, cells, strict=False)
        return [(name, width, views, cell) for width, (views, _), cell in drawn]

    sides = [side(own, [step.now for step in steps], cells)]
    if view.beside:
        lines = [step.other or {} for step in steps]
        sides.append(side(other, lines, [cell.beside for cell in cells]))
    return [(steps[place], [each[place] for each in sides]) for place in range(len(cells))]


def _answers(view: View, form_id: str, labels: Labels) -> dict[str, Any]:
    """The answers to the questions of the form, and the orders that followed from each. A value that is None
    stands for submissions without one."""
    rows = view.compared(response_revenue, "fieldId", "value", form_id=form_id).rows()

    def answer(row: ComparedRow) -> str | None:
        value = row["value"]
        return None if value is None else labels.answer(row["fieldId"], value)

    answers = [
        row.plus(question=labels.question(row["fieldId"]), answer=answer(row)) for row in rows
    ]
    columns = [
        _answer("value", absent="no answer", sort="answer", text=lambda row: row["answer"]),
        _answer("fieldId", sort="question", text=lambda row: row["question"], deep=True),
        _answer("submissions", "Submissions"),
        _answer("conversionRate", "Bought", compared=True, sort="bought"),
        _answer("netRevenueCents", sort="net", deep=True),
        _answer(
            "revenuePerSubmissionCents",
            f"per submission in {view.comparable.horizon}",
            compared=True,
            figure=lambda row: row.quotient("netRevenueCents", "submissions").alone(),
            bar=0,
            main=True,
            sort="per",
        ),
    ]
    return {
        "answers": Table(
            view,
            "answers",
            columns,
            answers,
            "question",
            marks={"field": "fieldId", "row": "value"},
            group="fieldId",
        ),
        "has_several_choices": any(row["multiSelect"] for row in rows),
    }
