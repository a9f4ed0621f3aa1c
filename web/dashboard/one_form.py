"""`/forms/<id>`: one form in full.

Funnel, steps, devices and visitors are here; the days, the times to complete, the answers and two questions
crossed each have a module of their own.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from web.dashboard.charts import losses
from web.dashboard.compared_rows import ComparedRow, compared_rows
from web.dashboard.comparison import Amount, Rate
from web.dashboard.form_days import form_days
from web.dashboard.one_form_answers import answers
from web.dashboard.one_form_crossed import crossed
from web.dashboard.one_form_times import times
from web.dashboard.page import View
from web.dashboard.step_changes import risen_steps
from web.http.errors import not_found

# The stages of a funnel, each with its figure.
_STAGES: Final = (
    ("Viewed", "views"),
    ("Started", "starts"),
    ("Submitted", "submissions"),
    ("Bought", "convertedSubmissions"),
)
# Steps that are drawn; the table has more.
_STEPS_DRAWN: Final = 30


@dataclass(frozen=True, slots=True)
class FunnelStage:
    """A stage of a funnel, with its rates of the stage before and of the first."""

    name: str
    sessions: Amount
    of_previous: Rate
    of_first: Rate
    bar: losses.LossBar


def one_form(view: View, form_id: str) -> str:
    form_id = form_id.lower()
    form = view.form(form_id)
    if form is None:
        raise not_found()
    funnel = ComparedRow(
        view.data("/forms/{id}/funnel", form_id), view.before("/forms/{id}/funnel", form_id)
    )
    return view.render(
        "one_form.html",
        form=form,
        funnel=funnel,
        stages=_stages(funnel),
        **form_days(view, form_id),
        **_steps(view, form_id),
        **times(view, form_id),
        devices=[
            (device, _stages(device))
            for device in compared_rows(view, "/forms/{id}/devices", form_id, "deviceType")
        ],
        visitors=compared_rows(view, "/forms/{id}/visitor-conversion", form_id, "visitorType"),
        **answers(view, form_id),
        **crossed(view, form_id),
    )


def _stages(figures: ComparedRow) -> list[FunnelStage]:
    """The funnel of a form, or of a device."""
    measures = [measure for _, measure in _STAGES]
    bars = losses.funnel([figures.row[measure] for measure in measures])
    return [
        FunnelStage(
            name,
            figures.amount(measure),
            figures.rate(measure, previous),
            figures.rate(measure, measures[0]),
            bar,
        )
        for (name, measure), previous, bar in zip(
            _STAGES, [measures[0], *measures], bars, strict=False
        )
    ]


def _steps(view: View, form_id: str) -> dict[str, Any]:
    """The steps, the ids of those that lose most, and those that lose more than before."""
    steps = compared_rows(view, "/forms/{id}/steps/dropoff", form_id, "stepId")
    most = max((step.row["dropoffs"] for step in steps), default=0)
    return {
        "steps": steps,
        "step_bars": list(
            zip(steps, losses.losses([_kept_and_lost(step.row) for step in steps]), strict=True)
        )[:_STEPS_DRAWN],
        "worst_steps": {
            step.row["stepId"] for step in steps if most and step.row["dropoffs"] == most
        },
        "risen_steps": risen_steps(view, form_id),
    }


def _kept_and_lost(step: Mapping[str, Any]) -> tuple[int, int]:
    return step["views"] - step["dropoffs"], step["dropoffs"]
