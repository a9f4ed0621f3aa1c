"""The rates that got worse: how often one is told that did not, and one that did."""

from itertools import pairwise

import numpy as np
import pytest

from tests.web.dashboard.demo_weeks import STEPS, share_found, told, week
from web.dashboard.compare import Value
from web.dashboard.worth_a_look import FORM, STEP, Candidate, losses


def step(now: tuple[int, int] | None, before: tuple[int, int] | None) -> Candidate:
    return Candidate(STEP, "dropoffRate", Value((0, 0), now, before), "form", "step")


def form(now: tuple[int, int], before: tuple[int, int]) -> Candidate:
    return Candidate(FORM, "submissionRate", Value((0, 0), now, before), "form")


MANY, SOME = (200, 400), (100, 400)


def test_only_what_got_worse() -> None:
    more, fewer = step(MANY, SOME), form(SOME, MANY)
    others = [step(SOME, MANY), step(SOME, SOME), form(MANY, SOME), form(SOME, SOME)]
    assert losses([more, *others, fewer]) == [more, fewer]
    assert losses([]) == []


def test_few_say_nothing() -> None:
    everybody, nobody = (400, 400), (0, 400)
    for now, before in [((29, 29), nobody), (everybody, (0, 29)), (everybody, None), (None, None)]:
        assert losses([step(now, before)]) == []
    assert losses([step((30, 30), (0, 30))])


def test_the_surest_first_and_the_more_are_looked_at_the_surer() -> None:
    # One-sided p-values of about 0.01 and 0.0001.
    sure, surer, same = (step((left, 400), SOME) for left in (130, 150, 100))
    assert losses([sure, surer]) == [surer, sure]
    assert losses([sure, *[same] * 3]) == [sure]
    assert losses([sure, *[same] * 15]) == []
    assert losses([sure, surer, *[same] * 14]) == [surer]


def test_what_its_table_calls_within_chance_is_none() -> None:
    # 0.03, one-sided: both rates are believed, and the interval of 95 % of this one has 0.
    barely, sure = step((124, 400), SOME), step((150, 400), SOME)
    assert 0.025 < barely.p_value < 0.05
    assert losses([barely, sure]) == [sure]


@pytest.mark.parametrize("visits", [2_600, 260])
def test_a_shop_in_which_nothing_changes_is_left_alone_in_19_of_20_weeks(visits: int) -> None:
    """The demo's number of visits a week, and a tenth of it; 2,000 weeks, with three standard errors."""
    chance = np.random.default_rng(visits)
    weeks = [week(visits, chance) for _ in range(2_001)]
    spoke = sum(bool(told(now, before)) for before, now in pairwise(weeks))
    assert 0.01 < spoke / 2_000 < 0.065


def test_a_step_that_loses_a_fifth_more_is_found() -> None:
    """At 5,000 views a week in at least 80 % of the weeks, over the demo's steps together. The more leave
    anyway, the sooner it shows: a step that a tenth leaves is found in about 70 %."""
    chance = np.random.default_rng(1)
    shares = [share_found(form, step, 5_000, 60, chance) for form, step in STEPS]
    assert np.mean(shares) > 0.8
    assert min(shares) > 0.55
    assert all(share_found(form, step, 20_000, 15, chance) == 1 for form, step in STEPS)
