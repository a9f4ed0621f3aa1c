from tests.support.rollup_frames import at, facts, rolled


def test_orders_by_the_utm_of_their_submission_over_all_forms() -> None:
    sessions = [
        {"session": 1, "form": 7, "utm": 3, "subscribed_at": at(10)},
        {"session": 2, "form": 8, "utm": 3, "completed_at": at(10, 1)},
        {"session": 3, "form": 7, "completed_at": at(10)},
    ]
    orders = [
        {"order": number, "session": number, "created_at": at(15), "utm": 9, "gross": 10**number}
        for number in (1, 2, 3)
    ]
    assert rolled("utm_outcome", facts(sessions=sessions, orders=orders)) == [
        {"edition": 1, "day": 10, "delay": 5, "converted": 1, "orders": 1, "gross": 1000},
        {"edition": 1, "day": 10, "utm": 3, "delay": 4, "converted": 1, "orders": 1, "gross": 100},
        {"edition": 1, "day": 10, "utm": 3, "delay": 5, "converted": 1, "orders": 1, "gross": 10},
    ]
