from jobs.rollups.funnel import events
from tests.support.rollup_frames import frame, rows


def test_every_event_counts_on_its_day() -> None:
    rows_of_two_shops = frame(
        [
            {"edition": 1, "day": 5, "form": 7},
            {"edition": 1, "day": 5, "form": 7},
            {"edition": 1, "day": 6, "form": 7},
            {"edition": 2, "day": 5, "form": 7},
        ],
        ["edition", "day", "form"],
    )
    assert rows("events", events(rows_of_two_shops)) == [
        {"edition": 1, "day": 5, "form": 7, "events": 2},
        {"edition": 1, "day": 6, "form": 7, "events": 1},
        {"edition": 2, "day": 5, "form": 7, "events": 1},
    ]


def test_no_events_no_rows() -> None:
    none = frame([], ["edition", "day", "form"])
    assert rows("events", events(none)) == []
