"""`/forms/<id>`: one form in full.

Funnel, steps, devices, visitors and answers are here; the days, the times to complete and two questions
crossed each have a module of their own.
"""

from collections.abc import Sequence
from functools import partial
from typing import Any, Final

from web.dashboard.changes import Cell
from web.dashboard.charts import bars
from web.dashboard.compare import ComparedRow, Rate
from web.dashboard.form_days import days_of_form, form_days, orders_of_form
from web.dashboard.forms_table import shop_forms
from web.dashboard.labels import Labels, labels_of_forms
from web.dashboard.losses import shop_losses
from web.dashboard.one_form_crossed import crossed
from web.dashboard.one_form_times import times
from web.dashboard.page import Page, View
from web.dashboard.table import Card, Reason, card, columns_of, table
from web.dashboard.time_to_buy import time_to_buy
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
    return lambda stage: reason if stage["previous"] else "the first stage"


_stage, _step, _device, _visitor = (
    partial(columns_of(row), compared=True) for row in (STAGE, STEP, DEVICE, VISITOR)
)
_answer = columns_of(ROW)
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
_STEP_COLUMNS: Final = (
    _step("stepName", "Step", mark=("worst", "loses most", lambda step: bool(step["is_worst"]))),
    _step("views", compared=False),
    _step("completions", compared=False),
    _step("completionRate", "of those who saw it", without="nobody saw it", compared=False),
    _step("dropoffs", compared=False),
    _step("dropoffRate", "of those who saw it", without="nobody saw it", is_loss=True),
    _step("shareOfDropoffs", "of all who left", compared=False),
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
_ANSWER_COLUMNS: Final = (
    _answer("value", absent="no answer", sort="answer", text=lambda row: row["answer"]),
    _answer("fieldId", sort="question", text=lambda row: row["question"], deep=True),
    _answer("submissions", "Submissions"),
    _answer("conversionRate", "Bought", compared=True, sort="bought"),
    _answer("netRevenueCents", sort="net", deep=True),
    _answer(
        "revenuePerSubmissionCents",
        "per submission",
        compared=True,
        figure=lambda row: row.quotient("netRevenueCents", "submissions").alone(),
        bar=lambda answer: answer["share"],
        main=True,
        sort="per",
    ),
)


def one_form(view: View, form_id: str) -> Page:
    form_id = form_id.lower()
    form = view.form(form_id)
    if form is None:
        raise not_found()
    funnel = view.compared(form_funnel, "formId", form_id=form_id).rows()[0]
    stages, labels = _stages(funnel), labels_of_forms(view, [form_id])
    days = days_of_form(view, form_id)
    devices = view.compared(form_devices, "deviceType", form_id=form_id).rows()
    visitors = view.compared(visitor_conversion, "visitorType", form_id=form_id).rows()
    return view.page(
        "one_form.html",
        form=form,
        cards=_cards(view, funnel, days.total(TREND.total)),
        stages=_drawn_stages(view, stages),
        stage_table=table(
            view, "stages", _STAGE_COLUMNS, stages, marks={"row": "stage"}, is_numbers=True
        ),
        **form_days(view, form_id, days),
        **time_to_buy(view, form_id),
        **_steps(view, form_id),
        **times(view, form_id),
        device_table=table(view, "devices", _DEVICE_COLUMNS, devices, marks={"row": "deviceType"}),
        visitors=table(view, "visitors", _VISITOR_COLUMNS, visitors, marks={"row": "visitorType"}),
        **_answers(view, form_id, labels),
        **crossed(view.whole, form_id, labels),
    )


def _cards(view: View, funnel: ComparedRow, days: ComparedRow) -> list[Card]:
    """The note of the section says whose orders they are."""
    net, cell = "netRevenueCents", view.changes.cell
    orders = cell(days.amount("orders"), name="orders")
    return [
        card(view, "Submitted", "submissionRate", funnel.rate("submissions", "views")),
        card(
            view,
            "Sign-ups that bought",
            "conversionRate",
            funnel.rate("convertedSubmissions", "submissions"),
        ),
        card(
            view,
            "Net revenue",
            net,
            days.amount(net),
            "",
            view.shop.currency,
            [("orders", orders)],
            orders=orders_of_form(view, funnel["formId"]),
        ),
    ]


def _stages(figures: ComparedRow) -> list[ComparedRow]:
    """The stages of the funnel: `measure` is the figure of each, and `previous` that of the stage before
    ("" for the first)."""
    measures = [measure for _, measure in _STAGES]
    return [
        figures.plus(stage=name, measure=measure, previous=previous)
        for (name, measure), previous in zip(_STAGES, ["", *measures[:-1]], strict=True)
    ]


def _drawn_stages(
    view: View, stages: Sequence[ComparedRow]
) -> list[tuple[ComparedRow, tuple[float, float], Cell | None]]:
    """Each with its bar, and its share of the stage before. Those who bought are a share of those who have
    had the days to buy, as everywhere: of the sign-ups of these days, so many of a hundred."""
    rates = [None, *(stage.rate(stage["measure"], stage["previous"]) for stage in stages[1:])]
    counts = [stage[stage["measure"]] for stage in stages]
    *_, bought = rates
    counts[-1] = round(counts[-2] * ((bought.value if bought else None) or 0) / 100)
    without = "nobody in the stage before"
    cells = [
        None if rate is None else view.changes.cell(Rate(*rate.shown), "percent", without=without)
        for rate in rates
    ]
    return list(zip(stages, bars.funnel(counts), cells, strict=True))


def _steps(view: View, form_id: str) -> dict[str, Any]:
    """The steps as bars and as a table, and those that lose more than before."""
    rows = view.compared(step_dropoff, "stepId", form_id=form_id).rows()
    # Of one step alone there is nothing to say.
    most = max((row["dropoffs"] for row in rows), default=0) if len(rows) > 1 else 0
    steps = [
        row.plus(
            stepName=row["stepName"] or row["stepId"],
            is_worst=bool(most) and row["dropoffs"] == most,
        )
        for row in rows
    ]
    lost = shop_losses(view, shop_forms(view))
    widths = bars.losses([(step["views"] - step["dropoffs"], step["dropoffs"]) for step in steps])
    return {
        "steps": table(
            view, "steps", _STEP_COLUMNS, steps, marks={"row": "stepId"}, is_numbers=True
        ),
        "step_bars": [
            (step, width, _LEFT.cell(view.changes, step, view.shop.currency))
            for step, width in zip(steps[:_STEPS_DRAWN], widths[:_STEPS_DRAWN], strict=True)
        ],
        "step_losses": lost.of_steps(form_id),
        "tested_rates": lost.tested,
    }


def _answers(view: View, form_id: str, labels: Labels) -> dict[str, Any]:
    """The answers to the questions of the form, and the orders that followed from each. A value that is None
    stands for submissions without one."""
    rows = view.compared(response_revenue, "fieldId", "value", form_id=form_id).rows()
    per = {id(row): row.quotient("netRevenueCents", "submissions").alone().value for row in rows}
    best = max((value for value in per.values() if value is not None), default=0)

    def share(row: ComparedRow) -> float | None:
        value = per[id(row)]
        return None if value is None or best <= 0 else max(value / best, 0)

    def answer(row: ComparedRow) -> str | None:
        value = row["value"]
        return None if value is None else labels.answer(row["fieldId"], value)

    answers = [
        row.plus(share=share(row), question=labels.question(row["fieldId"]), answer=answer(row))
        for row in rows
    ]
    return {
        "answers": table(
            view,
            "answers",
            _ANSWER_COLUMNS,
            answers,
            "question",
            marks={"field": "fieldId", "row": "value"},
            group="fieldId",
        ),
        "has_several_choices": any(row["multiSelect"] for row in rows),
    }
