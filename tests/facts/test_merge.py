"""Portions of events fold into one fact, whatever the portions and their order (design, idea 1)."""

from collections.abc import Callable
from typing import Any

import pandas as pd
from hypothesis import given, settings
from hypothesis import strategies as st

from jobs.facts.fold import fold, latest_emails, latest_step_names, least_steps
from jobs.facts.merge import merge_answers, merge_sessions
from tests.facts.building import Row, events
from warehouse.days import NEVER
from warehouse.vocabulary import ANSWER, COMPLETE, STEP_COMPLETE, STEP_VIEW, VIEW

some_examples = settings(max_examples=15, deadline=None)

few = st.integers(0, 2)
texts = st.sampled_from(["", "a", "b"])


@st.composite
def portions(draw: st.DrawFn) -> list[list[Row]]:
    """Three portions of the events of a session, of which many happen at once."""
    found: list[list[Row]] = [[], [], []]
    for number in range(draw(st.integers(3, 9))):
        row: dict[str, Any] = {
            "event_id": f"e{draw(st.integers(0, 9))}{number}",
            "at": draw(few),
            "type": draw(st.integers(VIEW, COMPLETE)),
            "visitor": draw(st.integers(1, 2)),
            **{name: draw(few) for name in ("device", "utm", "email", "code", "step_index")},
            **{name: draw(texts) for name in ("customer_id", "discount_id")},
        }
        row["customer"] = len(row["customer_id"]) and ord(row["customer_id"])
        if row["type"] in (STEP_VIEW, STEP_COMPLETE):
            row |= {"step": draw(st.integers(1, 2)), "step_name": draw(texts)}
            row["step_id"] = f"step {row['step']}"
        if row["type"] == ANSWER:
            row |= {"field": draw(st.integers(1, 2)), "value": draw(texts)}
        found[number if number < 3 else draw(few)].append(row)
    return found


def records(rows: pd.DataFrame) -> list[dict[str, Any]]:
    """The rows, in an order of their own."""
    return sorted(rows.to_dict("records"), key=repr)


@some_examples
@given(portions())
def test_sessions(three: list[list[Row]]) -> None:
    a, b, c = (fold(events(portion)).sessions for portion in three)
    everything = records(fold(events([row for portion in three for row in portion])).sessions)
    ab = merge_sessions(a, b)
    assert records(ab) == records(merge_sessions(b, a))
    assert records(merge_sessions(ab, c)) == everything
    assert records(merge_sessions(a, merge_sessions(b, c))) == everything
    assert records(merge_sessions(a, a)) == records(a)


def test_what_a_session_takes_from_which_event() -> None:
    both = [
        {"event_id": "e2", "at": 5, "visitor": 7, "device": 1, "customer": 3, "customer_id": "c"},
        {"event_id": "e1", "at": 5, "visitor": 8, "device": 2, "email": 4},
        {"event_id": "e0", "at": 6, "visitor": 9, "device": 3, "utm": 6, "email": 5},
    ]
    for first, second in ((both[:1], both[1:]), (both[1:], both[:1])):
        (merged,) = records(
            merge_sessions(fold(events(first)).sessions, fold(events(second)).sessions)
        )
        assert (merged["visitor"], merged["device"], merged["utm"]) == (8, 2, 6)
        assert (merged["customer_own"], merged["email"]) == (3, 5)
        assert (merged["viewed_at"], merged["completed_at"]) == (5, NEVER)


Merge = Callable[[pd.DataFrame], pd.DataFrame]


def _laws(merge: Merge, parts: list[pd.DataFrame], whole: pd.DataFrame) -> None:
    expected = records(merge(whole))
    assert records(merge(pd.concat(parts))) == expected
    assert records(merge(pd.concat(parts[::-1]))) == expected
    merged = merge(pd.concat(parts[1:]))
    assert records(merge(pd.concat([parts[0], merged]))) == expected
    assert records(merge(pd.concat([merged, merged]))) == records(merged)


@some_examples
@given(portions())
def test_what_hangs_on_sessions(three: list[list[Row]]) -> None:
    parts = [fold(events(portion)) for portion in three]
    whole = fold(events([row for portion in three for row in portion]))

    def by_session(rows: pd.DataFrame) -> pd.DataFrame:
        return rows.rename(columns={"natural": "session"})

    _laws(merge_answers, [by_session(part.answers) for part in parts], by_session(whole.answers))
    _laws(latest_emails, [part.emails for part in parts], whole.emails)
    _laws(latest_step_names, [part.step_names for part in parts], whole.step_names)

    def steps(rows: pd.DataFrame) -> pd.DataFrame:
        return least_steps(rows, ["natural", "step"])

    _laws(steps, [part.steps for part in parts], whole.steps)

    def issues(rows: pd.DataFrame) -> pd.DataFrame:
        return rows.drop_duplicates()

    _laws(issues, [part.issues for part in parts], whole.issues)
