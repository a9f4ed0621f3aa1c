"""Drop-off per step (7)."""

from functools import cache
from typing import Any

from sqlalchemy import Select, bindparam, select

from warehouse.tables import dim_step
from web.api.figures import any_figure, figures
from web.api.query import Query
from web.api.rounding import percent
from web.api.schemas.sessions import StepFigures, StepRow


def step_dropoff(query: Query) -> list[StepRow]:
    """At which step sessions end.

    A row per step viewed in the window, by stepIndex, then stepId. All figures are dated by the session's
    first view of the step. Index and name are those of the latest event; `stepName` is null if no event
    has a name for the step.
    """
    lines = [
        line for line in query.form_sums("step", by=("step",)).rows() if any_figure(line, "step")
    ]
    steps = {
        step: (index, name)
        for step, index, name in query.connection.execute(
            _steps(), {"edition": query.shop.edition, "form": query.form}
        )
    }
    texts = query.texts(line["step"] for line in lines)
    all_dropoffs = sum(line["dropoffs"] for line in lines)
    rows: list[StepRow] = []
    for line in lines:
        index, name = steps[line["step"]]
        rows.append(
            {
                "stepId": texts[line["step"]],
                "stepIndex": index,
                "stepName": name or None,
                **figures(StepFigures, line),
                "shareOfDropoffs": percent(line["dropoffs"], all_dropoffs),
            }
        )
    return sorted(rows, key=lambda row: (row["stepIndex"], row["stepId"]))


@cache
def _steps() -> Select[Any]:
    return select(dim_step.c.step, dim_step.c.step_index, dim_step.c.step_name).where(
        dim_step.c.edition == bindparam("edition"), dim_step.c.form == bindparam("form")
    )
