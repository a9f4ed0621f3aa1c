"""The lengths of bars and the places of points follow from their values."""

from web.dashboard.charts.curves import BOTTOM, TOP, curve
from web.dashboard.charts.pairs import Pair, pairs


def test_pairs_share_one_scale() -> None:
    assert pairs([(50, 200), (None, 100), (-20, None), (0, 1)]) == [
        Pair(25.0, 100.0),
        Pair(None, 50.0),
        Pair(0.0, None),
        Pair(0.0, 0.5),
    ]


def test_nothing_to_draw() -> None:
    assert pairs([(None, None), (0, 0)]) == [Pair(None, None), Pair(0.0, 0.0)]
    assert pairs([]) == []


def test_a_curve_ends_where_its_values_do() -> None:
    drawn = curve([0, 50, 100, None], 100)
    assert drawn.points == [(30.0, BOTTOM), (90.0, (TOP + BOTTOM) / 2), (150.0, TOP), None]
    assert drawn.line == "30,130 90,76 150,22"
    assert curve([0, None], 0).points == [(30.0, BOTTOM), None]
