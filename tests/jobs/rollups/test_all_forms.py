from tests.support.rollup_frames import at, facts, rolled


def test_milestones_as_in_the_funnel() -> None:
    session = {
        "form": 7,
        "viewed_at": at(10),
        "started_at": at(11),
        "completed_at": at(12),
        "subscribed_at": at(13),
        "orders": 2,
        "gross": 500,
    }
    sessions = [session, {"session": 2, "form": 8, "viewed_at": at(10)}]
    assert rolled("all_forms", facts(sessions=sessions)) == [
        {"edition": 1, "day": 10, "form": 7, "views": 1},
        {"edition": 1, "day": 10, "form": 8, "views": 1},
        {"edition": 1, "day": 12, "form": 7, "completions": 1},
        {"edition": 1, "day": 13, "form": 7, "subscriptions": 1},
    ]


def test_every_event_counts_on_its_day() -> None:
    events = [
        {"day": 5, "form": 7},
        {"day": 5, "form": 7},
        {"day": 6, "form": 7},
        {"edition": 2, "day": 5, "form": 7},
    ]
    sessions = [{"form": 7, "viewed_at": at(5)}]
    assert rolled("all_forms", facts(sessions=sessions, events=events)) == [
        {"edition": 1, "day": 5, "form": 7, "events": 2, "views": 1},
        {"edition": 1, "day": 6, "form": 7, "events": 1},
        {"edition": 2, "day": 5, "form": 7, "events": 1},
    ]
