from typing import Any

import pandas as pd
from hypothesis import given

from jobs.facts.facts import Facts
from tests.support.any_facts import some_facts
from tests.support.depth import examples
from tests.support.rollup_frames import Row, at, facts, rolled
from warehouse.domain.time import NEVER

FIRST, SECOND = -5, 9


def steps(*rows: Row, **session: int) -> list[dict[str, Any]]:
    return rolled("step", facts(sessions=[{"form": 7, **session}], steps=rows))


def test_a_session_drops_off_at_the_step_it_viewed_last() -> None:
    result = steps(
        {"step": FIRST, "viewed_at": at(10), "completed_at": at(10, 9)},
        {"step": SECOND, "viewed_at": at(11), "step_index": 1},
    )
    assert result == [
        {"edition": 1, "day": 10, "form": 7, "step": FIRST, "views": 1, "completions": 1},
        {"edition": 1, "day": 11, "form": 7, "step": SECOND, "views": 1, "dropoffs": 1},
    ]


def test_viewed_last_goes_by_time_before_index() -> None:
    result = steps(
        {"step": FIRST, "viewed_at": at(10, 2), "step_index": 0},
        {"step": SECOND, "viewed_at": at(10, 1), "step_index": 1},
    )
    assert [row["step"] for row in result if "dropoffs" in row] == [FIRST]


def test_of_steps_viewed_at_once_the_greater_index_is_last() -> None:
    result = steps(
        {"step": FIRST, "viewed_at": at(10), "step_index": 2},
        {"step": SECOND, "viewed_at": at(10), "step_index": 1},
    )
    assert [row["step"] for row in result if "dropoffs" in row] == [FIRST]


def test_of_equal_indices_the_greater_id_is_last() -> None:
    result = steps({"step": FIRST, "viewed_at": at(10)}, {"step": SECOND, "viewed_at": at(10)})
    assert [row["step"] for row in result if "dropoffs" in row] == [SECOND]


def test_no_dropoff_at_a_completed_last_step() -> None:
    result = steps(
        {"step": FIRST, "viewed_at": at(10)},
        {"step": SECOND, "viewed_at": at(11), "completed_at": at(11)},
    )
    assert not [row for row in result if "dropoffs" in row]


def test_no_dropoff_from_a_completed_form() -> None:
    result = steps({"step": FIRST, "viewed_at": at(10)}, completed_at=at(12))
    assert result == [{"edition": 1, "day": 10, "form": 7, "step": FIRST, "views": 1}]


def test_a_subscription_alone_does_not_complete_the_form() -> None:
    result = steps({"step": FIRST, "viewed_at": at(10)}, subscribed_at=at(12))
    assert [row["dropoffs"] for row in result] == [1]


def test_a_step_that_was_never_viewed_counts_nowhere() -> None:
    result = steps(
        {"step": FIRST, "viewed_at": at(10)},
        {"step": SECOND, "completed_at": at(11), "step_index": 1},
    )
    assert result == [
        {"edition": 1, "day": 10, "form": 7, "step": FIRST, "views": 1, "dropoffs": 1}
    ]


@examples(30)
@given(some_facts())
def test_every_session_that_left_drops_off_once(some: Facts) -> None:
    expected = 0
    for session in pd.DataFrame(some.sessions).itertuples():
        seen = [
            (row.viewed_at, row.step_index, row.step, row.completed_at)
            for row in some.steps.itertuples()
            if row.session == session.session and row.viewed_at != NEVER
        ]
        left = session.completed_at == NEVER
        expected += bool(seen and left and max(seen)[-1] == NEVER)
    assert sum(row.get("dropoffs", 0) for row in rolled("step", some)) == expected
