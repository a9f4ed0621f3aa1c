import numpy as np

from tests.support.rollup_frames import at, facts, rolled
from warehouse.daily.log_histogram import bucket_of

MINUTE = 60_000_000


def bucket(micros: int) -> int:
    return int(bucket_of(np.array([micros], dtype=np.int64))[0])


def test_from_the_start_to_the_completion_on_its_day() -> None:
    session = {
        "form": 7,
        "device": 2,
        "first_at": at(10),
        "viewed_at": at(10),
        "started_at": at(10, 86_340),
        "completed_at": at(11),
    }
    assert rolled("time_to_complete", facts(sessions=[session])) == [
        {
            "edition": 1,
            "day": 11,
            "form": 7,
            "device": 2,
            "bucket": bucket(MINUTE),
            "completions": 1,
            "duration": MINUTE,
        },
    ]


def test_without_a_start_from_the_view_without_a_view_from_the_first_event() -> None:
    sessions = [
        {"session": 1, "first_at": at(10), "viewed_at": at(10, 60), "completed_at": at(10, 120)},
        {"session": 2, "first_at": at(10, 60), "completed_at": at(10, 120)},
    ]
    (row,) = rolled("time_to_complete", facts(sessions=sessions))
    assert (row["completions"], row["duration"]) == (2, 2 * MINUTE)


def test_a_negative_span_is_0() -> None:
    session = {"first_at": at(10), "started_at": at(10, 60), "completed_at": at(10)}
    assert rolled("time_to_complete", facts(sessions=[session])) == [
        {"edition": 1, "day": 10, "form": 1, "device": 1, "completions": 1},
    ]


def test_durations_far_apart_are_in_buckets_of_their_own() -> None:
    sessions = [
        {"session": 1, "first_at": at(10), "completed_at": at(10, 10)},
        {"session": 2, "first_at": at(10), "completed_at": at(10, 11)},
    ]
    result = rolled("time_to_complete", facts(sessions=sessions))
    assert [row["duration"] for row in result] == [10_000_000, 11_000_000]


def test_a_subscription_completes_nothing() -> None:
    session = {"first_at": at(10), "subscribed_at": at(10, 5)}
    assert rolled("time_to_complete", facts(sessions=[session])) == []
