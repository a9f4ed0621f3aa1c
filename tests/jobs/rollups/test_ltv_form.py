from tests.support.rollup_frames import at, facts, rolled


def orders(*instants: int, **columns: int) -> list[dict[str, int]]:
    return [
        {"order": number, "customer": 3, "gross": 100, "created_at": instant, **columns}
        for number, instant in enumerate(instants, 1)
    ]


def test_a_customer_belongs_to_each_form_from_the_first_submission_to_it() -> None:
    sessions = [
        {"session": 1, "form": 7, "customer": 3, "subscribed_at": at(12)},
        {"session": 2, "form": 7, "customer": 3, "subscribed_at": at(10)},
        {"session": 3, "form": 7, "customer": 3, "subscribed_at": at(13)},
        {"session": 4, "form": 8, "customer": 3, "completed_at": at(14)},
    ]
    net = dict.fromkeys(("net_30", "net_60", "net_90", "net_180", "net_365"), 200)
    half = dict.fromkeys(net, 100)
    assert rolled("ltv_form", facts(sessions=sessions, orders=orders(at(11), at(15)))) == [
        {
            "edition": 1,
            "day": 10,
            "form": 7,
            "customers": 1,
            "purchasers": 1,
            "repeaters": 1,
            "orders": 2,
            "gross": 200,
            **net,
        },
        {
            "edition": 1,
            "day": 14,
            "form": 8,
            "customers": 1,
            "purchasers": 1,
            "orders": 1,
            "gross": 100,
            **half,
        },
    ]


def test_orders_count_from_the_instant_of_the_submission_on() -> None:
    sessions = [{"customer": 3, "subscribed_at": at(10, 5)}]
    (row,) = rolled(
        "ltv_form", facts(sessions=sessions, orders=orders(at(10, 4), at(10, 5), at(10, 6)))
    )
    assert (row["day"], row["orders"], row["gross"], row["repeaters"]) == (10, 2, 200, 1)


def test_a_horizon_ends_before_its_days_times_24_hours() -> None:
    sessions = [{"customer": 3, "subscribed_at": at(10, 5)}]
    bought = orders(at(40, 4), at(40, 5), at(100, 4), at(375, 5), refunded=30)
    (row,) = rolled("ltv_form", facts(sessions=sessions, orders=bought))
    horizons = [row[f"net_{days}"] for days in (30, 60, 90, 180, 365)]
    assert horizons == [70, 140, 210, 210, 210]
    assert (row["orders"], row["gross"], row["refunded"]) == (4, 400, 120)


def test_a_customer_without_an_order_is_a_customer() -> None:
    sessions = [
        {"session": 1, "customer": 2, "subscribed_at": at(10)},
        {"session": 2, "customer": 4, "subscribed_at": at(10)},
    ]
    # A customer between the two, in whatever order they are looked up.
    assert rolled("ltv_form", facts(sessions=sessions, orders=orders(at(11)))) == [
        {"edition": 1, "day": 10, "form": 1, "customers": 2},
    ]


def test_nobody_acquires_nothing() -> None:
    sessions = [{"subscribed_at": at(10)}]
    assert rolled("ltv_form", facts(sessions=sessions, orders=orders(at(11), customer=0))) == []


def test_a_session_that_did_not_submit_acquires_nobody() -> None:
    sessions = [{"customer": 3, "viewed_at": at(10)}]
    assert rolled("ltv_form", facts(sessions=sessions, orders=orders(at(11)))) == []
