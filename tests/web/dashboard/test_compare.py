"""Figures beside their former ones: what is known of a row that the former rows do not have."""

from datetime import date
from typing import Any

import pytest
from flask import Flask

from web.api.row_limit import OTHER
from web.dashboard.comparable import TOO_YOUNG, Pair
from web.dashboard.compare import Amount, ComparedRow, ComparedRows, Rate
from web.dashboard.table import shown
from web.http.date_range import parse_range

APP = Flask(__name__)
DAYS = parse_range("2024-01-08..2024-01-14", 20_000, "UTC")
BEFORE = parse_range("2024-01-01..2024-01-07", 20_000, "UTC")
PAIR = Pair(DAYS, BEFORE)
SHOWN = Pair(DAYS, BEFORE, is_shown=True)
YOUNG = Pair(DAYS, BEFORE, 7, reason=TOO_YOUNG, since=date(2024, 1, 20))
NOW = [{"code": "a", "orders": 3, "net": 10}, {"code": "b", "orders": 2, "net": 5}]


def rows(before: list[dict[str, Any]], pair: Pair | None = PAIR) -> ComparedRows:
    """All rows of these days are compared."""
    return ComparedRows(NOW, ("code",), lambda *_: pair, lambda _: (NOW, before))


def test_a_row_that_was_left_out_had_only_zeros() -> None:
    a, b = rows([{"code": "a", "orders": 1, "net": 4}]).rows()
    assert a.amount("orders") == Amount(3, 3, 1, PAIR)
    assert b.amount("orders") == Amount(2, 2, 0, PAIR)
    gone = rows([{"code": "c", "orders": 1, "net": 4}]).row({"code": "c"})
    assert gone.amount("orders") == Amount(0, 0, 1, PAIR)


def test_a_row_that_can_be_in_the_sum_of_others_is_not_known() -> None:
    former = [{"code": "a", "orders": 1, "net": 4}, {"code": OTHER, "orders": 9, "net": 9}]
    a, b = rows(former).rows()
    assert (a.amount("orders").before, b.amount("orders").before) == (1, None)


def test_nothing_is_compared_with_nothing() -> None:
    assert [row.amount("orders") for row in rows([], None).rows()] == [Amount(3), Amount(2)]
    assert rows([], YOUNG).rows()[0].amount("orders") == Amount(3, pair=YOUNG)

    def total(lines: Any) -> dict[str, int]:
        return {"orders": sum(line["orders"] for line in lines)}

    assert rows([]).total(total).amount("orders") == Amount(5, 5, 0, PAIR)


def test_a_quotient_has_a_value_where_its_divisor_has() -> None:
    before = [{"code": "a", "orders": 0, "net": 0}]
    a, _ = rows(before).rows()
    assert a.quotient("net", "orders") == Amount(3, 3, None, PAIR)
    assert ComparedRow({"net": 10}).quotient("net", "orders") == Amount(None)


@pytest.mark.parametrize(
    ("figure", "unit", "texts"),
    [
        (Amount(9, 3, 2, PAIR), "count", ("9", "3", "2", "+50%", False)),
        (Amount(3, 3, 2, SHOWN), "count", ("3", "", "2", "+50%", False)),
        (Amount(3, 3, 0, SHOWN), "count", ("3", "", "", "", True)),
        (Amount(0, 0, 0, SHOWN), "count", ("0", "", "", "", False)),
        (Amount(3), "count", ("3", "", "", "", False)),
        # A percentage of nothing known is one of 0; its change is in points.
        (Amount(30.0, 30.0, 0.0, SHOWN), "percent", ("30%", "", "0%", "+30 points", False)),
        (Amount(30.0, None, 20.0, PAIR), "percent", ("30%", "—", "20%", "", False)),
    ],
)
def test_one_way_to_set_a_figure_beside_its_former_one(
    figure: Amount, unit: str, texts: tuple[str, str, str, str, bool]
) -> None:
    with APP.test_request_context(headers={"Accept-Language": "en"}):
        cell = shown(figure, unit, name="orders")
    former = cell.former
    assert (cell.text, former.text, former.before, former.change, former.was_nothing) == texts


@pytest.mark.parametrize(
    ("fair", "before", "is_loss", "verdict", "change"),
    [
        ((500, 1_000), (300, 1_000), False, "better", "up"),
        ((500, 1_000), (300, 1_000), True, "worse", "up"),
        ((300, 1_000), (500, 1_000), False, "worse", "down"),
        ((300, 1_000), (301, 1_000), False, "chance", "within-chance"),
        # Of few people nothing is said, and nothing is coloured.
        ((9, 10), (1, 1_000), False, "chance", "few"),
        ((300, 1_000), (0, 0), False, "", "few"),
    ],
)
def test_the_verdict_on_a_rate(
    fair: tuple[int, int], before: tuple[int, int], is_loss: bool, verdict: str, change: str
) -> None:
    rate = Rate(1, 2_000, fair, before, PAIR)
    with APP.test_request_context(headers={"Accept-Language": "en"}):
        cell = shown(rate, "percent", is_loss=is_loss, name="conversionRate")
    assert cell.former.verdict == verdict
    attributes = cell.former.data or cell.data
    assert attributes["data-change"] == change


def test_programs_read_what_is_compared_with_what() -> None:
    with APP.test_request_context(headers={"Accept-Language": "en"}):
        cell = shown(
            Amount(900, 300, 200, Pair(DAYS, BEFORE, 3)), "money", "USD", name="netRevenueCents"
        )
        young = shown(Amount(900, pair=YOUNG), "money", "USD", name="netRevenueCents")
    assert cell.data == {"data-figure": "netRevenueCents", "data-value": 900}
    assert cell.former.data == {
        "data-figure": "netRevenueCents",
        "data-value": 300,
        "data-change": "no-verdict",
        "data-within": 3,
        "data-before": 200,
        "data-days": "2024-01-08..2024-01-14",
        "data-days-before": "2024-01-01..2024-01-07",
    }
    assert young.data["data-change"] == "too-young"
    assert young.former.reason == "too young to compare, from Jan 20, 2024 on"


def test_a_row_can_be_in_the_sum_of_others_of_the_days_that_are_compared() -> None:
    others = [{"code": "a", "orders": 3, "net": 10}, {"code": OTHER, "orders": 9, "net": 9}]
    report = ComparedRows(NOW, ("code",), lambda *_: PAIR, lambda _: (others, others))
    assert [row.amount("orders").fair for row in report.rows()] == [3, None]
    # The sum itself has other members.
    assert report.row({"code": OTHER, "orders": 9}).amount("orders") == Amount(9, pair=PAIR)
