from tests.support.rollup_frames import at, facts, rolled

ATTRIBUTES = {"device": 2, "is_first_session": 1, "utm": -3, "variant": 9}


def test_durations_have_the_attributes_of_their_session() -> None:
    session = {"form": 7, "started_at": at(10), "completed_at": at(10, 2), **ATTRIBUTES}
    sessions = [{"session": 1, **session}, {"session": 2, **session}]
    sessions.append({"session": 3, **session, "utm": 0})
    key = {"edition": 1, "day": 10, "form": 7, **ATTRIBUTES}
    (of_two, of_one) = rolled("crossed_time", facts(sessions=sessions))
    assert of_two == {**key, "bucket": of_two["bucket"], "completions": 2, "duration": 4_000_000}
    without = {name: value for name, value in key.items() if name != "utm"}
    assert of_one == {
        **without,
        "bucket": of_two["bucket"],
        "completions": 1,
        "duration": 2_000_000,
    }
