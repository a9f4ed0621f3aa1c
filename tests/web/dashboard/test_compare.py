"""Figures beside their former ones: what is known of a row that the former rows do not have."""

import pytest
from flask import Flask

from web.api.row_limit import OTHER
from web.api.rows import Row
from web.dashboard.compare import Amount, ComparedRow, Rate, beside, total
from web.dashboard.table import shown

APP = Flask(__name__)
ROW = Row("", "", "orders")
NOW = [{"code": "a", "orders": 3, "net": 10}, {"code": "b", "orders": 2, "net": 5}]


def test_a_row_that_was_left_out_had_only_zeros() -> None:
    a, b = beside(NOW, [{"code": "a", "orders": 1, "net": 4}], "code")
    assert (a.amount("orders"), b.amount("orders")) == (Amount(3, 1), Amount(2, 0))


def test_a_row_that_can_be_in_the_sum_of_others_is_not_known() -> None:
    former = [{"code": "a", "orders": 1, "net": 4}, {"code": OTHER, "orders": 9, "net": 9}]
    a, b = beside(NOW, former, "code")
    assert (a.amount("orders"), b.amount("orders")) == (Amount(3, 1), Amount(2, None))


def test_nothing_is_compared_with_nothing() -> None:
    assert [row.amount("orders") for row in beside(NOW, None, "code")] == [Amount(3), Amount(2)]
    assert total(ROW, NOW, None).amount("orders") == Amount(5)
    assert total(ROW, NOW, []).amount("orders") == Amount(5, 0)


def test_a_quotient_has_a_value_where_its_divisor_has() -> None:
    assert ComparedRow({"net": 10, "orders": 4}, {"net": 0, "orders": 0}).quotient(
        "net", "orders"
    ) == (Amount(3, None))
    assert ComparedRow({"net": 10}, {"net": 9, "orders": 2}).quotient("net", "orders") == Amount(
        None, 5
    )


@pytest.mark.parametrize(
    ("figure", "unit", "texts"),
    [
        (Amount(3, 2), "count", ("3", "2", "+50%", False)),
        (Amount(3, 0), "count", ("3", "", "", True)),
        (Amount(0, 0), "count", ("0", "", "", False)),
        (Amount(3, None), "count", ("3", "", "", False)),
        # A percentage of nothing known is one of 0; its change is in points.
        (Amount(30.0, 0.0), "percent", ("30%", "0%", "+30 points", False)),
        (Amount(None, 20.0), "percent", ("", "20%", "", False)),
    ],
)
def test_one_way_to_set_a_figure_beside_its_former_one(
    figure: Amount, unit: str, texts: tuple[str, str, str, bool]
) -> None:
    with APP.test_request_context(headers={"Accept-Language": "en"}):
        cell = shown(figure, unit)
    assert (cell.text, cell.before, cell.change, cell.was_nothing) == texts


@pytest.mark.parametrize(
    ("rate", "is_loss", "verdict"),
    [
        (Rate(500, 1_000, 300, 1_000), False, "better"),
        (Rate(500, 1_000, 300, 1_000), True, "worse"),
        (Rate(3, 10, 2, 10), False, "chance"),
        (Rate(3, 10), False, ""),
        (Rate(3, 10, 0, 0), False, ""),
    ],
)
def test_the_verdict_on_a_rate(rate: Rate, is_loss: bool, verdict: str) -> None:
    with APP.test_request_context(headers={"Accept-Language": "en"}):
        cell = shown(rate, "percent", is_loss=is_loss)
    assert (cell.verdict, cell.is_few) == (verdict, rate.trials < 30)
