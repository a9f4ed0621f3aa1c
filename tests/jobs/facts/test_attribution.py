"""`credit`, literals in and out: each way to a submission, each tie (contract 3)."""

from itertools import permutations
from typing import Any

import pandas as pd
import pytest

from jobs.facts.credits import Candidates, credit
from tests.support.fact_frames import Row, at, frame
from warehouse.domain.vocabulary import BY_CODE, BY_CUSTOMER, BY_VISITOR, UNATTRIBUTED

_SUBMISSION = {
    "edition": 1,
    "session": 0,
    "submitted_at": at(100),
    "customer": 0,
    "visitor": 0,
    "form": 1,
    "utm": 0,
    "form_session_id": "s",
}
_ORDER = {
    "edition": 1,
    "order": 1,
    "created_at": at(110),
    "customer": 0,
    "visitor": 0,
    "order_utm": 0,
}
TEN = 10
# The greater number has the smaller id.
FORM_IDS = pd.Series({1: "b", 2: "a"})


def credited(
    order: Row, *submissions: Row, codes: tuple[int, ...] = (), window: int = 30
) -> dict[str, Any]:
    """The credit of one order. A submission's `codes` are those that it was issued."""
    issued = [
        {"session": one["session"], "code": code}
        for one in submissions
        for code in one.get("codes", ())
    ]
    plain = [{name: one[name] for name in one if name != "codes"} for one in submissions]
    found = credit(
        frame([order], _ORDER),
        frame([{"order": 1, "code": code} for code in codes], {"order": 1, "code": 0}),
        Candidates(frame(plain, _SUBMISSION), frame(issued, {"session": 0, "code": 0}), FORM_IDS),
        window,
    )
    (only,) = found.to_dict("records")
    assert found.index.tolist() == [1]
    return only


def winner(order: Row, *submissions: Row, codes: tuple[int, ...] = ()) -> tuple[int, int]:
    only = credited(order, *submissions, codes=codes)
    return only["type"], only["session"]


EVERYBODY = {"customer": 5, "visitor": 6}


@pytest.mark.parametrize(
    ("present", "expected"),
    [
        ("code+customer code+visitor code customer visitor", (BY_CODE, 1)),
        ("code+visitor code customer visitor", (BY_CODE, 2)),
        ("code customer visitor", (BY_CODE, 3)),
        ("customer visitor", (BY_CUSTOMER, 4)),
        ("visitor", (BY_VISITOR, 5)),
        ("", (UNATTRIBUTED, 0)),
    ],
)
def test_precedence(present: str, expected: tuple[int, int]) -> None:
    # The weaker the claim, the later the submission.
    every: dict[str, Row] = {
        "code+customer": {"session": 1, "customer": 5, "codes": (TEN,)},
        "code+visitor": {"session": 2, "visitor": 6, "codes": (TEN,)},
        "code": {"session": 3, "customer": 8, "visitor": 9, "codes": (TEN,)},
        "customer": {"session": 4, "customer": 5},
        "visitor": {"session": 5, "visitor": 6},
    }
    found = [
        {**every[name], "submitted_at": at(100 + place)}
        for place, name in enumerate(every)
        if name in present.split()
    ]
    assert winner(EVERYBODY, *found, codes=(TEN,)) == expected


def test_nobody_is_not_the_same_as_nobody() -> None:
    stranger = {"session": 1, "codes": (20,)}
    assert winner({}, stranger, codes=(TEN,)) == (UNATTRIBUTED, 0)
    assert winner(EVERYBODY, stranger) == (UNATTRIBUTED, 0)


@pytest.mark.parametrize(
    ("submitted", "expected"), [(at(110), 1), (at(80), 1), (at(80) - 1, 0), (at(110) + 1, 0)]
)
def test_the_window_holds_both_its_ends(submitted: int, expected: int) -> None:
    for order, submission, codes in (
        ({"visitor": 6}, {"visitor": 6}, ()),
        ({"customer": 6}, {"customer": 6}, ()),
        ({}, {"codes": (TEN,)}, (TEN,)),
    ):
        only = credited(order, {"session": 1, "submitted_at": submitted, **submission}, codes=codes)
        assert only["session"] == expected


def test_another_window() -> None:
    submission = {"session": 1, "submitted_at": at(109), "visitor": 6}
    assert credited({"visitor": 6}, submission, window=1)["session"] == 1
    earlier = {**submission, "submitted_at": at(109) - 1}
    assert credited({"visitor": 6}, earlier, window=1)["session"] == 0


def test_the_latest_wins_and_of_those_the_greater_form_session_id() -> None:
    def of(name: str, session: int, day: int = 100) -> Row:
        return {
            "session": session,
            "form_session_id": name,
            "visitor": 6,
            "submitted_at": at(day),
            "codes": (TEN,),
        }

    several = (of("s10", 1), of("s9", 2), of("S99", 3), of("z", 4, day=99))
    assert winner({"visitor": 6}, *several) == (BY_VISITOR, 2)
    assert winner({}, *several, codes=(TEN,)) == (BY_CODE, 2)
    assert winner({"visitor": 6}, *several[::-1]) == (BY_VISITOR, 2)


def test_the_latest_over_all_codes_of_the_order() -> None:
    first = {"session": 1, "codes": (TEN,), "submitted_at": at(101)}
    second = {"session": 2, "codes": (20,), "submitted_at": at(102)}
    both = {"session": 3, "codes": (TEN, 20), "submitted_at": at(99)}
    assert winner({}, first, second, both, codes=(TEN, 20)) == (BY_CODE, 2)
    assert winner({}, first, second, both, codes=(TEN,)) == (BY_CODE, 1)
    # The order of the codes decides nothing.
    assert winner({}, first, second, both, codes=(20, TEN)) == (BY_CODE, 2)


def test_of_two_codes_at_one_instant_the_greater_form_session_id_wins_and_then_the_form() -> None:
    lower = {"session": 1, "form_session_id": "s10", "form": 2, "codes": (TEN,)}
    greater = {"session": 2, "form_session_id": "s9", "form": 1, "codes": (20,)}
    same = {"session": 3, "form_session_id": "s9", "form": 2, "codes": (30,)}
    for codes in permutations((TEN, 20)):
        assert winner({}, lower, greater, codes=codes) == (BY_CODE, 2)
    for codes in permutations((TEN, 20, 30)):
        assert winner({}, lower, greater, same, codes=codes) == (BY_CODE, 3)


def test_shops_are_apart() -> None:
    other = {"edition": 2, "session": 1, "visitor": 6, "customer": 5, "codes": (TEN,)}
    assert winner(EVERYBODY, other, codes=(TEN,)) == (UNATTRIBUTED, 0)


def test_the_utm_that_counts() -> None:
    order = {"visitor": 6, "order_utm": 7}
    submission = {"session": 1, "visitor": 6, "form": 3}
    assert credited(order, {**submission, "utm": 8}) == {
        "type": BY_VISITOR,
        "session": 1,
        "form": 3,
        "utm": 8,
    }
    assert credited(order, submission)["utm"] == 7
    assert credited(order)["utm"] == 7


def test_ids_keep_every_bit() -> None:
    large = 2**62 + 1
    only = credited({"visitor": 6}, {"session": large, "visitor": 6, "form": -large, "utm": large})
    assert (only["session"], only["form"], only["utm"]) == (large, -large, large)
