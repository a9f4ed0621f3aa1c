"""Where bars, marks and ticks stand: in per cent of a chart."""

import pytest

from web.dashboard.charts.bars import BOTTOM, TOP, curve, funnel, histogram, losses


def test_bars_share_a_scale() -> None:
    assert losses([(60, 20), (30, 10), (0, 0)]) == [
        (75, 25),
        (37.5, 12.5),
        (0, 0),
    ]
    assert losses([(0, 0)]) == [(0, 0)]


def test_a_stage_of_a_funnel_loses_what_the_one_before_had_more() -> None:
    assert funnel([200, 100, 150, 0]) == [
        (100, 0),
        (50, 50),
        # A submission can have its start before these days.
        (75, 0),
        (0, 75),
    ]


# 1 to 2, 2 to 4, 4 to 8 and 8 to 16 seconds.
BUCKETS = [(1 << i, 2 << i, number, str(number)) for i, number in enumerate((1, 4, 2, 0))]


def test_the_highest_bar_fills_the_chart() -> None:
    chart = histogram(BUCKETS, [], [])
    room = chart.bottom - chart.top
    assert [height for *_, height in chart.bars] == [room / 4, room, room / 2, 0]
    assert [y + height for _, _, y, _, height in chart.bars] == [chart.bottom] * 4
    assert [x for _, x, *_ in chart.bars] == [2, 27, 52, 77]


@pytest.mark.parametrize(
    ("value", "x", "anchor"),
    [(0, 0, "start"), (1, 0, "start"), (3, 37.5, "start"), (6, 62.5, "end"), (99, 100, "end")],
)
def test_a_mark_stands_in_its_bucket_and_its_text_where_there_is_room(
    value: float, x: float, anchor: str
) -> None:
    (mark,) = histogram(BUCKETS, [(value, "mark")], []).marks
    assert mark == ("mark", x, anchor)


def test_ticks_without_room_are_left_out() -> None:
    ticks = [(value, str(value)) for value in (0.5, 1, 1.2, 4, 8, 16, 17)]
    shown = histogram(BUCKETS, [], ticks).ticks
    assert shown == [
        ("1", 0, "start"),
        ("4", 50, "middle"),
        ("8", 75, "middle"),
        ("16", 100, "end"),
    ]


def test_a_curve_ends_where_its_values_do() -> None:
    points, line = curve([0, 50, 100, None], 100)
    assert points == [(30.0, BOTTOM), (90.0, (TOP + BOTTOM) / 2), (150.0, TOP), None]
    assert line == "30,130 90,76 150,22"
    assert curve([0, None], 0)[0] == [(30.0, BOTTOM), None]
