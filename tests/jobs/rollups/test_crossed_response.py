from tests.support.rollup_frames import answers, at, facts, rolled

ATTRIBUTES = {"device": 2, "is_first_session": 1, "utm": -3, "variant": 9}
COLOUR, SIZE = -4, 6
RED, BLUE = 31, -32
KEY = {"edition": 1, "day": 10, "form": 7, **ATTRIBUTES}
SESSION = {"form": 7, "subscribed_at": at(10), **ATTRIBUTES}


def test_one_of_the_values_of_an_answer_stands_for_the_answer() -> None:
    chosen = answers(1, {COLOUR: [RED, BLUE]}, listed=1)
    key = {**KEY, "field": COLOUR, "submissions": 1}
    assert rolled("crossed_response", facts(sessions=[SESSION], answers=chosen)) == [
        {**key, "value": BLUE, "is_one": 1, "lists": 1},
        {**key, "value": RED},
    ]


def test_an_answer_without_a_value_stands_for_itself() -> None:
    chosen = answers(1, {SIZE: []})
    assert rolled("crossed_response", facts(sessions=[SESSION], answers=chosen)) == [
        {**KEY, "field": SIZE, "is_one": 1, "submissions": 1}
    ]
