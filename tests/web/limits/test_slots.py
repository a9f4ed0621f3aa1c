"""How requests share what there is little of."""

from collections.abc import Hashable
from concurrent.futures import Future, ThreadPoolExecutor
from threading import Event
from time import monotonic

import pytest

from tests.support.waiting import PATIENCE_SECONDS, wait_until
from web.limits import slots as module
from web.limits.slots import NoSlot, Slots

# Seconds, in place of those that a request may wait: more than a test takes.
LONG = 3_600.0


class Holders:
    """Requests that hold their slots until they are told to end."""

    def __init__(self, slots: Slots) -> None:
        self.slots = slots
        self._pool = ThreadPoolExecutor(100)
        self.at_work: list[Hashable] = []
        self._ends: dict[int, Event] = {}

    def ask(self, sender: Hashable) -> Future[str]:
        number = len(self._ends)
        self._ends[number] = Event()
        return self._pool.submit(self._hold, sender, number)

    def _hold(self, sender: Hashable, number: int) -> str:
        try:
            with self.slots.hold(sender):
                self.at_work.append(sender)
                self._ends[number].wait(PATIENCE_SECONDS)
                return "held"
        except NoSlot as refused:
            return "own" if refused.is_own else "others"

    def ask_in_order(self, *senders: Hashable) -> list[Future[str]]:
        """Each asks when the one before has a slot, waits or was refused."""
        asked = []
        for sender in senders:
            before = len(self.at_work) + len(self.slots._waiting)
            asked.append(self.ask(sender))
            wait_until(
                lambda before=before, one=asked[-1]: (
                    one.done()  # type: ignore[misc]
                    or len(self.at_work) + len(self.slots._waiting) > before
                )
            )
        return asked

    def end(self, *numbers: int) -> None:
        """End these, in the order of their asking; without numbers, all."""
        for number in numbers or self._ends:
            self._ends[number].set()


def results(asked: list[Future[str]]) -> list[str]:
    return [one.result(PATIENCE_SECONDS) for one in asked]


def test_nobody_holds_all_slots() -> None:
    holders = Holders(Slots(4, 3, seconds=LONG, queued=0))
    asked = holders.ask_in_order("a", "a", "a", "a", "b", "c")
    assert results(asked[3:4]) == ["own"]
    assert results(asked[5:]) == ["others"]
    assert holders.at_work == ["a", "a", "a", "b"]
    holders.end()
    assert results(asked) == ["held"] * 3 + ["own", "held", "others"]
    # All slots were given back.
    again = holders.ask_in_order("c", "c", "c", "a")
    holders.end()
    assert results(again) == ["held"] * 4


def test_the_next_is_the_sender_with_the_fewest_then_the_first_that_came() -> None:
    holders = Holders(Slots(3, 3, seconds=LONG))
    asked = holders.ask_in_order("a", "a", "a", "a", "a", "b", "c")
    for number, next_one in ((0, "b"), (1, "c"), (2, "a")):
        holders.end(number)
        wait_until(lambda number=number: len(holders.at_work) == 4 + number)  # type: ignore[misc]
        assert holders.at_work[-1] == next_one
    holders.end()
    assert results(asked) == ["held"] * 7


def test_beside_others_a_sender_has_one_slot() -> None:
    holders = Holders(Slots(8, 2, shared=2, seconds=LONG))
    asked = holders.ask_in_order("a", "a", "a", "b", "c", "b")
    # Two alone; and whoever has none waits for nobody.
    assert holders.at_work == ["a", "a", "b", "c"]
    holders.end(3, 4)
    wait_until(lambda: len(holders.at_work) == 5)
    # The third of `a` came first, and `a` has two.
    assert holders.at_work[-1] == "b"
    holders.end()
    assert results(asked) == ["held"] * 6


def test_few_wait() -> None:
    holders = Holders(Slots(2, 1, seconds=LONG, queued=3, queued_each=2))
    asked = holders.ask_in_order("a", "b", "a", "a", "a", "c", "c")
    assert results([asked[4], asked[6]]) == ["own", "others"]
    holders.end()
    assert results(asked) == ["held"] * 4 + ["own", "held", "others"]


def test_a_request_waits_while_slots_are_given_back() -> None:
    holders = Holders(Slots(2, 2, seconds=0.2))
    asked = holders.ask_in_order("a", "b", "c")
    assert results(asked[2:]) == ["others"]
    holders.end()
    assert results(asked) == ["held", "held", "others"]


def test_where_none_is_given_back_for_long_nobody_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    holders = Holders(Slots(2, 2, seconds=LONG))
    asked = holders.ask_in_order("a", "b")
    monkeypatch.setattr(module, "monotonic", lambda: monotonic() + LONG)
    refused = [holders.ask("c") for _ in range(20)]
    assert results(refused) == ["others"] * 20
    holders.end()
    assert results(asked) == ["held", "held"]


def test_who_holds_as_many_as_one_may_waits_for_its_own_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Those of others come and go meanwhile."""
    now = [0.0]
    monkeypatch.setattr(module, "monotonic", lambda: now[0])
    slots = Slots(3, 1, seconds=1)
    with slots.hold("a"):
        now[0] = 2
        with slots.hold("b"):
            with pytest.raises(NoSlot) as refused, slots.hold("a"):
                pass
            assert refused.value.is_own
    with slots.hold("a"):
        pass


def test_many_threads_share_few_slots() -> None:
    slots, most, at_work = Slots(3, 2, shared=2, seconds=PATIENCE_SECONDS), 0, []

    def work(number: int) -> None:
        nonlocal most
        with slots.hold(number % 5):
            at_work.append(number)
            most = max(most, len(at_work))
            at_work.remove(number)

    with ThreadPoolExecutor(50) as pool:
        list(pool.map(work, range(2_000)))
    assert 1 <= most <= 3
    assert not slots._held
    assert not slots._waiting
    assert not slots._moved
