"""The oracle reads raw rows as section 2 says."""

from datetime import UTC, date, datetime
from fractions import Fraction
from zoneinfo import ZoneInfo

import pytest

from tests.support.oracle.making import SHOP, answered, event, order
from tests.support.oracle.orders import orders_of
from tests.support.oracle.records import events_of
from tests.support.oracle.sessions import dropped_off_at, sessions_of
from tests.support.oracle.times import day_end, day_start, instant, iso, resolve_range
from tests.support.oracle.values import cents, divide, half_up, major, rate, square_root


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2024-03-09T12:00:00Z", datetime(2024, 3, 9, 12, tzinfo=UTC)),
        ("2024-03-09T12:00:00.000001", datetime(2024, 3, 9, 12, 0, 0, 1, tzinfo=UTC)),
        ("2024-03-09T12:00:00+05:30", datetime(2024, 3, 9, 6, 30, tzinfo=UTC)),
    ],
)
def test_times_without_an_offset_are_utc(text: str, expected: datetime) -> None:
    assert instant(text) == expected


def test_a_day_of_the_shop_has_its_own_length() -> None:
    new_york = ZoneInfo("America/New_York")
    assert iso(day_start(date(2024, 3, 10), new_york)) == "2024-03-10T05:00:00.000Z"
    assert iso(day_end(date(2024, 3, 10), new_york)) == "2024-03-11T03:59:59.999Z"
    assert iso(day_end(date(2024, 3, 9), ZoneInfo("UTC"))) == "2024-03-09T23:59:59.999Z"


@pytest.mark.parametrize(
    ("text", "first", "last"),
    [
        (None, date(2024, 3, 2), date(2024, 3, 31)),
        ("7d", date(2024, 3, 25), date(2024, 3, 31)),
        ("90d", date(2024, 1, 2), date(2024, 3, 31)),
        ("2024-02-29", date(2024, 2, 29), date(2024, 2, 29)),
        ("2023-12-31..2024-01-01", date(2023, 12, 31), date(2024, 1, 1)),
    ],
)
def test_range(text: str | None, first: date, last: date) -> None:
    assert resolve_range(text, date(2024, 3, 31)) == (first, last)


def test_rounding_is_half_up_and_exact() -> None:
    assert rate(1, 3) == 33.33
    assert rate(1, 800) == 0.13  # 0.125 exactly
    assert rate(5, 0) == 0
    assert cents(5, 2) == 3
    assert divide(1, 32, 4) == 0.0313
    assert half_up(Fraction(-5, 2), 0) == -3
    assert square_root(Fraction(1, 4), 4) == 0.5
    assert square_root(Fraction(1, 2), 4) == 0.7071
    assert major(5, "JPY") == 5
    assert major(1500, "KWD") == Fraction(3, 2)


def test_answers_become_text() -> None:
    given = {
        "b": (True, ("true",)),
        "n": (3.0, ("3",)),
        "f": (2.5, ("2.5",)),
        "l": (["x", "a", "x", 1], ("1", "a", "x")),
    }
    rows = [answered("s1", "1", field, value) for field, (value, _) in given.items()]
    [session] = sessions_of(events_of(rows, SHOP))
    assert {name: answer.values for name, answer in session.answers.items()} == {
        field: values for field, (_, values) in given.items()
    }


def test_the_latest_answer_wins_with_its_type_and_an_empty_list_is_none() -> None:
    def answer(id: str, at: str, type: str, value: object) -> dict[str, object]:
        return event(id, "answer", at, field_id="f", field_type=type, value=value)

    rows = [
        answer("e2", "1 10:00", "choice", "red"),
        answer("e1", "1 10:00", "choice", "blue"),
        answer("e3", "1 11:00", "multi_choice", []),
    ]
    [session] = sessions_of(events_of(rows, SHOP))
    assert session.answers["f"].values == ("red",)
    rows.append(answer("e4", "1 12:00", "text", "words"))
    [session] = sessions_of(events_of(rows, SHOP))
    assert session.answers["f"].values is None


def test_attributes_of_a_session() -> None:
    rows = [
        event("e1", "view", "1 10:00", visitor_id="first", device_type=""),
        event("e3", "start", "1 10:05", device_type="Fridge", utm_medium="x", customer_id="old"),
        event("e2", "start", "1 10:05", device_type="TABLET", discount_code="ab", email="A@b.c "),
        event("e5", "complete", "1 10:07", customer_id="c1", discount_id="d1"),
        event("e6", "complete", "1 10:07", customer_id="c2", visitor_id="last"),
        event("e7", "subscribe", "1 10:08", utm_source="late", discount_id="d2"),
    ]
    rows[4]["form_id"] = rows[3]["form_id"].upper()
    [session] = sessions_of(events_of([*rows, rows[0]], SHOP))
    assert (session.visitor, session.device) == ("first", "tablet")
    assert session.utm == ("", "x", "", "", "", "")
    assert session.customer == "c2"
    assert session.email == "d648b243a3e817eaa3309e00e183483f2867baadf522099f0c2121770536b25a"
    assert sorted(session.codes) == ["AB"]
    assert sorted(session.discount_ids) == ["d1", "d2"]
    assert session.submitted_at == instant("2024-03-01T10:07")


def test_a_session_drops_off_at_the_step_it_viewed_last() -> None:
    def step(id: str, type: str, at: str, step_id: str, index: int) -> dict[str, object]:
        return event(id, type, at, step_id=step_id, step_index=index)

    rows = [
        step("e1", "step_view", "1 10:00", "b", 1),
        step("e2", "step_view", "1 10:00", "a", 2),
        step("e3", "step_complete", "1 10:01", "c", 3),
    ]
    [session] = sessions_of(events_of(rows, SHOP))
    assert dropped_off_at(session) == "a"  # same time: the greater index; c was never viewed
    [session] = sessions_of(events_of([*rows, step("e4", "step_complete", "2", "a", 2)], SHOP))
    assert dropped_off_at(session) is None
    [session] = sessions_of(events_of([*rows, event("e4", "complete", "2")], SHOP))
    assert dropped_off_at(session) is None


def test_the_version_with_the_greater_update_stands_and_a_test_order_is_none() -> None:
    first = order("o1", "1 10:00", 100)
    second = order("o1", "1 10:00", 200, updated_at="2024-03-02T00:00Z")
    [standing] = orders_of([second, first], SHOP)
    assert standing.gross == 200
    assert orders_of([{**second, "test": True}, first], SHOP) == []


def test_what_an_order_refunded() -> None:
    def refund(id: str, day: int, cents: int) -> dict[str, object]:
        return {"refund_id": id, "created_at": f"2024-03-{day:02}", "amount_cents": cents}

    refunds = [refund("r1", 2, 50), refund("r1", 3, 10), refund("r1", 3, 20), refund("r2", 1, 5)]
    rows = [
        order("a", "1", 100, refunds=refunds),
        order("b", "1", 100, refunds=[refund("r1", 1, 500)]),
        order("c", "1", 100, refunds=refunds, cancelled_at="2024-03-05T00:00Z"),
    ]
    assert [found.refunded for found in orders_of(rows, SHOP)] == [25, 100, 100]


def test_what_a_code_took_off() -> None:
    rows = [
        order("a", "1", 100, discount_cents=30, discount_codes=[{"code": "x"}, {"code": "X"}]),
        order("b", "1", 100, discount_cents=30, discount_codes=[{"code": "x"}, {"code": "y"}]),
        order(
            "c",
            "1",
            100,
            discount_cents=30,
            discount_codes=[{"code": "x", "amount_cents": 7}, {"code": "X", "amount_cents": 2}],
        ),
        order("d", "1", 100, discount_cents=30, discount_codes=[{"code": "x", "amount_cents": 0}]),
    ]
    assert [found.codes for found in orders_of(rows, SHOP)] == [
        {"X": 30},
        {"X": 0, "Y": 0},
        {"X": 9},
        {"X": 0},
    ]
