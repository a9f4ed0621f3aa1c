from tests.support.rollup_frames import at, facts, rolled
from warehouse.domain.vocabulary import NEW_CUSTOMER, RETURNING_CUSTOMER, UNKNOWN_CUSTOMER


def test_all_orders_by_whether_they_are_the_first_of_their_customer() -> None:
    orders = [
        {"order": 1, "created_at": at(20), "customer_type": NEW_CUSTOMER, "gross": 100},
        {
            "order": 2,
            "created_at": at(20),
            "customer_type": NEW_CUSTOMER,
            "gross": 50,
            "refunded": 20,
        },
        {"order": 3, "created_at": at(20), "customer_type": RETURNING_CUSTOMER, "gross": 30},
        {"order": 4, "created_at": at(21), "customer_type": UNKNOWN_CUSTOMER, "gross": 1},
    ]
    assert rolled("new_returning", facts(orders=orders)) == [
        {"edition": 1, "day": 20, "orders": 2, "gross": 150, "refunded": 20},
        {"edition": 1, "day": 20, "customer_type": RETURNING_CUSTOMER, "orders": 1, "gross": 30},
        {"edition": 1, "day": 21, "customer_type": UNKNOWN_CUSTOMER, "orders": 1, "gross": 1},
    ]
