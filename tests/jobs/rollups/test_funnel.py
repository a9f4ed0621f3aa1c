from tests.support.rollup_frames import at, facts, rolled


def test_each_milestone_and_the_submission_are_on_their_own_days() -> None:
    session = {
        "form": 7,
        "viewed_at": at(10),
        "started_at": at(11),
        "completed_at": at(12),
        "subscribed_at": at(13),
    }
    assert rolled("funnel", facts(sessions=[session])) == [
        {"edition": 1, "day": 10, "form": 7, "views": 1},
        {"edition": 1, "day": 11, "form": 7, "starts": 1},
        {"edition": 1, "day": 12, "form": 7, "completions": 1, "submissions": 1},
        {"edition": 1, "day": 13, "form": 7, "subscriptions": 1},
    ]


def test_what_has_not_happened_counts_nowhere() -> None:
    assert rolled("funnel", facts(sessions=[{"first_at": at(10)}])) == []


def test_sessions_add_up_by_form_day_and_shop() -> None:
    sessions = [
        {"session": 1, "form": 7, "viewed_at": at(10, 1)},
        {"session": 2, "form": 7, "viewed_at": at(10, 86_399)},
        {"session": 3, "form": 8, "viewed_at": at(10)},
        {"session": 4, "form": 7, "viewed_at": at(10), "edition": 2},
    ]
    assert rolled("funnel", facts(sessions=sessions)) == [
        {"edition": 1, "day": 10, "form": 7, "views": 2},
        {"edition": 1, "day": 10, "form": 8, "views": 1},
        {"edition": 2, "day": 10, "form": 7, "views": 1},
    ]
