from tests.support.rollup_frames import at, facts, rolled
from warehouse.domain.vocabulary import BY_CODE, BY_CUSTOMER


def test_issued_once_per_submission_on_its_day() -> None:
    sessions = [
        {"session": 1, "subscribed_at": at(10)},
        {"session": 2, "completed_at": at(10)},
        {"session": 3, "viewed_at": at(10)},
    ]
    issues = [
        {"session": 1, "discount": 5},
        {"session": 1, "discount": 5},
        {"session": 1, "discount": 6},
        {"session": 2, "discount": 5},
        {"session": 3, "discount": 5},
    ]
    assert rolled("discount", facts(sessions=sessions, issues=issues)) == [
        {"edition": 1, "day": 10, "discount": 5, "issued": 2},
        {"edition": 1, "day": 10, "discount": 6, "issued": 1},
    ]


def test_an_order_with_two_codes_of_one_discount_counts_once_with_both_amounts() -> None:
    orders = [{"created_at": at(20), "type": BY_CODE, "gross": 900, "refunded": 100}]
    codes = [{"discount": 5, "discounted": 30}, {"discount": 5, "discounted": 12}]
    assert rolled("discount", facts(orders=orders, order_codes=codes)) == [
        {
            "edition": 1,
            "day": 20,
            "discount": 5,
            "orders": 1,
            "attributed": 1,
            "discounted": 42,
            "gross": 900,
            "refunded": 100,
        },
    ]


def test_an_order_with_two_discounts_counts_for_each_with_its_whole_revenue() -> None:
    orders = [{"created_at": at(20), "type": BY_CUSTOMER, "gross": 900}]
    codes = [{"discount": 5, "discounted": 30}, {"discount": 6}]
    assert rolled("discount", facts(orders=orders, order_codes=codes)) == [
        {"edition": 1, "day": 20, "discount": 5, "orders": 1, "discounted": 30, "gross": 900},
        {"edition": 1, "day": 20, "discount": 6, "orders": 1, "gross": 900},
    ]


def test_no_discount_is_not_a_discount() -> None:
    of = facts(
        sessions=[{"subscribed_at": at(10)}],
        issues=[{"discount": 0}],
        orders=[{"created_at": at(20)}],
        order_codes=[{"discount": 0}],
    )
    assert rolled("discount", of) == []


def test_a_discount_is_a_shops() -> None:
    sessions = [
        {"session": 1, "edition": 1, "subscribed_at": at(10)},
        {"session": 2, "edition": 2, "subscribed_at": at(10)},
    ]
    issues = [{"session": 1, "edition": 1}, {"session": 2, "edition": 2}]
    assert rolled("discount", facts(sessions=sessions, issues=issues)) == [
        {"edition": 1, "day": 10, "discount": 1, "issued": 1},
        {"edition": 2, "day": 10, "discount": 1, "issued": 1},
    ]
