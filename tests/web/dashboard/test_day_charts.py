"""The geometry of charts of days: scales, lines, stacks, and the names beside them."""

from datetime import date, timedelta

import pytest
from flask import Flask

from web.dashboard.charts.days import (
    Series,
    StackedDays,
    named_days,
    scale,
    series,
    stacked_days,
)

APP = Flask(__name__)


def days(count: int) -> list[date]:
    return [date(2026, 3, 1) + timedelta(place) for place in range(count)]


def drawn(lines: dict[str, list[int]], currency: str = "", language: str = "en") -> Series:
    with APP.test_request_context(headers={"Accept-Language": language}):
        return series(days(len(next(iter(lines.values())))), lines, currency)


def stacked(*amounts: list[int], currency: str = "EUR") -> StackedDays:
    with APP.test_request_context(headers={"Accept-Language": "en"}):
        return stacked_days(days(len(amounts)), ("a", "b"), amounts, currency)


@pytest.mark.parametrize(
    ("values", "ticks"),
    [
        ([], [0]),
        ([0, 0], [0]),
        ([1], [0, 1]),
        ([3, 4], [0, 1, 2, 3, 4]),
        ([5], [0, 2, 4, 6]),
        ([7, 219], [0, 100, 200, 300]),
        ([400_000], [0, 100_000, 200_000, 300_000, 400_000]),
        ([-30, 90], [-50, 0, 50, 100]),
        ([-7], [-8, -6, -4, -2, 0]),
    ],
)
def test_a_scale_has_zero_and_all_values_in_round_steps(
    values: list[int], ticks: list[int]
) -> None:
    span = scale(values)
    assert list(span.ticks) == ticks
    assert (span.low, span.high) == (ticks[0], ticks[-1])
    assert all(0 <= span.y(value) <= 100 for value in values)
    assert span.y(span.low) == 100


def test_heights_go_from_the_top() -> None:
    span = scale([-30, 90])
    assert [span.y(value) for value in (100, 50, 0, -50)] == [0, 33.3, 66.7, 100]


@pytest.mark.parametrize(
    ("count", "named"),
    [
        (1, [0]),
        (6, [0, 1, 2, 3, 4, 5]),
        (7, [0, 2, 4, 6]),
        (30, [0, 7, 14, 21, 28]),
        (90, [0, 21, 42, 63, 84]),
        (3_660, [0, 728, 1456, 2184, 2912, 3640]),
    ],
)
def test_few_days_are_named(count: int, named: list[int]) -> None:
    assert list(named_days(count)) == named


def test_a_line_has_a_point_in_the_middle_of_each_day() -> None:
    chart = drawn({"Views": [0, 50, 100, 200]})
    assert chart.width == 4
    assert chart.lines[0][1] == "0.5,100 1.5,75 2.5,50 3.5,0"
    assert chart.axes.heights == ["0", "50", "100", "150", "200"]
    assert chart.axes.lines == [100, 75, 50, 25, 0]
    assert chart.axes.days[0] == ("Mar 1", 12.5, "middle")


def test_a_single_day_is_a_dot() -> None:
    assert drawn({"Views": [7]}).lines[0][1] == "0.5,12.5 0.5,12.5"


def test_names_of_lines_that_end_together_stand_apart() -> None:
    heights = [height for *_, height in drawn({"a": [100], "b": [99], "c": [0], "d": [0]}).lines]
    assert heights == [0, 10, 90, 100]


def test_names_at_the_ends_of_the_axis_stay_within_it() -> None:
    chart = drawn({"Views": list(range(37))})
    assert chart.axes.days == [
        ("Mar 1", 0, "start"),
        ("Mar 8", 20.27, "middle"),
        ("Mar 15", 39.19, "middle"),
        ("Mar 22", 58.11, "middle"),
        ("Mar 29", 77.03, "middle"),
        ("Apr 5", 100, "end"),
    ]


def test_many_days_are_named_by_months() -> None:
    assert drawn({"Views": [1] * 400}).axes.days[1][0] == "May 2026"


def test_the_script_gets_the_same_values() -> None:
    chart = drawn({"Net revenue": [123_456, -5]}, "EUR", "de-DE,en;q=0.5")
    assert chart.data == {
        "locale": "de-DE-u-nu-latn",
        "currency": "EUR",
        "decimals": 2,
        "first": "2026-03-01",
        "low": -50_000,
        "high": 150_000,
        "lines": [{"name": "Net revenue", "values": [123_456, -5]}],
        "notes": {},
    }
    assert chart.axes.heights == [
        "-500\N{NO-BREAK SPACE}€",
        "0\N{NO-BREAK SPACE}€",
        "500\N{NO-BREAK SPACE}€",
        "1.000\N{NO-BREAK SPACE}€",
        "1.500\N{NO-BREAK SPACE}€",
    ]


def test_a_day_with_a_note_has_a_mark() -> None:
    noted = {date(2026, 3, 3): "<Autumn> letter", date(2026, 4, 1): "not of these days"}
    with APP.test_request_context(headers={"Accept-Language": "en"}):
        line = series(days(4), {"a": [1, 2, 3, 4]}, notes=noted)
        stack = stacked_days(days(4), ("a", "b"), [[1, 1]] * 4, "EUR", notes=noted)
    assert line.axes.notes == stack.axes.notes == [(62.5, "Mar 3", "<Autumn> letter")]
    assert line.data["notes"] == {2: "<Autumn> letter"}
    assert [day.title.endswith(". <Autumn> letter") for day in stack.days] == [0, 0, 1, 0]


@pytest.mark.parametrize(("currency", "decimals"), [("JPY", 0), ("KWD", 3), ("XYZ", 2), ("", 0)])
def test_minor_units_are_the_currency_s(currency: str, decimals: int) -> None:
    assert drawn({"a": [1]}, currency).data["decimals"] == decimals


def test_parts_stand_on_each_other_and_hang_below_zero() -> None:
    chart = stacked([100, 200], [300, -100], [0, 0])
    assert chart.axes.heights == ["-€1", "€0", "€1", "€2", "€3"]
    assert chart.axes.zero == 75
    assert [day.bars for day in chart.days] == [
        [(0, 50, 25), (1, 0, 50)],
        [(0, 0, 75), (1, 75, 25)],
        [],
    ]
    assert [day.title for day in chart.days] == [
        "Mar 1, 2026: a €1.00, b €2.00",
        "Mar 2, 2026: a €3.00, b -€1.00",
        "Mar 3, 2026: €0.00",
    ]


def test_usual_days_are_an_area_behind() -> None:
    """Along its foot from the left of its first day to the right of its last, and back along its top."""
    band = [(1, 100.0, 300.0), (2, 200.0, 350.5)]
    with APP.test_request_context():
        stack = stacked_days(days(3), ["net"], [[100], [400], [200]], "EUR", usual=band)
        lines = series(days(3), {"net": [10, 20, 30]}, usual=[[(0, 0.0, 399.5), *band]])
        without = stacked_days(days(3), ["net"], [[1], [2], [3]], "EUR")
    assert stack.usual == "1,75 1.5,75 2.5,50 3,50 3,12 2.5,12 1.5,25 1,25"
    # The scale has all of it.
    assert lines.data["high"] == 400
    assert lines.usual[0].endswith(" 0.5,0 0,0")
    assert without.usual == ""


def test_bars_share_the_width() -> None:
    chart = stacked([1, 1], [1, 1], [1, 1], [1, 1])
    assert [day.left for day in chart.days] == [0, 25, 50, 75]
    assert [day.bar_left for day in chart.days] == [2.5, 27.5, 52.5, 77.5]
    assert (chart.day_width, chart.bar_width) == (25, 20)
