from tests.support.rollup_frames import at, facts, rolled
from warehouse.domain.vocabulary import BY_CODE, BY_VISITOR, UNATTRIBUTED


def test_credited_orders_by_form_on_the_orders_day() -> None:
    orders = [
        {"order": 1, "created_at": at(20), "form": 7, "type": BY_CODE, "gross": 100},
        {
            "order": 2,
            "created_at": at(20),
            "form": 7,
            "type": BY_VISITOR,
            "gross": 50,
            "refunded": 50,
        },
        {"order": 3, "created_at": at(21), "form": 7, "type": BY_CODE, "gross": 30},
    ]
    assert rolled("form_orders", facts(orders=orders)) == [
        {"edition": 1, "day": 20, "form": 7, "orders": 2, "gross": 150, "refunded": 50},
        {"edition": 1, "day": 21, "form": 7, "orders": 1, "gross": 30},
    ]


def test_an_unattributed_order_is_no_forms() -> None:
    orders = [{"order": 1, "created_at": at(20), "type": UNATTRIBUTED, "gross": 100}]
    assert rolled("form_orders", facts(orders=orders)) == []
