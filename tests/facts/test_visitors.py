"""Which session is a visitor's first with a form (contract 4, endpoint 10)."""

from jobs.facts.visitors import mark_fresh
from jobs.facts.working import Working
from tests.facts.building import Row, sessions


def fresh(work: Working, *rows: Row) -> set[int]:
    work.put_sessions(sessions(*rows))
    mark_fresh(work, work.new_sessions.index.to_numpy())
    marked = work.new_sessions
    return set(marked.index[marked["fresh"] == 1].tolist())


def test_the_earliest_of_each_visitor_and_form(work: Working) -> None:
    assert fresh(
        work,
        {"session": 1, "first_at": 20, "fresh": 1},  # was the first until an earlier one came
        {"session": 2, "first_at": 10},
        {"session": 3, "first_at": 30, "form": 2},
        {"session": 4, "first_at": 30, "visitor": 2},
        {"session": 5, "first_at": 30, "edition": 2},
    ) == {2, 3, 4, 5}


def test_of_those_at_one_instant_the_smaller_form_session_id(work: Working) -> None:
    assert fresh(
        work,
        {"session": 1, "first_at": 10, "form_session_id": "s9"},
        {"session": 2, "first_at": 10, "form_session_id": "s10"},
        {"session": 3, "first_at": 11, "form_session_id": "a"},
    ) == {2}
