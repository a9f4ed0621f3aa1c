"""Cells: one number, one chip, and a colour where all changes of the page together allow it."""

from dataclasses import replace
from datetime import date

import pytest
from flask import Flask

from web.dashboard.changes import Cell, PageChanges
from web.dashboard.compare import NO_DATA, TOO_YOUNG, Pair, Value
from web.dashboard.statistics import Noise
from web.http.date_range import parse_range

APP = Flask(__name__)
DAYS = parse_range("2024-01-08..2024-01-14", 20_000, "UTC")
BEFORE = parse_range("2024-01-01..2024-01-07", 20_000, "UTC")
PAIR = Pair(DAYS, BEFORE)
SHOWN = Pair(DAYS, BEFORE, is_shown=True)
AGED = Pair(DAYS, BEFORE, 3)
YOUNG = Pair(DAYS, BEFORE, 7, reason=TOO_YOUNG, since=date(2024, 1, 20))
# A day more or less is 1 of 10.
NOISE = Noise((10.0,) * 7, 1.0, 49)
BETTER, WORSE, SAME = (
    ((500, 1_000), (300, 1_000)),
    ((300, 1_000), (500, 1_000)),
    ((300, 1_000),) * 2,
)


def cell(figure: Value, unit: str = "count", changes: PageChanges | None = None) -> Cell:
    with APP.test_request_context(headers={"Accept-Language": "en"}):
        return (changes or PageChanges()).cell(figure, unit, "USD", name="orders")


def chip(made: Cell) -> tuple[str, str, str]:
    with APP.test_request_context(headers={"Accept-Language": "en"}):
        assert made.chip
        return made.chip.text, made.chip.tone, made.chip.change


@pytest.mark.parametrize(
    ("figure", "unit", "shown"),
    [
        (Value(100, 100, 70, SHOWN, NOISE), "count", ("▲ 43%", "good", "up")),
        (Value(70, 70, 100, SHOWN, NOISE), "count", ("▼ 30%", "bad", "down")),
        (Value(71, 71, 70, SHOWN, NOISE), "count", ("≈", "", "within-chance")),
        # No share: there is no former figure.
        (Value(70, 70, 0, SHOWN, NOISE), "count", ("▲ from nothing", "good", "up")),
        (Value(70, 70, 70, SHOWN, NOISE), "count", ("≈", "", "within-chance")),
        # Nothing is known of its noise: there is no arrow.
        (Value(100, 100, 70, SHOWN), "count", ("—", "", "no-verdict")),
        (Value(100, 100, None, SHOWN), "count", ("—", "", "not-compared")),
        (Value((500, 1_000), *BETTER, SHOWN), "percent", ("▲ 20", "good", "up")),
        (Value((300, 1_000), *WORSE, SHOWN), "percent", ("▼ 20", "bad", "down")),
        (Value((300, 1_000), *SAME, SHOWN), "percent", ("≈", "", "within-chance")),
        (Value((9, 10), (9, 10), (1, 1_000), SHOWN), "percent", ("few", "", "few")),
        (Value((0, 0), (0, 0), (0, 0), SHOWN), "percent", ("", "", "few")),
        (Value((9, 10), pair=replace(SHOWN, reason=NO_DATA)), "percent", ("—", "", "no-data")),
    ],
)
def test_one_chip(figure: Value, unit: str, shown: tuple[str, str, str]) -> None:
    assert chip(cell(figure, unit)) == shown


def test_more_of_a_loss_is_worse() -> None:
    with APP.test_request_context():
        made = PageChanges().cell(Value((500, 1_000), *BETTER, SHOWN), "percent", is_loss=True)
    assert chip(made) == ("▲ 20", "bad", "up")


def test_a_colour_is_for_all_changes_of_the_page_together() -> None:
    """Alone the change stands; among forty that chance explains, it does not."""
    figure = Value((336, 1_000), (350, 1_000), (300, 1_000), SHOWN)
    assert 0.005 < (figure.p_value or 0) < 0.025
    assert chip(cell(figure, "percent"))[2] == "up"
    changes = PageChanges()
    cells = [
        cell(each, "percent", changes)
        for each in [figure] + 40 * [Value((300, 1_000), *SAME, SHOWN)]
    ]
    assert {chip(each)[2] for each in cells} == {"within-chance"}


def test_no_cell_is_made_after_the_first_verdict() -> None:
    changes = PageChanges()
    first = cell(Value((500, 1_000), *BETTER, SHOWN), "percent", changes)
    assert first.chip
    assert first.chip.is_sure
    with pytest.raises(RuntimeError, match="before it is drawn"):
        cell(Value((500, 1_000), *BETTER, SHOWN), "percent", changes)


def test_programs_read_what_is_compared_with_what() -> None:
    with APP.test_request_context(headers={"Accept-Language": "en"}):
        made = PageChanges().cell(
            Value(900, 300, 200, PAIR), "money", "USD", name="netRevenueCents"
        )
        alone = PageChanges().cell(Value(300, 300, 200, SHOWN), "money", "USD", name="net")
        assert f"{made.attributes}" == ' data-figure="netRevenueCents" data-value="900"'
        own, *further = made.depth
        days = 'data-days="2024-01-08..2024-01-14" data-days-before="2024-01-01..2024-01-07"'
        assert own == (
            "until Jan 14: $3.00",
            ' data-figure="netRevenueCents" data-value="300" data-before="200" '
            f'{days} data-change="no-verdict"',
        )
        assert [text for text, _ in further] == ["before $2.00", "up 50%, no verdict."]
        assert f"{alone.attributes}" == (
            f' data-figure="net" data-value="300" data-before="200" {days} data-change="no-verdict"'
        )


def test_what_sign_ups_bought_is_shown_at_equal_age_and_to_date_below() -> None:
    with APP.test_request_context(headers={"Accept-Language": "en"}):
        made = cell(Value((600, 2_000), *BETTER, AGED, is_aged=True), "percent")
        young = cell(Value((600, 2_000), pair=YOUNG, is_aged=True), "percent")
        assert made.text == "50%"
        assert made.data["data-value"] == 50
        assert made.data["data-within"] == 3
        texts = [text for text, _ in made.depth]
        assert texts[0] == "within 3 days, by those who have had so long"
        assert "to date: 30%" in texts
        assert (young.text, young.without) == ("", "too young to compare, from Jan 20, 2024 on")
        assert young.chip
        assert young.chip.change == "too-young"
