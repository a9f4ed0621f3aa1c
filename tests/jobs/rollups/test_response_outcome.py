from tests.support.rollup_frames import answers, at, facts, rolled

COLOUR, SIZE = -4, 6
RED, BLUE = 31, -32


def test_an_order_counts_under_each_answer_of_its_submission() -> None:
    sessions = [
        {"session": 1, "form": 7, "subscribed_at": at(10)},
        {"session": 2, "form": 7, "subscribed_at": at(10)},
    ]
    chosen = [*answers(1, {COLOUR: [RED, BLUE], SIZE: []}), *answers(2, {COLOUR: [RED]})]
    orders = [
        {"order": 1, "session": 1, "created_at": at(12), "gross": 90, "refunded": 9},
        {"order": 2, "session": 2, "created_at": at(12), "gross": 5},
        {"order": 3, "session": 2, "created_at": at(14), "gross": 1},
    ]
    key = {"edition": 1, "day": 10, "form": 7}
    one = {"delay": 2, "converted": 1, "orders": 1, "gross": 90, "refunded": 9}
    both = {"delay": 2, "converted": 2, "orders": 2, "gross": 95, "refunded": 9}
    later = {"delay": 4, "orders": 1, "gross": 1}
    found = rolled("response_outcome", facts(sessions=sessions, answers=chosen, orders=orders))
    assert found == [
        {**key, "field": COLOUR, "value": BLUE, **one},
        {**key, "field": COLOUR, **both},
        {**key, "field": COLOUR, **later},
        {**key, "field": COLOUR, "value": RED, **both},
        {**key, "field": COLOUR, "value": RED, **later},
        {**key, "field": SIZE, **one},
    ]


def test_answers_of_a_submission_without_an_order_have_no_outcome() -> None:
    session = {"subscribed_at": at(10)}
    assert (
        rolled("response_outcome", facts(sessions=[session], answers=answers(1, {SIZE: [RED]})))
        == []
    )
