"""Weeks of the demo's shop, drawn from the probabilities with which it is made (`jobs/demo/visits.py`): a
hundred take a second, of a shop of any size.

`python -m tests.web.dashboard.demo_weeks` prints how often a step that loses a fifth more is told.
"""

from typing import Final

import numpy as np
import numpy.typing as npt

from jobs.demo.cast import FORMS, DemoForm
from jobs.demo.people import DEVICES
from jobs.demo.visits import PATIENCE
from web.dashboard.compare import Value
from web.dashboard.worth_a_look import FORM, SHOP, STEP, Candidate, losses

Shares = npt.NDArray[np.float64]
"""A number for each device."""

_SHOWN: Final = tuple(form for form in FORMS if form.share)
STEPS: Final = tuple((form, step.id) for form in _SHOWN for step in form.steps)
_DEVICES: Final[Shares] = np.array([*DEVICES.values()]) / sum(DEVICES.values())
_PATIENCE: Final[Shares] = np.array([PATIENCE[device] for device in DEVICES])
# About as many submissions of the demo buy within three days.
_BUY: Final = 0.12

Week = dict[tuple[str, str, str, str], tuple[int, int]]
"""Hits and trials by kind, figure, form and step."""


def week(
    visits: float,
    chance: np.random.Generator,
    worse: tuple[str, str] = ("", ""),
    times: float = 1.2,
) -> Week:
    """A week with about so many visits of the shop. Each visitor is so many `times` as likely to leave at the
    step `worse` (form and step)."""
    counts: Week = {}
    submissions = 0
    for form in _SHOWN:
        views = chance.multinomial(chance.poisson(visits * form.share), _DEVICES)
        reached = chance.binomial(views, _likely(form.started))
        for step in form.steps:
            leaves = 1 - _likely(step.completed)
            left = chance.binomial(
                reached, leaves * times if (form.id, step.id) == worse else leaves
            )
            counts[STEP, "dropoffRate", form.id, step.id] = int(left.sum()), int(reached.sum())
            reached = reached - left
        counts[FORM, "submissionRate", form.id, ""] = int(reached.sum()), int(views.sum())
        submissions += int(reached.sum())
    views_of_all = sum(trials for (kind, *_), (_, trials) in counts.items() if kind == FORM)
    counts[SHOP, "submissionRate", "", ""] = submissions, views_of_all
    # Four of the week's seven days are old enough.
    old_enough = submissions * 4 // 7
    counts[SHOP, "conversionRate", "", ""] = int(chance.binomial(old_enough, _BUY)), old_enough
    return counts


def told(now: Week, before: Week) -> list[Candidate]:
    return losses(
        [
            Candidate(
                kind, figure, Value(counts, counts, before[kind, figure, form, step]), form, step
            )
            for (kind, figure, form, step), counts in now.items()
        ]
    )


def share_found(
    form: DemoForm, step: str, views: int, weeks: int, chance: np.random.Generator
) -> float:
    """In which share of the weeks a step with so many views is told that loses a fifth more than before."""
    visits, worse = views / seen_and_left(form, step)[0], (form.id, step)
    pairs = ((week(visits, chance, worse), week(visits, chance)) for _ in range(weeks))
    return (
        sum(any((loss.form_id, loss.step_id) == worse for loss in told(*pair)) for pair in pairs)
        / weeks
    )


def seen_and_left(form: DemoForm, step_id: str) -> tuple[float, float]:
    """The share of the shop's visits that see a step, and the share of those that leave there."""
    reached = form.share * _DEVICES * _likely(form.started)
    for step in form.steps:
        completed = reached * _likely(step.completed)
        if step.id == step_id:
            break
        reached = completed
    return reached.sum(), 1 - completed.sum() / reached.sum()


def _likely(probability: float) -> Shares:
    return np.minimum(1, probability * _PATIENCE)


def main() -> None:
    chance = np.random.default_rng(1)
    for form, step in STEPS:
        shares = [
            f"{views:,} views {share_found(form, step, views, 1000, chance):.1%}"
            for views in (1_000, 5_000, 20_000)
        ]
        left = seen_and_left(form, step)[1]
        print(f"{form.name}, {step}, {left:.1%} leave; found at", *shares, sep="  ")


if __name__ == "__main__":
    main()
