from tests.support.rollup_frames import at, facts, rolled
from warehouse.domain.vocabulary import BY_CODE, BY_VISITOR, UNATTRIBUTED

SUBMISSIONS = [
    {"session": 4, "form": 7, "subscribed_at": at(19)},
    {"session": 5, "form": 7, "completed_at": at(20)},
]


def test_credited_orders_by_form_and_day_of_submission_on_the_orders_day() -> None:
    orders = [
        {
            "order": number,
            "created_at": at(day),
            "form": 7,
            "session": session,
            "type": type,
            "gross": gross,
            "refunded": refunded,
        }
        for number, day, session, type, gross, refunded in (
            (1, 20, 4, BY_CODE, 100, 0),
            (2, 20, 4, BY_VISITOR, 50, 50),
            (3, 20, 5, BY_CODE, 8, 0),
            (4, 21, 4, BY_CODE, 30, 0),
        )
    ]
    key = {"edition": 1, "form": 7}
    assert rolled("form_orders", facts(sessions=SUBMISSIONS, orders=orders)) == [
        {**key, "day": 20, "submitted": 19, "orders": 2, "gross": 150, "refunded": 50},
        {**key, "day": 20, "submitted": 20, "orders": 1, "gross": 8},
        {**key, "day": 21, "submitted": 19, "orders": 1, "gross": 30},
    ]


def test_an_unattributed_order_is_no_forms() -> None:
    orders = [{"order": 1, "created_at": at(20), "type": UNATTRIBUTED, "gross": 100}]
    assert rolled("form_orders", facts(sessions=SUBMISSIONS, orders=orders)) == []
