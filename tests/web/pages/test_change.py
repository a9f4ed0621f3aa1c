"""A form is checked before its transaction begins: what takes long keeps nobody's writes waiting."""

from collections.abc import Callable
from threading import Thread

import pytest
from flask.testing import FlaskClient
from sqlalchemy import Engine

from tests.support.fixtures import Clock
from tests.support.people import (
    ACCOUNT,
    CONNECTIONS,
    HOME,
    NEW,
    PASSWORD,
    SIGN_IN,
    Browser,
    new_link,
)
from tests.support.shop_builder import ShopBuilder, writing
from tests.support.waiting import PATIENCE_SECONDS, wait_until
from warehouse.tables import shop as shop_table
from web.auth import members, passwords
from web.auth.audit import OPERATOR, Change
from web.auth.sign_in_limits import PER_BROWSER, PER_NETWORK
from web.http.services import services_of

ANOTHER = "quite another sentence"
WEAK = "passwordpassword"


def test_a_form_that_is_refused_waits_for_no_lock(
    browser: Browser, engine: Engine, clock: Clock
) -> None:
    browser.signed_in()
    browser.mint("analytics:read")
    rotate = next(
        part
        for part in browser.get(CONNECTIONS).get_data(as_text=True).split('"')
        if part.endswith("/rotate")
    )
    token = browser.form(CONNECTIONS)["csrf_token"]
    link = new_link(engine, "ada@example.com", clock.now)
    with writing(engine) as holder:
        # Another writes meanwhile: on SQLite nobody else can.
        holder.execute(shop_table.update().values(name="Another name"))
        for path, status, sent in (
            (ACCOUNT, 422, {"old": "x", "password": "x", "again": "x"}),
            (NEW, 422, {"scopes": "x"}),
            ("/settings/connections/write-keys/new", 422, {}),
            (rotate, 422, {"grace": "x"}),
            ("/settings/connections/cred_x/revoke", 404, {}),
            ("/settings/shop", 404, {"shop": "x"}),
            ("/setup/shop", 403, {}),
            ("/data/forget", 302, {"kind": "x"}),
            ("/data/forget", 200, {"kind": "visitor", "identifier": "x"}),
            (link, 422, {"password": "x"}),
            (SIGN_IN, 422, {}),
        ):
            answer = browser.client.post(path, data={"csrf_token": token, **sent})
            assert answer.status_code == status, path


@pytest.fixture
def slow_work(client: FlaskClient, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Slow work since then: scores and hashes. No transaction that writes is open meanwhile."""
    done: list[str] = []
    writers = services_of(client.application).database._writer.pool

    def watched(name: str, work: Callable[..., object]) -> Callable[..., object]:
        def call(*values: object) -> object:
            assert writers.checkedout() == 0, name  # type: ignore[attr-defined]
            done.append(name)
            return work(*values)

        return call

    for name in ("require_strong", "matches", "hash_password"):
        monkeypatch.setattr(passwords, name, watched(name, getattr(passwords, name)))
    return done


def test_no_transaction_is_open_while_passwords_are_scored_and_hashed(
    browser: Browser, engine: Engine, clock: Clock, slow_work: list[str]
) -> None:
    browser.signed_in()
    changed = browser.post(ACCOUNT, old=PASSWORD, password=ANOTHER, again=ANOTHER)
    assert (changed.status_code, changed.location) == (302, ACCOUNT)
    link = new_link(engine, "ada@example.com", clock.now)
    assert browser.post(link, password=PASSWORD, again=PASSWORD).status_code == 302
    assert slow_work == [
        *("matches", "require_strong", "matches", "hash_password"),
        *("require_strong", "hash_password"),
    ]


@pytest.mark.parametrize("path", [ACCOUNT, "a link"])
def test_who_tries_passwords_has_few_scored(
    path: str, browser: Browser, engine: Engine, clock: Clock, slow_work: list[str]
) -> None:
    browser.signed_in()
    if path != ACCOUNT:
        path = new_link(engine, "ada@example.com", clock.now)
    slow_work.clear()
    for _ in range(PER_BROWSER.times):
        weak = browser.post(path, old="x", password=WEAK, again=WEAK)
        assert weak.status_code == 422
        assert "too easy to guess" in weak.get_data(as_text=True)
    for _ in range(3):
        refused = browser.post(path, old="x", password=WEAK, again=WEAK)
        assert refused.status_code == 429
        assert int(refused.headers["Retry-After"]) > 0
    assert slow_work == ["require_strong"] * PER_BROWSER.times


def test_a_long_password_is_judged_by_its_beginning() -> None:
    with pytest.raises(passwords.Weak):
        passwords.require_strong("abc" * 11 + "the cat sleeps on my laptop", [])
    passwords.require_strong("the cat sleeps on my laptop" + "abc" * 11, [])


def test_a_network_that_was_refused_takes_nothing_from_others(
    client: FlaskClient, browser: Browser, engine: Engine, clock: Clock
) -> None:
    form = browser.form(SIGN_IN)

    def attempt(number: int) -> int:
        sent = {**form, "email": f"{number}@example.com", "password": "a guess"}
        return browser.client.post(SIGN_IN, data=sent).status_code

    for number in range(PER_NETWORK.times):
        assert attempt(number) == 403
    assert attempt(0) == 429
    with writing(engine) as holder, passwords.place_to_hash("a"), passwords.place_to_hash("b"):
        holder.execute(shop_table.update().values(name="Another name"))
        assert attempt(0) == 429
    # No longer than the limit says, and also where a clock was ahead meanwhile.
    clock.now += PER_NETWORK.interval
    assert attempt(0) == 403
    assert attempt(0) == 429
    clock.now -= 2 * PER_NETWORK.window
    assert attempt(0) in (403, 429)


def test_a_sign_in_waits_for_a_place_to_hash(
    browser: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(passwords._hashing, "_seconds", PATIENCE_SECONDS)
    form = {**browser.form(SIGN_IN), "email": "ada@example.com", "password": PASSWORD}
    answers: list[str | None] = []
    with passwords.place_to_hash("a"), passwords.place_to_hash("b"):
        sign_in = Thread(
            target=lambda: answers.append(browser.client.post(SIGN_IN, data=form).location)
        )
        sign_in.start()
        wait_until(lambda: passwords._hashing._waiting)
        assert answers == []
    sign_in.join()
    assert answers == [HOME]


def test_one_network_takes_one_place_to_hash(
    browser: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(passwords._hashing, "_seconds", 0)
    with passwords.place_to_hash("192.0.2.1"):
        with pytest.raises(passwords.Busy), passwords.place_to_hash("192.0.2.1"):
            pass
        assert browser.sign_in().location == HOME
    with passwords.place_to_hash("192.0.2.1"):
        pass


def test_rights_that_change_meanwhile_change_nothing(
    browser: Browser, engine: Engine, shop: ShopBuilder, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between the check of the form and the transaction that writes."""
    browser.signed_in()
    form = {**browser.form(NEW), "name": "A tool", "scopes": "analytics:read"}
    database = services_of(browser.client.application).database
    write = database.write

    def changed_meanwhile() -> object:
        with writing(engine) as connection:
            ada = members.find(connection, shop.shop_id, "ada@example.com")
            members.set_permissions(Change(connection, OPERATOR, 0), ada, ())
        return write()

    monkeypatch.setattr(database, "write", changed_meanwhile)
    refused = browser.client.post(NEW, data=form)
    monkeypatch.undo()
    assert refused.status_code == 403
    assert "Your permissions or your shop changed meanwhile." in refused.get_data(as_text=True)
    assert "A tool" not in browser.get(CONNECTIONS).get_data(as_text=True)
