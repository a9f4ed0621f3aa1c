from tests.support.rollup_frames import at, facts, rolled


def test_the_funnel_by_device() -> None:
    sessions = [
        {"session": 1, "form": 7, "device": 1, "viewed_at": at(10), "started_at": at(10, 5)},
        {"session": 2, "form": 7, "device": 2, "viewed_at": at(10)},
        {"session": 3, "form": 7, "device": 2, "viewed_at": at(10), "subscribed_at": at(11)},
    ]
    assert rolled("device", facts(sessions=sessions)) == [
        {"edition": 1, "day": 10, "form": 7, "device": 1, "views": 1, "starts": 1},
        {"edition": 1, "day": 10, "form": 7, "device": 2, "views": 2},
        {
            "edition": 1,
            "day": 11,
            "form": 7,
            "device": 2,
            "subscriptions": 1,
            "submissions": 1,
        },
    ]
