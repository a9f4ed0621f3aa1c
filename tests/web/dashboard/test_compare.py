"""Figures beside their former ones: what is known of a row that the former rows do not have."""

from datetime import date
from typing import Any

from web.api.row_limit import OTHER
from web.dashboard.compare import TOO_YOUNG, ComparedRow, ComparedRows, Pair, Value
from web.http.date_range import parse_range

DAYS = parse_range("2024-01-08..2024-01-14", 20_000, "UTC")
BEFORE = parse_range("2024-01-01..2024-01-07", 20_000, "UTC")
PAIR = Pair(DAYS, BEFORE)
YOUNG = Pair(DAYS, BEFORE, 7, reason=TOO_YOUNG, since=date(2024, 1, 20))
NOW = [{"code": "a", "orders": 3, "net": 10}, {"code": "b", "orders": 2, "net": 5}]


def rows(before: list[dict[str, Any]], pair: Pair | None = PAIR) -> ComparedRows:
    """All rows of these days are compared."""
    return ComparedRows(NOW, ("code",), lambda *_: pair, lambda _: (NOW, before))


def test_a_row_that_was_left_out_had_only_zeros() -> None:
    a, b = rows([{"code": "a", "orders": 1, "net": 4}]).rows()
    assert a.amount("orders") == Value(3, 3, 1, PAIR, is_count=True)
    assert b.amount("orders") == Value(2, 2, 0, PAIR, is_count=True)
    gone = rows([{"code": "c", "orders": 1, "net": 4}]).row({"code": "c"})
    assert gone.amount("orders") == Value(0, 0, 1, PAIR, is_count=True)


def test_a_row_that_can_be_in_the_sum_of_others_is_not_known() -> None:
    former = [{"code": "a", "orders": 1, "net": 4}, {"code": OTHER, "orders": 9, "net": 9}]
    a, b = rows(former).rows()
    assert (a.amount("orders").before, b.amount("orders").before) == (1, None)


def test_nothing_is_compared_with_nothing() -> None:
    assert [row.amount("orders") for row in rows([], None).rows()] == [
        Value(3, is_count=True),
        Value(2, is_count=True),
    ]
    assert rows([], YOUNG).rows()[0].amount("orders") == Value(3, pair=YOUNG, is_count=True)

    def total(lines: Any) -> dict[str, int]:
        return {"orders": sum(line["orders"] for line in lines)}

    assert rows([]).total(total).amount("orders") == Value(5, 5, 0, PAIR, is_count=True)


def test_a_quotient_has_a_value_where_its_divisor_has() -> None:
    before = [{"code": "a", "orders": 0, "net": 0}]
    a, _ = rows(before).rows()
    assert a.quotient("net", "orders") == Value(3, 3, None, PAIR)
    assert ComparedRow({"net": 10}).quotient("net", "orders") == Value(None)


def test_a_row_can_be_in_the_sum_of_others_of_the_days_that_are_compared() -> None:
    others = [{"code": "a", "orders": 3, "net": 10}, {"code": OTHER, "orders": 9, "net": 9}]
    report = ComparedRows(NOW, ("code",), lambda *_: PAIR, lambda _: (others, others))
    assert [row.amount("orders").fair for row in report.rows()] == [3, None]
    # The sum itself has other members.
    assert report.row({"code": OTHER, "orders": 9}).amount("orders") == Value(
        9, pair=PAIR, is_count=True
    )
