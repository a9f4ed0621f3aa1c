from tests.support.rollup_frames import at, facts, rolled
from warehouse.domain.vocabulary import BY_CUSTOMER, UNATTRIBUTED


def test_all_orders_by_type_the_unattributed_among_them() -> None:
    orders = [
        {"order": 1, "created_at": at(20), "type": BY_CUSTOMER, "form": 7, "gross": 100},
        {
            "order": 2,
            "created_at": at(20),
            "type": BY_CUSTOMER,
            "form": 8,
            "gross": 50,
            "refunded": 20,
        },
        {"order": 3, "created_at": at(20), "type": UNATTRIBUTED, "gross": 30},
        {"order": 4, "created_at": at(20), "type": UNATTRIBUTED, "gross": 1, "edition": 2},
    ]
    assert rolled("attribution", facts(orders=orders)) == [
        {"edition": 1, "day": 20, "type": BY_CUSTOMER, "orders": 2, "gross": 150, "refunded": 20},
        {"edition": 1, "day": 20, "type": UNATTRIBUTED, "orders": 1, "gross": 30},
        {"edition": 2, "day": 20, "type": UNATTRIBUTED, "orders": 1, "gross": 1},
    ]


def test_an_order_of_nothing_is_an_order() -> None:
    assert rolled("attribution", facts(orders=[{"created_at": at(20)}])) == [
        {"edition": 1, "day": 20, "type": UNATTRIBUTED, "orders": 1},
    ]
