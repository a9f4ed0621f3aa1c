"""The steps of a form that lose more of their sessions than they did before."""

from dataclasses import dataclass

from web.dashboard.comparison import Rate
from web.dashboard.page import View


@dataclass(frozen=True, slots=True)
class RisenStep:
    """`rate`: the sessions that dropped off at the step, of those that saw it, now and before."""

    step_id: str
    name: str
    rate: Rate


def risen_steps(view: View, form_id: str) -> list[RisenStep]:
    """The steps whose drop-off rose beyond chance, the greatest rise first; none where nothing is
    compared."""
    before = {row["stepId"]: row for row in view.before("/forms/{id}/steps/dropoff", form_id) or ()}
    steps = [
        RisenStep(
            row["stepId"],
            row["stepName"] or row["stepId"],
            Rate(row["dropoffs"], row["views"], earlier["dropoffs"], earlier["views"]),
        )
        for row in view.data("/forms/{id}/steps/dropoff", form_id)
        if (earlier := before.get(row["stepId"]))
    ]
    risen = [step for step in steps if (step.rate.change or 0) > 0 and not step.rate.is_chance]
    return sorted(risen, key=lambda step: -(step.rate.change or 0))
