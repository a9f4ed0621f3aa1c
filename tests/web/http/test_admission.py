"""How many requests are in progress at once: of one shop, and in all."""

from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from threading import Event
from typing import Any

import pytest
from flask.testing import FlaskClient
from sqlalchemy import Engine, update
from werkzeug.test import TestResponse

from tests.support.people import Browser, add_member
from tests.support.refusals import refused
from tests.support.shop_builder import ShopBuilder, writing
from tests.support.waiting import PATIENCE_SECONDS, wait_until
from warehouse.tables import api_key
from web.http.admission import MAX_IN_PROGRESS, PER_SHOP
from web.http.services import services_of
from web.limits.slots import THREADS, Slots

Answer = Future[Any]


class Held:
    """Requests that last until they are told to end."""

    def __init__(self, client: FlaskClient) -> None:
        self._app = client.application
        self._pool = ThreadPoolExecutor(3 * THREADS)
        self.go_on = Event()
        self.working = 0

    def work(self, *_: object) -> list[Any]:
        """In place of the list of forms."""
        self.working += 1
        self.go_on.wait(PATIENCE_SECONDS)
        return []

    def ask(self, key: str, **more: str) -> Answer:
        headers = {"Authorization": f"Bearer {key}", **more}
        client = self._app.test_client(use_cookies=False)
        return self._pool.submit(lambda: client.get("/v1/forms", headers=headers))


@pytest.fixture
def held(client: FlaskClient, monkeypatch: pytest.MonkeyPatch) -> Iterator[Held]:
    held = Held(client)
    monkeypatch.setattr("web.api.forms.forms_table.list_forms", held.work)
    yield held
    held.go_on.set()


def known(client: FlaskClient, key: str) -> str:
    """A key that has been used before."""
    client.get("/v1/attribution", headers={"Authorization": f"Bearer {key}"})
    return key


def test_sixteen_tiles_of_one_key_are_answered_whole(
    client: FlaskClient, shop: ShopBuilder, held: Held
) -> None:
    for key in (known(client, shop.mint()), shop.mint()):
        held.go_on.clear()
        tiles = [held.ask(key) for _ in range(16)]
        wait_until(lambda: held.working > 0)
        held.go_on.set()
        assert {tile.result(PATIENCE_SECONDS).status_code for tile in tiles} == {200}


def test_beyond_its_share_a_shop_is_refused_and_another_is_not(
    client: FlaskClient, shop: ShopBuilder, engine: Engine, held: Held
) -> None:
    key = known(client, shop.mint())
    other = known(client, ShopBuilder(engine, "another.example").mint())
    asked = [held.ask(key) for _ in range(PER_SHOP + 5)]
    wait_until(lambda: sum(one.done() for one in asked) == 3)
    # Two more may wait for one of those in progress; the others are refused at once.
    for answer in (one.result() for one in asked if one.done()):
        refused(answer, 429, "rate_limited")
        assert answer.headers["Retry-After"] == "1"
    beside = held.ask(other)
    wait_until(lambda: held.working >= 3)
    held.go_on.set()
    assert beside.result(PATIENCE_SECONDS).status_code == 200
    statuses = [one.result(PATIENCE_SECONDS).status_code for one in asked]
    assert (statuses.count(200), statuses.count(429)) == (PER_SHOP + 2, 3)


def test_a_turn_that_takes_long_is_not_waited_for(
    client: FlaskClient, shop: ShopBuilder, held: Held
) -> None:
    """But then, too, only a few of a shop are at work."""
    key = known(client, shop.mint())
    asked = [held.ask(key) for _ in range(PER_SHOP)]
    wait_until(lambda: held.working == 4)
    held.go_on.set()
    assert {one.result(PATIENCE_SECONDS).status_code for one in asked} == {200}


def test_a_made_up_cookie_makes_no_other_sender(
    client: FlaskClient, shop: ShopBuilder, engine: Engine, held: Held
) -> None:
    key = known(client, shop.mint())
    other = known(client, ShopBuilder(engine, "another.example").mint())
    asked = [held.ask(key, Cookie=f"x={number}") for number in range(8)]
    wait_until(lambda: held.working == 4)
    for _ in range(20):
        known(client, other)
    assert held.working == 4
    held.go_on.set()
    assert {one.result(PATIENCE_SECONDS).status_code for one in asked} == {200}


def test_a_slow_warehouse_is_no_fault_of_the_shop(
    client: FlaskClient, shop: ShopBuilder, monkeypatch: pytest.MonkeyPatch
) -> None:
    key, reads = known(client, shop.mint()), Slots(2, 1, seconds=0.01)
    monkeypatch.setattr(services_of(client.application).admission, "_reads", reads)
    with reads.hold(shop.key):
        answer = client.get("/v1/forms", headers={"Authorization": f"Bearer {key}"})
        refused(answer, 503, "unavailable")
        # The page of an error loads it.
        assert client.get("/settings/static/pages.css", buffered=True).status_code == 200


def test_sign_ins_and_writes_do_not_wait_for_each_other(
    client: FlaskClient, shop: ShopBuilder, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    add_member(engine, shop)
    key, admission = known(client, shop.mint()), services_of(client.application).admission
    sign_ins, writes = (Slots(1, 1, seconds=0.01) for _ in range(2))
    monkeypatch.setattr(admission, "_sign_ins", sign_ins)
    monkeypatch.setattr(admission, "_writes", writes)

    def create() -> TestResponse:
        headers = {"Authorization": f"Bearer {key}"}
        return client.post("/v1/forms", json={"name": "A", "schema": {}}, headers=headers)

    with sign_ins.hold("somebody else"):
        assert Browser(client).sign_in().status_code == 503
        assert create().status_code == 201
    with writes.hold("somebody else"):
        assert Browser(client).sign_in().status_code == 302
        refused(create(), 503, "unavailable")


class LateBody:
    """A body that comes when its client is told to send it."""

    def __init__(self) -> None:
        self.is_awaited, self.comes = Event(), Event()

    def read(self, _size: int = -1) -> bytes:
        self.is_awaited.set()
        self.comes.wait(PATIENCE_SECONDS)
        return b""


def test_a_body_that_does_not_come_takes_no_place_from_others(
    client: FlaskClient, shop: ShopBuilder, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    add_member(engine, shop)
    key, admission = known(client, shop.mint()), services_of(client.application).admission
    for name in ("_sign_ins", "_writes", "_reads"):
        monkeypatch.setattr(admission, name, Slots(1, 1, seconds=0.01))
    form = "application/x-www-form-urlencoded"
    headers = {"Authorization": f"Bearer {key}"}
    late, pool = [LateBody(), LateBody()], ThreadPoolExecutor(2)
    sent = [
        pool.submit(
            client.application.test_client().post,
            path,
            headers=headers,
            content_type=type,
            environ_overrides={"wsgi.input": body, "CONTENT_LENGTH": "100"},
        )
        for body, path, type in zip(
            late, ("/settings/sign-in", "/v1/forms"), (form, "application/json"), strict=True
        )
    ]
    for body in late:
        assert body.is_awaited.wait(PATIENCE_SECONDS)
    assert Browser(client).sign_in().status_code == 302
    made = client.post("/v1/forms", json={"name": "A", "schema": {}}, headers=headers)
    assert made.status_code == 201
    for body in late:
        body.comes.set()
    assert [answer.result(PATIENCE_SECONDS).status_code for answer in sent] == [400, 400]


def test_a_stranger_takes_no_place_of_a_file(
    client: FlaskClient, shop: ShopBuilder, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And is refused before long."""
    uploads = Slots(1, 1, seconds=0)
    monkeypatch.setattr(services_of(client.application).admission, "_uploads", uploads)
    with uploads.hold("a shop"):
        kind = "multipart/form-data; boundary=x"
        statuses = [client.post("/data/drop", content_type=kind).status_code for _ in range(302)]
    assert statuses == [302] * 300 + [429] * 2


def test_a_revoked_key_takes_no_place_of_its_shop(
    client: FlaskClient, shop: ShopBuilder, held: Held
) -> None:
    revoked = known(client, shop.mint())
    with writing(shop.engine) as connection:
        connection.execute(update(api_key).values(revoked_at=1))
    known(client, revoked)
    key = known(client, shop.mint())
    asked = [held.ask(key) for _ in range(PER_SHOP)]
    wait_until(lambda: held.working == 4)
    assert held.ask(revoked).result(PATIENCE_SECONDS).status_code == 401
    held.go_on.set()
    assert {one.result(PATIENCE_SECONDS).status_code for one in asked} == {200}


def test_the_last_threads_are_for_health(client: FlaskClient, engine: Engine, held: Held) -> None:
    shops = (MAX_IN_PROGRESS + PER_SHOP - 1) // PER_SHOP + 1
    keys = [
        known(client, ShopBuilder(engine, f"shop-{number}.example").mint())
        for number in range(shops)
    ]
    asked = [held.ask(key) for key in keys for _ in range(PER_SHOP)]
    # Where no request ends, the others are refused, and wait in no thread.
    wait_until(lambda: sum(not one.done() for one in asked) <= MAX_IN_PROGRESS)
    assert {one.result().status_code for one in asked if one.done()} <= {429, 503}
    assert client.get("/healthz").status_code == 200
    assert client.get("/readyz").status_code == 200


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
