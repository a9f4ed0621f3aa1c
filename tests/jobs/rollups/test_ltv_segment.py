from typing import Any

import pandas as pd
from hypothesis import given

from jobs.facts.facts import Facts
from tests.support.any_facts import some_facts
from tests.support.depth import examples
from tests.support.rollup_frames import answers, at, facts, rolled
from warehouse.domain.time import MICROS_PER_DAY, NO_DAY
from warehouse.domain.vocabulary import LTV_HORIZONS

COLOUR, SIZE = -4, 6
RED, BLUE, SMALL = 31, -32, 33


def test_a_customer_belongs_to_a_value_from_the_first_submission_with_it_of_any_form() -> None:
    sessions = [
        {"session": 1, "form": 7, "customer": 3, "subscribed_at": at(12)},
        {"session": 2, "form": 8, "customer": 3, "subscribed_at": at(10)},
        {"session": 3, "form": 9, "customer": 3, "subscribed_at": at(13)},
    ]
    chosen = [
        *answers(1, {COLOUR: [RED, BLUE], SIZE: []}),
        *answers(2, {COLOUR: [RED]}),
        *answers(3, {COLOUR: [RED]}),
    ]
    orders = [{"customer": 3, "created_at": at(11), "gross": 100, "refunded": 40}]
    net = dict.fromkeys(("net_30", "net_60", "net_90", "net_180", "net_365"), 60)
    assert rolled("ltv_segment", facts(sessions, answers=chosen, orders=orders)) == [
        {
            "edition": 1,
            "day": 10,
            "field": COLOUR,
            "value": RED,
            "customers": 1,
            "purchasers": 1,
            "orders": 1,
            "gross": 100,
            "refunded": 40,
            **net,
        },
        {"edition": 1, "day": 12, "field": COLOUR, "value": BLUE, "customers": 1},
    ]


def test_customers_with_the_same_answer_add_up() -> None:
    sessions = [
        {"session": number, "customer": number, "subscribed_at": at(10)} for number in (1, 2)
    ]
    chosen = answers(1, {SIZE: [SMALL]}) + answers(2, {SIZE: [SMALL]})
    assert rolled("ltv_segment", facts(sessions, answers=chosen)) == [
        {"edition": 1, "day": 10, "field": SIZE, "value": SMALL, "customers": 2},
    ]


def test_nobody_has_no_segment() -> None:
    sessions = [{"subscribed_at": at(10)}]
    assert rolled("ltv_segment", facts(sessions, answers=answers(1, {SIZE: [SMALL]}))) == []


@examples(30)
@given(some_facts())
def test_the_same_as_asking_customer_by_customer(some: Facts) -> None:
    sessions, orders = pd.DataFrame(some.sessions), pd.DataFrame(some.orders)
    submitted = sessions[sessions["submit_day"] != NO_DAY].drop(columns="edition")
    chosen = some.answers[some.answers["value"] != 0].merge(submitted, on="session")
    chosen = chosen[chosen["customer"] != 0]
    expected: dict[tuple[int, ...], dict[str, Any]] = {}
    for (customer, field, value), rows in chosen.groupby(["customer", "field", "value"]):
        first = rows.sort_values("submitted_at").iloc[0]
        own = orders[
            (orders["customer"] == customer) & (orders["created_at"] >= first["submitted_at"])
        ]
        net, after = own["gross"] - own["refunded"], own["created_at"] - first["submitted_at"]
        figures = {
            "customers": 1,
            "purchasers": int(len(own) >= 1),
            "repeaters": int(len(own) >= 2),
            "orders": len(own),
            "gross": own["gross"].sum(),
            "refunded": own["refunded"].sum(),
            **{f"net_{days}": net[after < days * MICROS_PER_DAY].sum() for days in LTV_HORIZONS},
        }
        segment = expected.setdefault((first["edition"], first["submit_day"], field, value), {})
        for name, figure in figures.items():
            segment[name] = segment.get(name, 0) + figure
    result = rolled("ltv_segment", some)
    found = {
        tuple(row.pop(dim) for dim in ("edition", "day", "field", "value")): row for row in result
    }
    assert found == {
        key: {name: figure for name, figure in row.items() if figure}
        for key, row in expected.items()
    }
