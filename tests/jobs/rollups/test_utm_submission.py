from tests.support.rollup_frames import at, facts, rolled


def test_submissions_by_utm_over_all_forms_also_those_without() -> None:
    sessions = [
        {"session": 1, "form": 7, "utm": 3, "subscribed_at": at(10)},
        {"session": 2, "form": 8, "utm": 3, "completed_at": at(10)},
        {"session": 3, "form": 7, "completed_at": at(10)},
        {"session": 4, "form": 7, "utm": 3, "viewed_at": at(10)},
    ]
    assert rolled("utm_submission", facts(sessions=sessions)) == [
        {"edition": 1, "day": 10, "submissions": 1},
        {"edition": 1, "day": 10, "utm": 3, "submissions": 2},
    ]
