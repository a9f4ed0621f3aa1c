"""Any facts: of two shops, with so few forms, visitors and customers that they meet."""

from collections.abc import Callable
from typing import Any

from hypothesis import strategies as st

from jobs.facts.facts import Facts
from tests.support.rollup_frames import at, facts
from warehouse.domain.time import NEVER

# Instants of five days, some of them equal.
_INSTANTS = st.builds(at, st.integers(20_000, 20_004), st.sampled_from([0, 1, 2, 86_399]))
_MAYBE = st.one_of(st.just(NEVER), _INSTANTS)
_IDS = st.sampled_from([-(2**63), 5, 2**62])
_MONEY = st.integers(-50, 2**53 + 1)
_EVENTS = st.fixed_dictionaries(
    {"edition": st.integers(1, 2), "form": _IDS, "day": st.integers(20_000, 20_001)}
)


def _customer(edition: int) -> st.SearchStrategy[int]:
    """A customer of one shop, seldom nobody: nothing comes of those in most rollups that ask."""
    return st.sampled_from([edition * 10, edition * 10, edition * 10 + 1, 0])


@st.composite
def some_facts(draw: st.DrawFn) -> Facts:
    """Facts that respect what `Facts` promises: unique ids, children of known parents."""
    sessions = [_session(draw, number) for number in range(1, draw(st.integers(0, 10)) + 1)]
    orders = [_order(draw, number, sessions) for number in range(1, draw(st.integers(0, 8)) + 1)]
    for row in sessions:
        row["orders"] = sum(order["session"] == row["session"] for order in orders)
    return facts(
        sessions=sessions,
        steps=_children(
            draw,
            sessions,
            lambda step: {
                "step": step,
                "viewed_at": draw(_MAYBE),
                "completed_at": draw(_MAYBE),
                "step_index": draw(st.integers(0, 2)),
            },
        ),
        answers=[
            {
                "edition": row["edition"],
                "session": row["session"],
                "field": field,
                "value": value,
                "listed": listed,
            }
            for row in sessions
            for field in draw(st.sets(_IDS, min_size=1, max_size=3))
            for listed in [draw(st.integers(0, 1))]
            for value in {0, *draw(st.sets(_IDS, max_size=2))}
        ],
        issues=_children(draw, sessions, lambda discount: {"discount": discount}) * 2,
        orders=orders,
        order_codes=_children(
            draw,
            orders,
            lambda discount: {
                "discount": discount,
                "discounted": draw(_MONEY),
            },
            "order",
        )
        * 2,
        events=draw(st.lists(_EVENTS, max_size=6)),
        quarters=[
            {"edition": row["edition"], "session": row["session"], "day": day}
            for row in sessions
            for day in draw(st.lists(st.integers(20_000, 20_001), max_size=3))
        ],
    )


def _session(draw: st.DrawFn, number: int) -> dict[str, int]:
    edition = draw(st.integers(1, 2))
    return {
        "edition": edition,
        "session": number,
        "form": draw(_IDS),
        "device": draw(st.integers(1, 2)),
        # Visitors and customers belong to one shop.
        "visitor": edition * 10 + draw(st.integers(0, 1)),
        "customer": draw(_customer(edition)),
        "utm": draw(st.sampled_from([0, -3])),
        "variant": draw(st.sampled_from([0, 2**61])),
        "is_first_session": draw(st.integers(0, 1)),
        "first_at": draw(_INSTANTS),
        "viewed_at": draw(_MAYBE),
        "started_at": draw(_MAYBE),
        "subscribed_at": draw(_MAYBE),
        "completed_at": draw(_MAYBE),
        "gross": draw(_MONEY),
        "refunded": draw(_MONEY),
    }


def _order(draw: st.DrawFn, number: int, sessions: list[dict[str, int]]) -> dict[str, int]:
    """An order, perhaps credited to a submission, which has the order's shop."""
    edition = draw(st.integers(1, 2))
    # Some at the very edges of the horizons.
    later = draw(st.sampled_from([0, 30, 60, 365])) * at(1)
    submitted = [
        row["session"]
        for row in sessions
        if row["edition"] == edition and min(row["subscribed_at"], row["completed_at"]) != NEVER
    ]
    return {
        "session": draw(st.sampled_from([0, *submitted])),
        "edition": edition,
        "order": number,
        "created_at": draw(_INSTANTS) + later,
        "gross": draw(_MONEY),
        "refunded": draw(_MONEY),
        "type": draw(st.integers(0, 3)),
        "form": draw(_IDS),
        "utm": draw(st.sampled_from([0, -3])),
        "customer": draw(_customer(edition)),
    }


def _children(
    draw: st.DrawFn,
    parents: list[dict[str, int]],
    make: Callable[[int], dict[str, Any]],
    key: str = "session",
) -> list[dict[str, int]]:
    return [
        {"edition": row["edition"], key: row[key], **make(number)}
        for row in parents
        for number in draw(st.lists(_IDS, max_size=3, unique=True))
    ]
