"""Drop-off per step (7)."""

from functools import cache
from typing import Any

from sqlalchemy import Select, bindparam, select

from warehouse.schema import dim_step
from web.figures import any_figure
from web.questions import Question
from web.rounding import percent
from web.shapes.sessions import StepRow


def step_dropoff(question: Question) -> list[StepRow]:
    """The step at which people leave.

    A row per step viewed in the range, all on the day of a session's first view of it. Index and
    name are those latest seen, ever; `stepName` is null where no event ever named the step. Order:
    stepIndex, stepId.
    """
    lines = [
        line for line in question.form_sums("step", by=("step",)).rows() if any_figure(line, "step")
    ]
    steps = {
        step: (index, name)
        for step, index, name in question.connection.execute(
            _steps(), {"edition": question.shop.edition, "form": question.form}
        )
    }
    texts = question.texts(line["step"] for line in lines)
    all_dropoffs = sum(line["dropoffs"] for line in lines)
    rows: list[StepRow] = []
    for line in lines:
        index, name = steps[line["step"]]
        views, completions, dropoffs = line["views"], line["completions"], line["dropoffs"]
        rows.append(
            {
                "stepId": texts[line["step"]],
                "stepIndex": index,
                "stepName": name or None,
                "views": views,
                "completions": completions,
                "dropoffs": dropoffs,
                "completionRate": percent(completions, views),
                "dropoffRate": percent(dropoffs, views),
                "shareOfDropoffs": percent(dropoffs, all_dropoffs),
            }
        )
    return sorted(rows, key=lambda row: (row["stepIndex"], row["stepId"]))


@cache
def _steps() -> Select[Any]:
    return select(dim_step.c.step, dim_step.c.step_index, dim_step.c.step_name).where(
        dim_step.c.edition == bindparam("edition"), dim_step.c.form == bindparam("form")
    )
