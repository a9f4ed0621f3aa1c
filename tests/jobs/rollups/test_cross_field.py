from collections import Counter
from itertools import product

import pandas as pd
from hypothesis import given

from jobs.facts.facts import Facts
from jobs.rollups.cross_field import in_chunks
from tests.support.any_facts import some_facts
from tests.support.depth import examples
from tests.support.rollup_frames import answers, at, facts, rolled
from warehouse.domain.time import NO_DAY

COLOUR, SIZE, TASTE = -4, 6, 2**62
RED, BLUE, SMALL, LARGE, SWEET = 31, -32, 33, 34, 35


def test_every_combination_of_two_fields_counts_the_smaller_field_first() -> None:
    session = {"form": 7, "subscribed_at": at(10), "orders": 2}
    chosen = answers(1, {SIZE: [SMALL, LARGE], COLOUR: [RED, BLUE]}, listed=1)
    key = {"edition": 1, "day": 10, "form": 7, "field_a": COLOUR, "field_b": SIZE}
    assert rolled("cross_field", facts(sessions=[session], answers=chosen)) == [
        {**key, "value_a": value_a, "value_b": value_b, "submissions": 1, "converted": 1}
        for value_a, value_b in [(BLUE, SMALL), (BLUE, LARGE), (RED, SMALL), (RED, LARGE)]
    ]


def test_three_fields_make_three_pairs() -> None:
    chosen = answers(1, {SIZE: [SMALL], COLOUR: [RED], TASTE: [SWEET]})
    result = rolled("cross_field", facts(sessions=[{"subscribed_at": at(10)}], answers=chosen))
    assert [(row["field_a"], row["field_b"]) for row in result] == [
        (COLOUR, SIZE),
        (COLOUR, TASTE),
        (SIZE, TASTE),
    ]


def test_submissions_with_equal_answers_are_counted_together() -> None:
    sessions = [
        {"session": 1, "form": 7, "subscribed_at": at(10), "orders": 1},
        {"session": 2, "form": 7, "subscribed_at": at(10)},
        {"session": 3, "form": 7, "subscribed_at": at(11)},
        {"session": 4, "form": 8, "subscribed_at": at(11)},
        {"session": 5, "form": 7, "viewed_at": at(10)},
    ]
    chosen = [
        row for number in range(1, 6) for row in answers(number, {COLOUR: [RED], SIZE: [SMALL]})
    ]
    pair = {"field_a": COLOUR, "field_b": SIZE, "value_a": RED, "value_b": SMALL}
    assert rolled("cross_field", facts(sessions=sessions, answers=chosen)) == [
        {"edition": 1, "day": 10, "form": 7, **pair, "submissions": 2, "converted": 1},
        {"edition": 1, "day": 11, "form": 7, **pair, "submissions": 1},
        {"edition": 1, "day": 11, "form": 8, **pair, "submissions": 1},
    ]


def test_a_single_field_and_one_without_a_value_make_no_pair() -> None:
    sessions = [{"session": 1, "subscribed_at": at(10)}, {"session": 2, "subscribed_at": at(10)}]
    chosen = answers(1, {COLOUR: [RED, BLUE], SIZE: []}) + answers(2, {SIZE: [SMALL]})
    assert rolled("cross_field", facts(sessions=sessions, answers=chosen)) == []


@examples(30)
@given(some_facts())
def test_the_same_as_counting_pair_by_pair(some: Facts) -> None:
    pairs: Counter[tuple[int, ...]] = Counter()
    sessions = pd.DataFrame(some.sessions)
    for session in sessions[sessions["submit_day"] != NO_DAY].itertuples():
        own = some.answers[some.answers["session"] == session.session]
        chosen = list(own[own["value"] != 0][["field", "value"]].itertuples(index=False))
        for a, b in product(chosen, chosen):
            if a.field < b.field:
                pairs[
                    (
                        session.edition,
                        session.submit_day,
                        session.form,
                        a.field,
                        b.field,
                        a.value,
                        b.value,
                    )
                ] += 1
    result = rolled("cross_field", some)
    dims = ("edition", "day", "form", "field_a", "field_b", "value_a", "value_b")
    assert {tuple(row[dim] for dim in dims): row["submissions"] for row in result} == pairs


def test_chunks_add_up_to_the_whole() -> None:
    sessions = [{"session": n, "form": 7, "subscribed_at": at(10)} for n in range(1, 7)]
    chosen = [
        row
        for number in range(1, 7)
        for row in answers(number, {COLOUR: [RED, number], SIZE: [SMALL, LARGE]})
    ]
    some = facts(sessions=sessions, answers=chosen)
    parts = [part for (part,) in in_chunks(some, pairs=8)]
    assert len(parts) == 6
    rows = [Counter({str(row): 1 for row in rolled("cross_field", part)}) for part in parts]
    assert sum(len(part.answers) for part in parts) == len(chosen)
    assert sum(found.total() for found in rows) == 6 * 4
