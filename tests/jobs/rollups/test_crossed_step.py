from tests.support.rollup_frames import at, facts, rolled

ATTRIBUTES = {"device": 2, "is_first_session": 1, "utm": -3, "variant": 9}


def test_steps_have_the_attributes_of_their_session() -> None:
    sessions = [
        {"session": 1, "form": 7, **ATTRIBUTES},
        {"session": 2, "form": 7, **ATTRIBUTES, "is_first_session": 0},
    ]
    steps = [{"session": session, "step": 5, "viewed_at": at(10)} for session in (1, 2)]
    steps += [{"session": 2, "step": 6, "viewed_at": at(11)}]
    key = {"edition": 1, "form": 7, **ATTRIBUTES}
    returning = {name: value for name, value in key.items() if name != "is_first_session"}
    assert rolled("crossed_step", facts(sessions=sessions, steps=steps)) == [
        {**returning, "day": 10, "step": 5, "views": 1},
        {**key, "day": 10, "step": 5, "views": 1, "dropoffs": 1},
        {**returning, "day": 11, "step": 6, "views": 1, "dropoffs": 1},
    ]
