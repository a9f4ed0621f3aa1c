"""Which session is a visitor's first with a form (contract 4, endpoint 10)."""

from jobs.facts.changes import Versions
from jobs.facts.sessions import pairs_losing_first, pairs_of, with_first_sessions
from tests.support.fact_frames import Row, sessions


def first(*rows: Row) -> set[int]:
    stored = sessions(*rows)
    marked = with_first_sessions(stored, pairs_of(stored))
    return set(marked.index[marked["is_first_session"] == 1].tolist())


def test_the_earliest_of_each_visitor_and_form() -> None:
    assert first(
        # This one was the first until an earlier one came.
        {"session": 1, "first_at": 20, "is_first_session": 1},
        {"session": 2, "first_at": 10},
        {"session": 3, "first_at": 30, "form": 2},
        {"session": 4, "first_at": 30, "visitor": 2},
        {"session": 5, "first_at": 30, "edition": 2},
    ) == {2, 3, 4, 5}


def test_at_one_instant_the_smaller_form_session_id() -> None:
    assert first(
        {"session": 1, "first_at": 10, "form_session_id": "s9"},
        {"session": 2, "first_at": 10, "form_session_id": "s10"},
        {"session": 3, "first_at": 11, "form_session_id": "a"},
    ) == {2}


def test_pairs_that_are_not_asked_for_stay_as_they_are() -> None:
    stored = sessions({"session": 1, "first_at": 20}, {"session": 2, "first_at": 10, "visitor": 2})
    marked = with_first_sessions(stored, pairs_of(stored.iloc[:1]))
    assert marked["is_first_session"].tolist() == [1, 0]


def test_a_first_session_that_goes_begins_later_or_changes_its_visitor_leaves_its_pair() -> None:
    first = {"is_first_session": 1, "first_at": 10}
    old = sessions(
        *({"session": number, "visitor": number, **first} for number in range(1, 6)),
        {"session": 6, "visitor": 6, "first_at": 10},
    )
    new = sessions(
        # It begins earlier now, and stays.
        {"session": 1, "visitor": 1, "first_at": 9},
        {"session": 2, "visitor": 2, "first_at": 10},
        {"session": 3, "visitor": 3, "first_at": 11},
        {"session": 4, "visitor": 1, "first_at": 10},
    )
    assert sorted(pairs_losing_first(Versions(old, new))["visitor"].tolist()) == [3, 4, 5]
