"""The effects of a submission that comes, or changes, after the orders about it were credited: of a
code that strangers share, each order goes to the submission last before it."""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.support.fixtures import Loaded
from tests.support.stage import Stage, pick

DAY = "2026-01-0{}T00:00:00Z"
TEN: dict[str, Any] = {"discount_codes": [{"code": "TEN"}]}


def submit(stage: Stage, at: str, session: str, **fields: Any) -> None:
    """A stranger's submission that was issued the shared code."""
    issued = {"visitor_id": session, "discount_code": "TEN", "utm_source": session}
    stage.event("subscribe", at, session, **issued | fields)


def credited(stage: Stage) -> dict[str, int]:
    """Orders by the source of the submission that they are credited to."""
    rows = stage.ask("/v1/revenue/by-utm", dimension="attribution")["rows"]
    return dict(pick(rows, "utmSource", "orders"))


def first_and_last(url: str) -> None:
    """Submissions on the 1st and the 5th, and an order at every edge about what comes between."""
    stage = Stage(url)
    stage.shop()
    submit(stage, DAY.format(1), "first")
    submit(stage, DAY.format(5), "last")
    for at in ("2T23:59:59.999999", "3T00:00:00", "4T23:59:59.999999", "5T00:00:00"):
        stage.order(at, f"2026-01-0{at}Z", **TEN)
    assert credited(stage) == {"first": 3, "last": 1}
    stage.close()


@pytest.fixture
def shared(loaded: Loaded) -> Iterator[Stage]:
    stage = Stage(loaded(first_and_last), events=2)
    yield stage
    stage.close()


def test_one_that_falls_between(shared: Stage) -> None:
    submit(shared, DAY.format(3), "between")
    assert credited(shared) == {"first": 1, "between": 2, "last": 1}


def test_two_at_once_that_fall_between(shared: Stage) -> None:
    submit(shared, "2026-01-02T12:00:00Z", "b")
    submit(shared, DAY.format(3), "c")
    assert credited(shared) == {"b": 1, "c": 2, "last": 1}


def test_one_that_ties(shared: Stage) -> None:
    submit(shared, DAY.format(1), "a")
    assert credited(shared) == {"first": 3, "last": 1}
    submit(shared, DAY.format(1), "zz")
    assert credited(shared) == {"zz": 3, "last": 1}


def test_one_that_is_issued_the_code_later(shared: Stage) -> None:
    submit(shared, DAY.format(3), "between", discount_code="OTHER")
    assert credited(shared) == {"first": 3, "last": 1}
    shared.event("view", DAY.format(9), "between", discount_code="ten")
    assert credited(shared) == {"first": 1, "between": 2, "last": 1}


def test_one_that_turns_out_to_be_earlier(shared: Stage) -> None:
    submit(shared, DAY.format(3), "between")
    assert credited(shared) == {"first": 1, "between": 2, "last": 1}
    submit(shared, "2025-12-31T00:00:00Z", "last")
    assert credited(shared) == {"first": 1, "between": 3}
    submit(shared, "2025-12-31T00:00:00Z", "between")
    assert credited(shared) == {"first": 4}


def test_several_that_turn_out_to_be_earlier_at_once(shared: Stage) -> None:
    for session, day in (("b", 3), ("c", 4)):
        submit(shared, DAY.format(day), session)
    assert credited(shared) == {"first": 1, "b": 1, "c": 1, "last": 1}
    for session in ("b", "c", "last"):
        submit(shared, "2025-12-31T00:00:00Z", session)
    assert credited(shared) == {"first": 4}


def test_one_that_is_of_another_visitor_after_all(stage: Stage) -> None:
    submit(stage, DAY.format(2), "s")
    for order, visitor in (("1", "s"), ("2", "another"), ("3", "another")):
        stage.order(order, DAY.format(3), visitor_id=visitor)
    assert credited(stage) == {"s": 1, "": 2}
    stage.event("view", DAY.format(1), "s", visitor_id="another")
    assert credited(stage) == {"s": 2, "": 1}


def test_one_whose_customer_becomes_known(stage: Stage) -> None:
    submit(stage, DAY.format(2), "s", email="ann@mail.example")
    stage.order("o", DAY.format(3), customer_id="c")
    assert credited(stage) == {"": 1}
    stage.event("view", DAY.format(4), "t", email="ann@mail.example", customer_id="c")
    assert credited(stage) == {"s": 1}


@pytest.mark.parametrize("many", [0, 100])
def test_the_buyers_own_with_the_code_takes_the_place_of_one_that_turns_out_to_be_earlier(
    stage: Stage, monkeypatch: pytest.MonkeyPatch, many: int
) -> None:
    """Neither the buyer's last, which has no code, nor a stranger's; whichever of the two, the buyer's
    submissions or those with the code, are looked through."""
    monkeypatch.setattr("jobs.facts.credits._MANY", many)
    for session, day, code in (
        ("earliest", "2025-12-10", "TEN"),
        ("before", "2026-01-01", None),
        ("right", "2026-01-02", "TEN"),
        ("plain", "2026-01-03", None),
        ("again", "2026-01-05", "TEN"),
    ):
        submit(stage, f"{day}T00:00:00Z", session, visitor_id="v", discount_code=code)
    submit(stage, DAY.format(4), "stranger")
    stage.order("o", DAY.format(6), visitor_id="v", **TEN)
    assert credited(stage) == {"again": 1}
    submit(stage, "2025-12-31T00:00:00Z", "again", visitor_id="v")
    assert credited(stage) == {"right": 1}


def test_an_order_that_comes_after_them(shared: Stage) -> None:
    submit(shared, DAY.format(3), "a")
    submit(shared, DAY.format(3), "b", customer_id="c")
    submit(shared, "2025-12-31T00:00:00Z", "own", customer_id="c")
    assert credited(shared) == {"first": 1, "b": 2, "last": 1}
    shared.order("stranger's", DAY.format(4), **TEN)
    shared.order("c's", DAY.format(2), customer_id="c", **TEN)
    assert credited(shared) == {"first": 1, "b": 3, "last": 1, "own": 1}
