"""Discounts (endpoint 16): which discount a code belongs to, and what is counted for it."""

from typing import Any

from tests.support.stage import A, B, Stage, pick

PATH = "/v1/discounts/performance"
NAMES = ("discountId", "code", "issued", "orders")
AT = "2026-01-01T00:00:00Z"
LATER = "2026-01-02T00:00:00Z"


def issue(stage: Stage, session: str, code: str | None = None, **more: Any) -> None:
    stage.event("subscribe", AT, session, visitor_id=session, discount_code=code, **more)


def use(stage: Stage, order: str, *codes: dict[str, Any] | str, **more: Any) -> None:
    listed = [code if isinstance(code, dict) else {"code": code} for code in codes]
    stage.order(order, LATER, discount_codes=listed, **more)


def test_a_code_without_an_id(stage: Stage) -> None:
    issue(stage, "1", "Save")
    issue(stage, "2", "SAVE")
    use(stage, "1", "save", discount_cents=50, visitor_id="1")
    use(stage, "2", "never issued")
    # A code of its own, in spite of a session that was given it and never submitted.
    issue(stage, "3", "single")
    stage.event("view", AT, "4", discount_code="SINGLE")
    names = ("discountCents", "attributedOrders", "redemptionRate")
    assert pick(stage.ask(PATH), *NAMES, *names) == [
        ("SAVE", "SAVE", 2, 1, 50, 1, 50),
        ("NEVER ISSUED", "NEVER ISSUED", 0, 1, 0, 0, 0),
        (f"form:{A}", "SINGLE", 1, 0, 0, 0, 0),
    ]


def test_a_pool_of_single_use_codes(stage: Stage) -> None:
    for number in (1, 2, 3):
        issue(stage, f"a{number}", f"A{number}")
        stage.event("view", AT, f"a{number}", discount_code=f"a{number}")
    issue(stage, "b1", "B1", form_id=B)
    use(stage, "1", "a1", "a2")
    use(stage, "2", "a3")
    assert pick(stage.ask(PATH), *NAMES) == [
        (f"form:{A}", None, 3, 2),
        (f"form:{B}", "B1", 1, 0),
    ]
    # Another submission is issued one of them: it is no single-use code any more, nor was it ever.
    issue(stage, "b2", "a1", form_id=B)
    assert pick(stage.ask(PATH), *NAMES) == [
        (f"form:{A}", None, 2, 2),
        ("A1", "A1", 2, 1),
        (f"form:{B}", "B1", 1, 0),
    ]


def test_the_greatest_id_that_comes_with_a_code(stage: Stage) -> None:
    issue(stage, "1", "ten")
    stage.event("view", AT, "2", discount_code="TEN", discount_id="d1")  # not a submission
    issue(stage, "3", None, discount_id="d1")
    assert pick(stage.ask(PATH), *NAMES) == [("d1", "TEN", 2, 0)]
    use(stage, "1", {"code": "Ten", "discount_id": "d2"})
    use(stage, "test", {"code": "Ten", "discount_id": "d9"}, test=True)
    assert pick(stage.ask(PATH), *NAMES) == [("d2", "TEN", 1, 1), ("d1", None, 1, 0)]
    # The order's standing version names no id any more.
    use(stage, "1", "TEN", updated_at="2026-02-01T00:00:00Z")
    assert pick(stage.ask(PATH), *NAMES) == [("d1", "TEN", 2, 1)]


def test_a_discount_that_ever_had_several_codes_has_none(stage: Stage) -> None:
    issue(stage, "1", "ten", discount_id="d")
    stage.order(
        "1", "2020-01-01T00:00:00Z", discount_codes=[{"code": "eleven", "discount_id": "d"}]
    )
    assert pick(stage.ask(PATH), *NAMES) == [("d", None, 1, 0)]


def test_once_per_discount_and_order(stage: Stage) -> None:
    issue(stage, "1", "a", discount_id="d")
    stage.event("view", AT, "1", discount_code="b", discount_id="d")
    stage.event("view", AT, "1", discount_id="d")
    both = ({"code": "a", "amount_cents": 30}, {"code": "B", "amount_cents": 12})
    use(stage, "1", *both, {"code": "x"}, total=1000, discount_cents=99, visitor_id="1")
    use(stage, "2", "x", total=100, discount_cents=7, cancelled_at=LATER)
    names = ("attributedOrders", "discountCents", "grossRevenueCents", "netRevenueCents")
    assert pick(stage.ask(PATH), *NAMES, *names) == [
        ("X", "X", 0, 2, 1, 7, 1100, 1000),
        ("d", None, 1, 1, 1, 42, 1000, 1000),
    ]
    averages = pick(stage.ask(PATH), "averageOrderValueCents", "redemptionRate")
    assert averages == [(550, 0), (1000, 100)]
