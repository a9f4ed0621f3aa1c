from tests.support.rollup_frames import at, facts, rolled

ATTRIBUTES = {"device": 2, "is_first_session": 1, "utm": -3, "variant": 9}


def test_sessions_with_other_attributes_or_visitors_are_apart() -> None:
    session = {"form": 7, "visitor": 5, "viewed_at": at(10), "completed_at": at(11), **ATTRIBUTES}
    sessions = [
        {"session": 1, **session},
        {"session": 2, **session},
        {"session": 3, **session, "visitor": 6},
        {"session": 4, **session, "variant": 8, "completed_at": at(10)},
    ]
    key = {"edition": 1, "form": 7, **ATTRIBUTES}
    assert rolled("crossed_session", facts(sessions=sessions)) == [
        {
            **key,
            "day": 10,
            "visitor": 5,
            "variant": 8,
            "views": 1,
            "completions": 1,
            "submissions": 1,
        },
        {**key, "day": 10, "visitor": 5, "views": 2},
        {**key, "day": 10, "visitor": 6, "views": 1},
        {**key, "day": 11, "visitor": 5, "completions": 2, "submissions": 2},
        {**key, "day": 11, "visitor": 6, "completions": 1, "submissions": 1},
    ]


def test_a_day_with_events_alone_has_its_quarters_of_an_hour() -> None:
    session = {"form": 7, "visitor": 5, "viewed_at": at(10), **ATTRIBUTES}
    quarters = [{"day": 10}, {"day": 12}, {"day": 12}]
    key = {"edition": 1, "form": 7, "visitor": 5, **ATTRIBUTES}
    assert rolled("crossed_session", facts(sessions=[session], quarters=quarters)) == [
        {**key, "day": 10, "events": 1, "views": 1},
        {**key, "day": 12, "events": 2},
    ]
