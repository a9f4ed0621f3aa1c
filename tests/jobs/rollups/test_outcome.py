from tests.support.rollup_frames import at, facts, rolled


def test_an_order_is_in_the_cell_of_its_delay_and_the_first_one_converts() -> None:
    session = {"session": 4, "form": 7, "device": 2, "subscribed_at": at(10, 50)}
    orders = [
        {"order": 1, "session": 4, "created_at": at(13, 50), "gross": 500, "refunded": 500},
        {"order": 2, "session": 4, "created_at": at(11, 49), "gross": 90},
        {"order": 3, "session": 4, "created_at": at(11, 50), "gross": 7, "refunded": 2},
    ]
    key = {"edition": 1, "day": 10, "form": 7, "device": 2}
    assert rolled("outcome", facts(sessions=[session], orders=orders)) == [
        {**key, "converted": 1, "orders": 1, "gross": 90},
        {**key, "delay": 1, "orders": 1, "gross": 7, "refunded": 2},
        {**key, "delay": 3, "orders": 1, "gross": 500, "refunded": 500},
    ]


def test_orders_at_the_same_instant_convert_a_submission_once() -> None:
    session = {"session": 4, "completed_at": at(10)}
    orders = [{"order": number, "session": 4, "created_at": at(12)} for number in (1, 2)]
    assert rolled("outcome", facts(sessions=[session], orders=orders)) == [
        {"edition": 1, "day": 10, "form": 1, "device": 1, "delay": 2, "converted": 1, "orders": 2}
    ]


def test_without_an_order_or_a_submission_there_is_no_outcome() -> None:
    sessions = [{"session": 1, "subscribed_at": at(10)}, {"session": 2, "viewed_at": at(10)}]
    orders = [{"order": 1, "created_at": at(11), "gross": 5}]
    assert rolled("outcome", facts(sessions=sessions, orders=orders)) == []
