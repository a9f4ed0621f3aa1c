from tests.support.rollup_frames import at, facts, rolled

ATTRIBUTES = {"device": 2, "is_first_session": 1, "utm": -3, "variant": 9}


def test_outcomes_have_the_visitor_and_the_attributes_of_their_submission() -> None:
    session = {"form": 7, "visitor": 5, "subscribed_at": at(10), "orders": 2, **ATTRIBUTES}
    orders = [
        {"order": 1, "session": 1, "created_at": at(10, 5), "gross": 100, "utm": 77},
        {"order": 2, "session": 1, "created_at": at(13), "gross": 50, "refunded": 50},
    ]
    key = {"edition": 1, "day": 10, "form": 7, "visitor": 5, **ATTRIBUTES}
    assert rolled("crossed_outcome", facts(sessions=[session], orders=orders)) == [
        {**key, "converted": 1, "orders": 1, "gross": 100},
        {**key, "delay": 3, "orders": 1, "gross": 50, "refunded": 50},
    ]
