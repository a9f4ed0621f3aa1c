from jobs.rollups import activity
from tests.rollups.building import frame, rows


def test_every_event_counts_on_its_day() -> None:
    events = frame(
        [
            {"edition": 1, "day": 5, "form": 7},
            {"edition": 1, "day": 5, "form": 7},
            {"edition": 1, "day": 6, "form": 7},
            {"edition": 2, "day": 5, "form": 7},
        ],
        ["edition", "day", "form"],
    )
    assert rows("activity", activity.rollup(events)) == [
        {"edition": 1, "day": 5, "form": 7, "events": 2},
        {"edition": 1, "day": 6, "form": 7, "events": 1},
        {"edition": 2, "day": 5, "form": 7, "events": 1},
    ]


def test_no_events_no_rows() -> None:
    none = frame([], ["edition", "day", "form"])
    assert rows("activity", activity.rollup(none)) == []
