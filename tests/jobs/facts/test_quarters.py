"""The quarters of an hour in which a session had an event, whatever portions its events come in."""

import numpy as np
import pandas as pd
from hypothesis import given
from hypothesis import strategies as st

from jobs.facts import quarters
from jobs.facts.quarters import QUARTER

# About the edges of a few quarters of 2026.
_INSTANTS = st.builds(
    lambda number, edge: (1_962_000 + number) * QUARTER + edge,
    st.integers(0, 4),
    st.sampled_from([0, 1, QUARTER - 1]),
)
_EVENTS = st.lists(st.tuples(st.integers(0, 2), _INSTANTS), min_size=1, max_size=12)


def rows_of(events: list[tuple[int, int]]) -> pd.DataFrame:
    """first_at and quarters of each session, by its number."""
    session, at = (np.array(column, np.int64) for column in zip(*sorted(events), strict=True))
    numbers, place = np.unique(session, return_inverse=True)
    first_at = np.array([at[session == number].min() for number in numbers])
    texts = quarters.others(place, at, len(numbers))
    return pd.DataFrame(
        {"edition": 1, "session": numbers, "first_at": first_at, "quarters": texts.to_numpy()}
    )


def days_of(events: list[tuple[int, int]]) -> set[tuple[int, int]]:
    return {(session, at // QUARTER) for session, at in events}


@given(events=_EVENTS)
def test_they_are_those_of_the_events(events: list[tuple[int, int]]) -> None:
    found = quarters.instants(rows_of(events))
    pairs = list(zip(found["session"].tolist(), (found["at"] // QUARTER).tolist(), strict=True))
    assert sorted(pairs) == sorted(days_of(events))


@given(ours=_EVENTS, theirs=_EVENTS)
def test_those_of_two_portions_are_those_of_both(
    ours: list[tuple[int, int]], theirs: list[tuple[int, int]]
) -> None:
    sessions = {session for session, _ in ours} & {session for session, _ in theirs}
    parts = [[one for one in part if one[0] in sessions] for part in (ours, theirs)]
    if sessions:
        mine, other = map(rows_of, parts)
        whole = rows_of([*parts[0], *parts[1]])
        merged = quarters.merged(whole["first_at"].to_numpy(), mine, other)
        assert merged.tolist() == whole["quarters"].tolist()


def test_those_of_a_cell_from_before_they_were_kept_follow_from_its_instants() -> None:
    events = [(0, 1_962_000 * QUARTER + 7), (0, 1_962_003 * QUARTER), (2, 1_962_001 * QUARTER)]
    begun = [(session, at // QUARTER * QUARTER) for session, at in events]
    instants = pd.DataFrame(begun, columns=["group", "at"])
    texts = quarters.of_instants(instants, pd.Series([2, 0]))
    assert texts.tolist() == ["", "1962003"]
