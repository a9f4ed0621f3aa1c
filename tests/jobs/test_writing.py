"""Writing beside working out: in the order told, and nothing after a failure."""

import time
from threading import Event, current_thread, main_thread

import pytest

from jobs.writing import Writing


def test_each_in_its_turn_beside_the_caller() -> None:
    written: list[int] = []
    let_go = Event()

    def write(number: int) -> None:
        assert current_thread() is not main_thread()
        if number == 0:
            let_go.wait(10)
        written.append(number)

    with Writing() as writing:
        for number in range(20):
            writing.then(write, number)
        assert written == []
        let_go.set()
        writing.finish()
        assert written == list(range(20))


def test_after_a_failure_nothing_is_written() -> None:
    written: list[str] = []

    def fail() -> None:
        raise LookupError("no room")

    with Writing() as writing:
        writing.then(written.append, "before")
        writing.then(fail)
        writing.then(written.append, "after")
        with pytest.raises(LookupError, match="no room"):
            writing.finish()
    assert written == ["before"]


def test_who_leaves_early_waits_for_the_one_in_hand_alone() -> None:
    written: list[str] = []
    begun = Event()

    def slowly() -> None:
        begun.set()
        time.sleep(0.2)
        written.append("in hand")

    with Writing() as writing:
        writing.then(slowly)
        writing.then(written.append, "never")
        begun.wait(10)
    assert written == ["in hand"]


def test_nothing_told_is_nothing_to_wait_for() -> None:
    with Writing() as writing:
        writing.finish()
