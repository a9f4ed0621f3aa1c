"""Events fold into the same facts, however they are split into portions, and in whatever order."""

from collections.abc import Callable, Sequence
from typing import Any

import pandas as pd
from hypothesis import given
from hypothesis import strategies as st

from jobs.facts.partials import (
    Partials,
    fold,
    merge_answers,
    merge_emails,
    merge_sessions,
    merge_step_names,
    merge_steps,
)
from tests.support.depth import examples
from tests.support.fact_frames import Row, raw_events, raw_orders
from warehouse.domain.time import NEVER
from warehouse.domain.vocabulary import ANSWER, COMPLETE, STEP_COMPLETE, STEP_VIEW, VIEW

some_examples = examples(15)

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


def folded(rows: Sequence[Row]) -> Partials:
    return fold(raw_events(rows), raw_orders())


def records(rows: pd.DataFrame) -> list[dict[str, Any]]:
    """The rows, in an order of their own."""
    return sorted(rows.to_dict("records"), key=repr)


@some_examples
@given(portions())
def test_sessions(three: list[list[Row]]) -> None:
    a, b, c = (folded(portion).sessions for portion in three)
    everything = records(folded([row for portion in three for row in portion]).sessions)
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
        (merged,) = records(merge_sessions(folded(first).sessions, folded(second).sessions))
        assert (merged["visitor"], merged["device"], merged["utm"]) == (8, 2, 6)
        assert (merged["customer_seen"], merged["email"]) == (3, 5)
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
    parts = [folded(portion) for portion in three]
    whole = folded([row for portion in three for row in portion])

    def answers(rows: pd.DataFrame) -> pd.DataFrame:
        return merge_answers(rows, ["session_hash", "field"])

    _laws(answers, [part.answers for part in parts], whole.answers)
    _laws(merge_emails, [part.emails for part in parts], whole.emails)
    _laws(merge_step_names, [part.step_names for part in parts], whole.step_names)

    def steps(rows: pd.DataFrame) -> pd.DataFrame:
        return merge_steps(rows, ["session_hash", "step"])

    _laws(steps, [part.steps for part in parts], whole.steps)

    def issues(rows: pd.DataFrame) -> pd.DataFrame:
        return rows.drop_duplicates()

    _laws(issues, [part.issues for part in parts], whole.issues)
