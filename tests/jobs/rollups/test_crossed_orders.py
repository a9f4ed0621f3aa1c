from tests.support.rollup_frames import at, facts, rolled

ATTRIBUTES = {"device": 2, "is_first_session": 1, "utm": -3, "variant": 9}


def test_orders_stand_on_their_day_with_the_attributes_of_their_submission() -> None:
    session = {"form": 7, "subscribed_at": at(10), "orders": 1, **ATTRIBUTES}
    orders = [
        {"order": 1, "session": 1, "form": 7, "created_at": at(13), "gross": 100, "utm": 77},
        {"order": 2, "created_at": at(13), "gross": 50},
    ]
    assert rolled("crossed_orders", facts(sessions=[session], orders=orders)) == [
        {
            "edition": 1,
            "day": 13,
            "form": 7,
            "submitted": 10,
            **ATTRIBUTES,
            "orders": 1,
            "gross": 100,
        }
    ]
