from tests.support.rollup_frames import answers, at, facts, rolled

ATTRIBUTES = {"device": 2, "is_first_session": 1, "utm": -3, "variant": 9}
COLOUR, SIZE = -4, 6
RED, BLUE = 31, -32


def test_an_order_counts_where_its_submission_does() -> None:
    session = {"form": 7, "subscribed_at": at(10), "orders": 1, **ATTRIBUTES}
    order = {"session": 1, "created_at": at(12), "gross": 100}
    chosen = answers(1, {COLOUR: [RED, BLUE], SIZE: []})
    key = {"edition": 1, "day": 10, "form": 7, **ATTRIBUTES, "delay": 2}
    bought = {"converted": 1, "orders": 1, "gross": 100}
    found = rolled("crossed_response_outcome", facts([session], answers=chosen, orders=[order]))
    assert found == [
        {**key, "field": COLOUR, "value": BLUE, "is_one": 1, **bought},
        {**key, "field": COLOUR, "value": RED, **bought},
        {**key, "field": SIZE, "is_one": 1, **bought},
    ]
