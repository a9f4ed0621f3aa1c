"""One form: funnel (6), steps (7), devices (9), visitors (10) and days (13)."""

from collections.abc import Mapping
from typing import Any, Final

import numpy as np
from sqlalchemy import bindparam, select

from warehouse.catalogue import OUTCOMES
from warehouse.connections.look_ups import read_rows
from warehouse.domain.figures import FUNNEL, MILESTONES, OUTCOME, RATES, SUBMISSION, count, percent
from warehouse.domain.vocabulary import DEVICES, VISITOR_LEVELS, VISITOR_TYPES, visitor_kind
from warehouse.tables import dim_step
from web.api.endpoint import for_pages, get
from web.api.equal_age import WITHIN, age_clock, require_within_window
from web.api.filters import FILTERS
from web.api.meta import AGE_META
from web.api.query import Query
from web.api.rows import (
    DATE,
    FORM_COLUMNS,
    Answer,
    Row,
    column,
    grid,
    rows,
    text,
    with_figures,
)
from web.http.parameters import ORDER_CLOCK, clock_of

# Each stage of the funnel with its figure.
_STAGES: Final = {
    "view": "views",
    "start": "starts",
    "submit": "submissions",
    "convert": "convertedSubmissions",
}

_STEPS: Final = select(dim_step.c.step, dim_step.c.step_index, dim_step.c.step_name).where(
    dim_step.c.edition == bindparam("edition"), dim_step.c.form == bindparam("form")
)
# The figures of a funnel that are of the whole window at any age.
_OF_ALL_DAYS: Final = (
    "views starts subscriptions completions startRate subscriptionRate completionRate"
)

# fmt: off
STAGE: Final = Row(
    "Stage",
    "A stage of the funnel.",
    column("stage", "Stage",
        "The stages count `views`, `starts`, `submissions` and `convertedSubmissions`.",
        {"enum": sorted(_STAGES)}),
    count("count", "Sessions",
        "Form sessions that reached the stage.",
        "Showings of the form that got so far."),
    percent("rateFromPrevious", "Of the stage before",
        "`count` as a percentage of the previous stage. The first stage has 100, or 0 if its count is 0.",
        "How many of 100 that reached the stage before reached this one.",
        over=("count", "previous"), without="nobody reached the stage before"),
    percent("rateFromFirst", "Of all views",
        "`count` as a percentage of the first stage.",
        "How many of 100 views got so far.",
        over=("count", "first"), without="no views"),
)


def _stages(sums: Mapping[str, int]) -> list[dict[str, Any]]:
    counts = {stage: FUNNEL_ROW.formula(figure)(sums) for stage, figure in _STAGES.items()}
    previous = first = counts["view"]
    stages = []
    for stage, reached in counts.items():
        sums_of_stage = {"count": reached, "previous": previous, "first": first}
        stages.append(STAGE.filled((stage,), sums_of_stage))
        previous = reached
    return stages


FUNNEL_ROW: Final = Row(
    "Funnel",
    """A form over the whole window. Orders and revenue followed from the window's submissions, to date
    (submission clock). With `within`, submissions, orders, revenue, their rates and the stages `submit` and
    `convert` are those at equal age, over the views and starts of the days that are old enough.""",
    *FORM_COLUMNS,
    FUNNEL,
    rows("stages", "Stages", "The four stages, from view to order.", STAGE, _stages, names=_STAGES),
    owner="Everything counts on the day on which it first happened. The orders are those that were "
    "credited to the submissions of these days, up to today: the last days have had less time to bring "
    "orders.",
)
STEP: Final = Row(
    "StepRow",
    """A step that was viewed in the window. All figures are dated by the session's first view of the step.
    Order: stepIndex, stepId.""",
    text("stepId", "Step", "The step's id."),
    column("stepIndex", "Place",
        "The step's position from 0, as the latest event states it.",
        {"type": "integer", "minimum": 0}),
    text("stepName", "Name",
        "The step's name, as the latest event with a name states it; else null.", null=True),
    count("views", "Seen",
        "Form sessions that viewed the step.",
        "Showings of the form in which the visitor saw the step."),
    count("completions", "Completed",
        "Those sessions that completed the step.",
        "How many of them completed the step."),
    count("dropoffs", "Left here",
        "Those sessions that viewed this step last, and completed neither the step nor the form.",
        "How many of them saw this step last, and completed neither it nor the form."),
    "completionRate",
    percent("dropoffRate", "Left, of those who saw it",
        "`dropoffs` / `views` x 100.",
        "How many of 100 who saw the step left the form there.",
        over=("dropoffs", "views"), without="nobody saw the step"),
    percent("shareOfDropoffs", "Share of all who left",
        "`dropoffs` as a percentage of the drop-offs of all steps.",
        "How many of 100 who left the form at some step left it here.",
        share_of="dropoffs"),
    owner="A step counts on the day on which the visitor first saw it. Its place and name are those "
    "that the form sent last.",
)
FORM_STEP: Final = Row(
    "FormStepRow",
    "A step among those of all forms: for pages.",
    text("formId", "Form", "The form's id.", format="uuid"),
    STEP.columns["stepId"],
    STEP.columns["views"],
    STEP.columns["dropoffs"],
    STEP.columns["dropoffRate"],
)
DEVICE: Final = Row(
    "DeviceRow",
    """One device type. Orders and revenue followed from the window's submissions, to date (submission
    clock). Order: views descending, then deviceType.""",
    text("deviceType", "Device",
        "The device type of the form session: that of its earliest event with a device type, or "
        "`other` if no event has one.",
        enum=[name for name in DEVICES if name]),
    f"{MILESTONES} {OUTCOME} {RATES}",
    percent("shareOfViews", "Share of views",
        "`views` as a percentage of the views of all devices.",
        "How many of 100 views came from this kind of device.",
        share_of="views"),
    owner="Each showing of the form counts for the device it was shown on. The orders are those of these "
    "submissions, up to today, whatever device they were placed on.",
)
VISITOR: Final = Row(
    "VisitorRow",
    """Distinct visitors over the whole window, counted exactly. A form session is `new` if it is the
    visitor's first with this form, ever; otherwise it is `returning`. A visitor with both kinds is in both
    rows, and once in `all`. Order: `all`, `new`, `returning`.""",
    text("visitorType", "Visitors",
        "The kind of form sessions that the row counts.",
        enum=list(VISITOR_TYPES)),
    count("visitors", "Saw it",
        "Visitors with a view in the window.",
        "Different browsers that saw the form in these days."),
    count("submitters", "Submitted",
        "Visitors with a submission in the window.",
        "Different browsers that submitted the form in these days."),
    count("purchasers", "Bought",
        "Visitors with a converted submission in the window.",
        "Different browsers with a submission in these days that an order was credited to.",
        dated_by=SUBMISSION),
    percent("submissionRate", "Submitted, of those who saw it",
        "`submitters` / `visitors` x 100.",
        "How many of 100 visitors submitted the form.",
        over=("submitters", "visitors"), without="no visitors"),
    percent("purchaseRate", "Bought, of those who saw it",
        "`purchasers` / `visitors` x 100.",
        "How many of 100 visitors bought.",
        over=("purchasers", "visitors"), without="no visitors"),
    percent("conversionRate", "Bought, of those who submitted",
        "`purchasers` / `submitters` x 100.",
        "How many of 100 visitors who submitted the form bought.",
        over=("purchasers", "submitters"), without="nobody submitted"),
    owner="People are counted here, not showings: each browser once, however often it came. A visit is "
    "new if it was the browser's first with this form; who came for the first time and came back is in "
    "both rows.",
)
TREND: Final = Row(
    "TrendRow",
    """One day of the window. Orders and revenue are those credited to the form, by the day of the order
    (order clock), or with `clock=submission` by the day of the submission, to date. Everything else is dated
    by its own day. Order: date. No day is left out.""",
    DATE,
    f"{MILESTONES} {OUTCOME} {RATES}",
    owner="Views and submissions count on their own day. By order day, orders and revenue are those that "
    "were credited to the form, on the day of the order. By sign-up day, they count on the day of the "
    "submission that they followed.",
)
# fmt: on


@get(
    "/forms/{id}/funnel",
    "analytics:read",
    FUNNEL_ROW,
    WITHIN,
    single=True,
    meta=AGE_META,
    rule=require_within_window,
    clock=age_clock,
    filters=FILTERS,
)
def form_funnel(query: Query, within: int | None) -> Answer:
    """A form's funnel: from view to start, submission and order, with rates and revenue.

    One object for the whole window. Orders and revenue are on the submission clock.
    """
    names = query.form_names([query.form_id])
    parts = query.form_id, names[query.form_id]
    funnel = FUNNEL_ROW.filled(parts, query.form_outcomes("funnel").total())
    if within is None:
        return Answer(funnel)
    sums = query.form_sums("funnel").total() | dict.fromkeys(OUTCOMES, 0)
    counts = FUNNEL_ROW.filled(parts, sums)
    of_all_days = {name: counts[name] for name in _OF_ALL_DAYS.split()}
    stages = [*counts["stages"][:2], *funnel["stages"][2:]]
    data = {**funnel, **of_all_days, "stages": stages}
    return Answer(data, meta={"matureThrough": query.mature_through()})


@get("/forms/{id}/steps/dropoff", "analytics:read", STEP, filters=FILTERS)
def step_dropoff(query: Query) -> list[dict[str, Any]]:
    """At which step sessions end.

    A row per step viewed in the window, by stepIndex, then stepId. All figures are dated by the session's
    first view of the step. Index and name are those of the latest event; `stepName` is null if no event
    has a name for the step.
    """
    (steps,), measures = with_figures(query.form_sums("step", by=("step",)).columns, ("step",))
    of_form = {"edition": query.shop.edition, "form": query.form}
    known = {
        step: (index, name or None)
        for step, index, name in read_rows(query.connection, _STEPS, of_form)
    }
    texts = query.texts(steps.tolist())
    filled = STEP.filled_rows([(texts[step], *known[step]) for step in steps.tolist()], measures)
    return sorted(filled, key=lambda row: (row["stepIndex"], row["stepId"]))


@for_pages("all steps", FORM_STEP, parameters=FILTERS, filters=FILTERS)
def all_steps(query: Query) -> list[dict[str, Any]]:
    """The drop-off of every step that was viewed in the window, of all forms.

    The API gives it form by form: a page that looks at every step of two hundred forms cannot ask as often.
    The names are those of `step_dropoff`.
    """
    by = ("form", "step")
    keys, measures = with_figures(query.sums("step", by=by).columns, by)
    filled = FORM_STEP.filled_rows(query.texts_of(*keys)(np.arange(len(measures))), measures)
    return sorted(filled, key=lambda row: (row["formId"], row["stepId"]))


@get("/forms/{id}/devices", "analytics:read", DEVICE, filters=FILTERS)
def form_devices(query: Query) -> list[dict[str, Any]]:
    """The funnel by device type.

    A row per device type with any figure, by views descending, then name. Orders and revenue are on the
    submission clock.
    """
    sums = query.form_outcomes("device", by=("device",))
    (devices,), measures = with_figures(sums.columns, ("device",))
    filled = DEVICE.filled_rows([[DEVICES[device]] for device in devices.tolist()], measures)
    return sorted(filled, key=lambda row: (-row["views"], row["deviceType"]))


@get("/forms/{id}/visitor-conversion", "analytics:read", VISITOR, filters=FILTERS)
def visitor_conversion(query: Query) -> list[dict[str, Any]]:
    """How many visitors submit, and how many buy.

    Three rows, `all`, `new` and `returning`: distinct visitors with a view, a submission and a converted
    submission in the window.
    """
    by_kind = query.visitors()
    return [
        VISITOR.filled(
            (name,),
            {
                measure: by_kind.get(visitor_kind(index, level), 0)
                for level, measure in enumerate(VISITOR_LEVELS)
            },
        )
        for index, name in enumerate(VISITOR_TYPES)
    ]


@get("/forms/{id}/trends", "analytics:read", TREND, clock_of(ORDER_CLOCK), filters=FILTERS)
def form_trends(query: Query, clock: str) -> list[dict[str, Any]]:
    """A form day by day.

    A row per day of the window. Milestones and submissions are dated by their own day. Orders and revenue
    are those credited to the form: by the day of the order, or with `clock=submission` by the day of the
    submission, to date.
    """
    by = ("day",)
    submitted = query.form_outcomes("funnel", by=by)
    sums = [submitted]
    if clock == ORDER_CLOCK:
        sums.append(query.form_sums("form_orders", by=by))
    return grid(TREND, sums, ("day", list(query.window.dates())))
