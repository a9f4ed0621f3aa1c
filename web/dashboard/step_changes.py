"""The steps of a form that lose more of their sessions than they did before."""

from dataclasses import dataclass

from web.dashboard.compared_rows import compared_rows
from web.dashboard.comparison import Rate
from web.dashboard.page import View


@dataclass(frozen=True, slots=True)
class RisenStep:
    """`rate`: the sessions that dropped off at the step, of those that saw it, now and before."""

    name: str
    rate: Rate


def risen_steps(view: View, form_id: str) -> list[RisenStep]:
    """The steps whose drop-off rose beyond chance, the greatest rise first; none where nothing is
    compared."""
    steps = [
        RisenStep(step.row["stepName"] or step.row["stepId"], step.rate("dropoffs", "views"))
        for step in compared_rows(view, "/forms/{id}/steps/dropoff", form_id, "stepId")
    ]
    risen = [step for step in steps if (step.rate.change or 0) > 0 and not step.rate.is_chance]
    return sorted(risen, key=lambda step: -(step.rate.change or 0))
