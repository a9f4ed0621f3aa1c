"""How many requests are in progress at once: of one shop, and in all."""

from concurrent.futures import Future, ThreadPoolExecutor
from threading import Event
from time import monotonic, sleep

import pytest
from flask.testing import FlaskClient

from tests.support.refusals import refused
from tests.support.shop_builder import ShopBuilder
from tests.support.waiting import PATIENCE_SECONDS, wait_until
from web.http import concurrency_limits
from web.http.concurrency_limits import (
    AT_THE_DOOR,
    IN_ALL,
    PER_SHOP,
    Admission,
    ConcurrencyLimits,
)
from web.http.errors import Refusal
from web.server.threads import THREADS

GREEDY, OTHER = 1, 2
# Seconds, in place of those that a request may wait: more than a test takes.
LONG = 3_600.0


class Service:
    """A process whose requests last until they are told to end."""

    def __init__(self) -> None:
        self.limits = ConcurrencyLimits()
        self._pool = ThreadPoolExecutor(4 * THREADS)
        self._end = Event()
        self.working: list[int] = []

    def ask(self, shop_key: int, *, reads: bool = False) -> Future[int]:
        return self._pool.submit(self._work, shop_key, reads)

    def _work(self, shop_key: int, reads: bool) -> int:
        """The status of the answer."""
        try:
            admission = self.limits.admit()
        except Refusal as refusal:
            return refusal.status
        try:
            admission.enter(shop_key, takes_turns=reads)
            self.working.append(shop_key)
            self._end.wait(PATIENCE_SECONDS)
            return 200
        except Refusal as refusal:
            return refusal.status
        finally:
            admission.end()

    def end(self) -> None:
        self._end.set()


def test_one_shop_holds_half_of_the_threads() -> None:
    service = Service()
    asked = [service.ask(GREEDY) for _ in range(THREADS)]
    wait_until(lambda: sum(one.done() for one in asked) == THREADS - PER_SHOP)
    assert {one.result() for one in asked if one.done()} == {429}
    # The threads that are left are there for others.
    others = [service.ask(OTHER) for _ in range(IN_ALL - PER_SHOP)]
    wait_until(lambda: service.working.count(OTHER) == len(others))
    service.end()
    assert sum(one.result() == 200 for one in asked) == PER_SHOP
    assert {one.result() for one in others} == {200}


def test_short_requests_wait_a_moment_and_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(concurrency_limits, "_DOOR_SECONDS", PATIENCE_SECONDS)
    service = Service()
    asked = [service.ask(GREEDY) for _ in range(PER_SHOP)]
    wait_until(lambda: len(service.working) == PER_SHOP)
    asked += [service.ask(GREEDY) for _ in range(AT_THE_DOOR)]
    service.end()
    assert {one.result() for one in asked} == {200}


def test_the_last_threads_are_for_health(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where no request has ended for long, the next ones are refused at once, and wait in no thread."""
    monkeypatch.setattr(concurrency_limits, "_STUCK_SECONDS", LONG)
    service = Service()
    asked = [service.ask(shop_key) for shop_key in range(IN_ALL)]
    wait_until(lambda: len(service.working) == IN_ALL)
    monkeypatch.setattr(concurrency_limits, "monotonic", lambda: monotonic() + LONG)
    assert [service.ask(OTHER).result(PATIENCE_SECONDS) for _ in range(20)] == [503] * 20
    service.end()
    assert {one.result() for one in asked} == {200}


def test_the_readers_of_a_shop_take_turns_where_others_ask(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(concurrency_limits, "_TURN_SECONDS", LONG)
    limits = ConcurrencyLimits()
    first = [admitted(limits, GREEDY) for _ in range(3)]
    # Nobody else has asked so far: they work side by side.
    other = admitted(limits, OTHER)
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(admitted, limits, GREEDY)
        sleep(0.1)
        assert not waiting.done()
        for one in first:
            one.end()
        waiting.result(PATIENCE_SECONDS).end()
    other.end()


def test_the_requests_of_a_browser_all_pass() -> None:
    """Six at once, in one process, beside another shop."""
    limits = ConcurrencyLimits()
    admitted(limits, GREEDY).end()
    admitted(limits, OTHER).end()
    with ThreadPoolExecutor(6) as browser:
        # None is refused, which would raise.
        list(browser.map(lambda _: admitted(limits, GREEDY).end(), range(60)))


def admitted(limits: ConcurrencyLimits, shop_key: int) -> Admission:
    admission = limits.admit()
    admission.enter(shop_key, takes_turns=True)
    return admission


def test_a_place_is_given_back_whatever_becomes_of_a_request(
    client: FlaskClient, shop: ShopBuilder, monkeypatch: pytest.MonkeyPatch
) -> None:
    headers = {"Authorization": f"Bearer {shop.mint()}"}

    def fail(*_: object) -> None:
        raise RuntimeError

    with monkeypatch.context() as patched:
        patched.setattr("web.api.forms.forms_table.list_forms", fail)
        for _ in range(2 * THREADS):
            refused(client.get("/v1/forms", headers=headers), 500, "internal_error")
            refused(client.post("/v1/forms", headers=headers), 415, "unsupported_media_type")
            refused(client.get("/v1/forms"), 401, "unauthorized")
            assert client.get("/settings/connections").status_code == 302
    assert client.get("/v1/forms", headers=headers).status_code == 200
