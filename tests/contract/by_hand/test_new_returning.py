"""New and returning customers (22): "the first order ever of its customer key"."""

from tests.support.stage import Stage, pick

PATH = "/v1/revenue/new-returning"
FIGURES = ("customerType", "orders", "netRevenueCents")


def test_the_first_order_ever_is_new_and_each_later_one_returning(stage: Stage) -> None:
    stage.order("late", "2026-01-05T00:00:00Z", 100, customer_id="ada")
    stage.order(
        "cancelled", "2026-01-03T00:00:00Z", 7, customer_id="ada", cancelled_at="2026-01-04"
    )
    stage.order("nobody", "2026-01-05T00:00:00Z", 30)
    assert pick(stage.ask(PATH), *FIGURES) == [
        ("new", 1, 0),
        ("returning", 1, 100),
        ("unknown", 1, 30),
    ]
    # The range alone does not make a customer new.
    assert pick(stage.ask(PATH, "2026-01-05"), *FIGURES) == [
        ("new", 0, 0),
        ("returning", 1, 100),
        ("unknown", 1, 30),
    ]


def test_of_two_at_one_instant_the_smaller_id_is_the_first(stage: Stage) -> None:
    for order, total in (("b", 1), ("a", 10), ("Z", 100)):
        stage.order(order, "2026-01-05T00:00:00Z", total, email="ada@mail.example")
    assert pick(stage.ask(PATH), *FIGURES)[:2] == [("new", 1, 100), ("returning", 2, 11)]


def test_an_earlier_order_that_comes_late_takes_the_place(stage: Stage) -> None:
    stage.order("b", "2026-01-05T00:00:00Z", 1, customer_id="ada")
    stage.order("c", "2026-01-06T00:00:00Z", 10, email="ada@mail.example")
    assert pick(stage.ask(PATH), *FIGURES)[:2] == [("new", 2, 11), ("returning", 0, 0)]
    # The address turns out to be the customer's, who bought before.
    stage.event("subscribe", "2026-01-02T00:00:00Z", customer_id="ada", email="ada@mail.example")
    stage.order("a", "2026-01-04T00:00:00Z", 100, email="ada@mail.example")
    assert pick(stage.ask(PATH), *FIGURES)[:2] == [("new", 1, 100), ("returning", 2, 11)]
    daily = stage.ask(f"{PATH}/daily", "2026-01-04..2026-01-05")
    assert pick(daily, "date", *FIGURES, "shareOfRevenue") == [
        ("2026-01-04", "new", 1, 100, 100),
        ("2026-01-04", "returning", 0, 0, 0),
        ("2026-01-04", "unknown", 0, 0, 0),
        ("2026-01-05", "new", 0, 0, 0),
        ("2026-01-05", "returning", 1, 1, 100),
        ("2026-01-05", "unknown", 0, 0, 0),
    ]


def test_an_order_that_comes_again_is_what_it_was(stage: Stage) -> None:
    for day, order in enumerate(("first", "second"), 3):
        stage.order(order, f"2026-01-0{day}T00:00:00Z", 100, customer_id="ada")
    expected = [("new", 1, 100), ("returning", 1, 100)]
    assert pick(stage.ask(PATH), *FIGURES)[:2] == expected
    refunds = [{"refund_id": "r", "created_at": "2026-01-06", "amount_cents": 30}]
    for day, order in enumerate(("first", "second"), 3):
        stage.order(
            order,
            f"2026-01-0{day}T00:00:00Z",
            100,
            customer_id="ada",
            updated_at=f"2026-01-0{day + 4}T00:00:00Z",
            refunds=refunds,
        )
        expected[day - 3] = (*expected[day - 3][:2], 70)
        assert pick(stage.ask(PATH), *FIGURES)[:2] == expected
