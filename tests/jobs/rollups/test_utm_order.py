from tests.support.rollup_frames import at, facts, rolled
from warehouse.domain.vocabulary import BY_CUSTOMER, UNATTRIBUTED


def test_all_orders_by_type_and_utm_also_those_without() -> None:
    orders = [
        {"order": 1, "created_at": at(20), "type": BY_CUSTOMER, "utm": -9, "gross": 100},
        {"order": 2, "created_at": at(20), "type": BY_CUSTOMER, "utm": -9, "refunded": 20},
        {"order": 3, "created_at": at(20), "type": BY_CUSTOMER, "gross": 5},
        {"order": 4, "created_at": at(20), "type": UNATTRIBUTED, "utm": -9, "gross": 30},
    ]
    assert rolled("utm_order", facts(orders=orders)) == [
        {
            "edition": 1,
            "day": 20,
            "type": BY_CUSTOMER,
            "utm": -9,
            "orders": 2,
            "gross": 100,
            "refunded": 20,
        },
        {"edition": 1, "day": 20, "type": BY_CUSTOMER, "orders": 1, "gross": 5},
        {"edition": 1, "day": 20, "type": UNATTRIBUTED, "utm": -9, "orders": 1, "gross": 30},
    ]
