from collections.abc import Iterator
from itertools import combinations_with_replacement, product

import pandas as pd
from hypothesis import given

from jobs.facts.facts import Facts
from jobs.rollups import ROLLUPS
from tests.support.any_facts import some_facts
from tests.support.depth import examples
from tests.support.rollup_frames import at, facts, rolled
from warehouse.domain.vocabulary import VISITOR_LEVELS, VISITOR_TYPES, visitor_kind


def kind(visitor_type: str, level: str) -> int:
    return visitor_kind(VISITOR_TYPES.index(visitor_type), VISITOR_LEVELS.index(level))


def links(of: Facts, visitor_type: str, level: str) -> list[tuple[int, int, int]]:
    """(day, previous, visitors) of one kind."""
    wanted = kind(visitor_type, level)
    return [
        (row["day"], row["previous"], row["visitors"])
        for row in rolled("visitor", of)
        if row.get("kind", 0) == wanted
    ]


def test_each_active_day_is_linked_with_the_one_before() -> None:
    sessions = [
        {"session": 1, "viewed_at": at(10)},
        {"session": 2, "viewed_at": at(10, 5), "is_first_session": 0},
        {"session": 3, "viewed_at": at(14), "is_first_session": 0},
        {"session": 4, "viewed_at": at(12), "is_first_session": 0},
    ]
    of = facts(sessions=sessions)
    assert links(of, "all", "visitors") == [(10, -1, 1), (12, 10, 1), (14, 12, 1)]
    assert links(of, "new", "visitors") == [(10, -1, 1)]
    assert links(of, "returning", "visitors") == [(10, -1, 1), (12, 10, 1), (14, 12, 1)]


def test_visitors_with_equal_links_are_counted_together() -> None:
    sessions = [
        {"session": number, "visitor": number, "viewed_at": at(10), "form": 7}
        for number in (1, 2, 3)
    ]
    assert rolled("visitor", facts(sessions=sessions)) == [
        {"edition": 1, "day": 10, "form": 7, "previous": -1, "visitors": 3},
        {
            "edition": 1,
            "day": 10,
            "form": 7,
            "kind": kind("new", "visitors"),
            "previous": -1,
            "visitors": 3,
        },
    ]


def test_submitters_and_purchasers_go_by_the_submissions_day() -> None:
    sessions = [
        {"session": 1, "viewed_at": at(10), "subscribed_at": at(11)},
        {"session": 2, "subscribed_at": at(13), "is_first_session": 0},
        {"session": 3, "viewed_at": at(14), "is_first_session": 0},
    ]
    of = facts(sessions=sessions, orders=[{"order": 1, "session": 2, "created_at": at(13)}])
    assert links(of, "all", "visitors") == [(10, -1, 1), (14, 10, 1)]
    assert links(of, "all", "submitters") == [(11, -1, 1), (13, 11, 1)]
    assert links(of, "all", "purchasers") == [(13, -1, 1)]
    assert links(of, "new", "purchasers") == []
    assert links(of, "returning", "purchasers") == [(13, -1, 1)]


def test_a_day_that_converts_later_comes_between_those_that_converted_before() -> None:
    sessions = [{"session": day, "subscribed_at": at(day)} for day in (10, 11, 12)]
    bought = [(10, 10, 0), (11, 14, 0), (11, 15, 0), (12, 13, 3)]
    orders = [
        {"order": number, "session": session, "created_at": at(day, seconds)}
        for number, (session, day, seconds) in enumerate(bought)
    ]
    rows = rolled("visitor", facts(sessions=sessions, orders=orders))
    wanted = kind("all", "purchasers")
    found = [
        (row.get("delay", 0), row["day"], row["previous"], row["visitors"])
        for row in rows
        if row["kind"] == wanted and "visitors" in row
    ]
    assert sorted(found) == [
        (0, 10, -1, 1),
        (1, 12, 10, 1),
        (3, 11, 10, 1),
        (3, 12, 10, -1),
        (3, 12, 11, 1),
    ]


def test_forms_and_shops_are_apart() -> None:
    sessions = [
        {"session": 1, "form": 7, "viewed_at": at(10)},
        {"session": 2, "form": 8, "viewed_at": at(11)},
        {"session": 3, "form": 7, "viewed_at": at(12), "edition": 2, "visitor": 2},
    ]
    of = facts(sessions=sessions)
    assert links(of, "all", "visitors") == [(10, -1, 1), (11, -1, 1), (12, -1, 1)]


def test_no_visitor_is_nobody() -> None:
    assert rolled("visitor", facts(sessions=[{"visitor": 0, "viewed_at": at(10)}])) == []


@examples(30)
@given(some_facts())
def test_links_give_the_distinct_visitors_of_every_range(some: Facts) -> None:
    result = [*pd.DataFrame(ROLLUPS["visitor"](some)).itertuples()]
    for visitor_type, level, within in product(VISITOR_TYPES, VISITOR_LEVELS, (1, 2, 31, 400)):
        ours = [
            row for row in result if row.kind == kind(visitor_type, level) and row.delay < within
        ]
        active = [*_active(some, visitor_type, level, within)]
        for first, last in combinations_with_replacement(range(19_999, 20_006), 2):
            distinct = {visitor for day, visitor in active if first <= day <= last}
            counted = [
                row.visitors for row in ours if first <= row.day <= last and row.previous < first
            ]
            assert sum(counted) == len(distinct)


def _active(
    some: Facts, visitor_type: str, level: str, within: int
) -> Iterator[tuple[int, tuple[int, ...]]]:
    orders = pd.DataFrame(some.orders)
    for row in pd.DataFrame(some.sessions).itertuples():
        day = row.view_day if level == "visitors" else row.submit_day
        of_type = visitor_type == "all" or (visitor_type == "new") == (row.is_first_session == 1)
        bought_at = orders["created_at"][orders["session"] == row.session]
        has_bought = (bought_at < row.submitted_at + at(within)).any()
        if of_type and (level != "purchasers" or has_bought):
            yield day, (row.edition, row.form, row.visitor)
