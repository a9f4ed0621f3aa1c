from tests.support.rollup_frames import answers, at, facts, rolled

COLOUR, SIZE = -4, 6
RED, BLUE = 31, -32


def test_a_submission_counts_under_each_value_and_once_under_0() -> None:
    session = {"form": 7, "subscribed_at": at(10)}
    chosen = answers(1, {COLOUR: [RED, BLUE]}, listed=1)
    outcome = {"submissions": 1}
    key = {"edition": 1, "day": 10, "form": 7, "field": COLOUR}
    assert rolled("response", facts(sessions=[session], answers=chosen)) == [
        {**key, "value": BLUE, **outcome},
        {**key, **outcome, "lists": 1},
        {**key, "value": RED, **outcome},
    ]


def test_an_answer_without_a_value_counts_as_answered_only() -> None:
    session = {"form": 7, "subscribed_at": at(10)}
    assert rolled("response", facts(sessions=[session], answers=answers(1, {SIZE: []}))) == [
        {"edition": 1, "day": 10, "form": 7, "field": SIZE, "submissions": 1},
    ]


def test_answers_of_a_session_that_did_not_submit_count_nowhere() -> None:
    session = {"viewed_at": at(10)}
    assert rolled("response", facts(sessions=[session], answers=answers(1, {SIZE: [RED]}))) == []


def test_answers_follow_their_session_to_its_day_and_form() -> None:
    sessions = [
        {"session": 1, "form": 7, "subscribed_at": at(10)},
        {"session": 2, "form": 7, "subscribed_at": at(10)},
        {"session": 3, "form": 8, "completed_at": at(11)},
    ]
    chosen = [row for number in (3, 2, 1) for row in answers(number, {SIZE: [RED]})]
    both = {"submissions": 2}
    assert rolled("response", facts(sessions=sessions, answers=chosen)) == [
        {"edition": 1, "day": 10, "form": 7, "field": SIZE, **both},
        {"edition": 1, "day": 10, "form": 7, "field": SIZE, "value": RED, **both},
        {"edition": 1, "day": 11, "form": 8, "field": SIZE, "submissions": 1},
        {"edition": 1, "day": 11, "form": 8, "field": SIZE, "value": RED, "submissions": 1},
    ]
