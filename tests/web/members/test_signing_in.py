"""Signing in and out, and what ends a sign-in."""

from collections.abc import Callable
from urllib.parse import quote

import pytest
from argon2 import PasswordHasher
from flask.testing import FlaskClient
from sqlalchemy import Connection, Engine, select

from tests.web.builders import ShopBuilder, writing
from tests.web.conftest import Clock
from tests.web.members.people import (
    CONNECTIONS,
    PASSWORD,
    SIGN_IN,
    Browser,
    add_member,
    new_link,
    token_of,
)
from warehouse.days import MICROS_PER_SECOND
from warehouse.schema import member, password_link, sign_in
from web.audit import OPERATOR
from web.members import accounts, passwords, sign_ins

# Before a fixture makes it cheap.
_NOBODYS = passwords.NOBODYS


def test_in_and_out(browser: Browser) -> None:
    assert not browser.is_in()
    assert browser.sign_in("  Ada@Example.COM ").location == CONNECTIONS
    assert browser.is_in()
    assert browser.get(SIGN_IN).location == CONNECTIONS
    before = token_of(browser)
    assert browser.post("/settings/sign-out", CONNECTIONS).location == SIGN_IN
    assert not browser.is_in()
    browser.client.set_cookie("member", before)
    assert not browser.is_in()


def test_one_answer_and_the_same_work_whoever_is_refused(
    client: FlaskClient, engine: Engine, shop: ShopBuilder, monkeypatch: pytest.MonkeyPatch
) -> None:
    add_member(engine, shop, "ada@example.com")
    add_member(engine, shop, "disabled@example.com")
    add_member(engine, shop, "invited@example.com", password=False)
    with writing(engine) as connection:
        who = accounts.find(connection, shop.shop_id, "disabled@example.com")
        accounts.disable(connection, who, by=OPERATOR, now=0)
    hashes: list[str] = []
    verify = passwords._hasher.verify

    def counted(stored: str, password: str) -> bool:
        hashes.append(stored)
        return verify(stored, password)

    monkeypatch.setattr(
        passwords, "_hasher", type("Counting", (), {"verify": staticmethod(counted)})
    )
    answers = set()
    for email, password in (
        ("ada@example.com", "a wrong password"),
        ("nobody@example.com", PASSWORD),
        ("disabled@example.com", PASSWORD),
        ("invited@example.com", PASSWORD),
        ("invited@example.com", ""),
    ):
        answer = Browser(client).sign_in(email, password or "x")
        page = answer.get_data(as_text=True).replace(email, "")
        answers.add(
            (answer.status_code, page.partition("csrf_token")[0], page.rpartition("</form>")[2])
        )
    assert len(answers) == 1
    assert answers.pop()[0] == 403
    assert len(hashes) == 5


def test_the_hash_for_unknown_accounts_costs_what_a_real_one_does() -> None:
    assert not PasswordHasher().check_needs_rehash(_NOBODYS)
    assert PasswordHasher().hash("x").startswith("$argon2id$")
    assert not passwords.matches("", "nobody's")


def test_a_sign_in_does_not_keep_the_cookie_of_before(
    client: FlaskClient, browser: Browser
) -> None:
    browser.get(SIGN_IN)
    planted = token_of(browser)
    old_form = browser.form(SIGN_IN)["csrf_token"]
    browser.signed_in()
    assert token_of(browser) != planted
    assert browser.form(CONNECTIONS)["csrf_token"].split(".")[0] != old_form.split(".")[0]
    attacker = Browser(client)
    attacker.client.set_cookie("member", planted)
    assert not attacker.is_in()


def test_tokens_are_kept_as_hashes(browser: Browser, engine: Engine, clock: Clock) -> None:
    link = new_link(engine, "ada@example.com", clock.now)
    browser.signed_in()
    with browser.client.session_transaction(CONNECTIONS) as cookie:
        token = cookie["_user_id"]
    with engine.connect() as connection:
        (row,) = connection.execute(select(sign_in))
        (linked,) = connection.execute(select(password_link))
        (person,) = connection.execute(select(member))
    assert len(token) == 43
    assert token not in str(row)
    assert link.rpartition("/")[2] not in str(linked)
    assert person.password_hash.startswith("$argon2id$")


def test_idle_and_absolute_expiry(browser: Browser, clock: Clock) -> None:
    browser.signed_in()
    begun = clock.now
    clock.now = begun + sign_ins.IDLE - 1
    assert browser.is_in()
    _let_last_use_be_written(browser)
    clock.now += sign_ins.IDLE - 1
    assert browser.is_in()
    _let_last_use_be_written(browser)
    clock.now += sign_ins.IDLE
    assert not browser.is_in()

    browser.signed_in()
    begun = clock.now
    while clock.now + sign_ins.IDLE // 2 < begun + sign_ins.LIFETIME:
        clock.now += sign_ins.IDLE // 2
        assert browser.is_in()
        _let_last_use_be_written(browser)
    clock.now = begun + sign_ins.LIFETIME
    assert not browser.is_in()


def test_a_use_is_recorded_once_a_minute(browser: Browser, engine: Engine, clock: Clock) -> None:
    browser.signed_in()
    seen = []
    for seconds in (0, 59, 1, 1):
        clock.now += seconds * MICROS_PER_SECOND
        assert browser.is_in()
        _let_last_use_be_written(browser)
        with engine.connect() as connection:
            seen.append(connection.execute(select(sign_in.c.seen_at)).scalar_one())
    first = clock.now - 61 * MICROS_PER_SECOND
    assert [instant - first for instant in seen] == [0, 0, 60_000_000, 60_000_000]


def _let_last_use_be_written(browser: Browser) -> None:
    later = browser.client.application.extensions["later"]
    later.stop()
    later._thread = None


Ending = Callable[..., object]


def _disable(connection: Connection, who: accounts.Membership, now: int) -> None:
    accounts.disable(connection, who, by=OPERATOR, now=now)


def _reset(connection: Connection, who: accounts.Membership, now: int) -> None:
    accounts.reset_password(connection, who, by=OPERATOR, now=now)


def _set(connection: Connection, who: accounts.Membership, now: int) -> None:
    accounts.set_password(connection, who.member_key, "x", by=OPERATOR, now=now)


@pytest.mark.parametrize("ending", [_disable, _reset, _set])
def test_what_the_operator_ends_is_over_on_the_next_request(
    browser: Browser, engine: Engine, shop: ShopBuilder, clock: Clock, ending: Ending
) -> None:
    browser.signed_in()
    with writing(engine) as connection:
        ending(connection, accounts.find(connection, shop.shop_id, "ada@example.com"), clock.now)
    assert not browser.is_in()
    assert "You were signed out" in browser.get(SIGN_IN).get_data(as_text=True)
    assert browser.sign_in().status_code == 403


def test_a_sign_in_that_crosses_with_a_disabling_opens_nothing(
    engine: Engine, shop: ShopBuilder, ada: str, clock: Clock
) -> None:
    with writing(engine) as connection:
        who = accounts.find(connection, shop.shop_id, ada)
        accounts.disable(connection, who, by=OPERATOR, now=clock.now)
        token = sign_ins.start(connection, who.member_key, who.shop_key, clock.now)
        assert sign_ins.find(connection, token, clock.now) is None


def test_sign_in_leads_nowhere_else(browser: Browser, client: FlaskClient) -> None:
    for wanted, leads_to in (
        ("/settings/activity", "/settings/activity"),
        ("/settings/connections/new", "/settings/connections/new"),
        ("https://evil.example/settings", CONNECTIONS),
        ("//evil.example/settings", CONNECTIONS),
        ("/\\evil.example", CONNECTIONS),
        ("/settings/../../evil", CONNECTIONS),
        ("/settings//evil.example", CONNECTIONS),
        ("/settings/@evil.example", CONNECTIONS),
        ("/settingsx.evil.example", CONNECTIONS),
        ("/settings/activity\nSet-Cookie: a=b", CONNECTIONS),
        ("javascript:alert(1)", CONNECTIONS),
        ("", CONNECTIONS),
    ):
        path = f"{SIGN_IN}?next={quote(wanted, safe='')}"
        assert Browser(client).sign_in(path=path).location == leads_to, wanted


def test_a_page_asks_for_a_sign_in_and_then_shows(browser: Browser) -> None:
    asked = browser.get("/settings/activity")
    assert asked.location == "/settings/sign-in?next=/settings/activity"
    assert browser.sign_in(path=asked.location).location == "/settings/activity"


def test_two_shops_one_password(client: FlaskClient, engine: Engine, shop: ShopBuilder) -> None:
    other = ShopBuilder(engine, "other.myshopify.com")
    add_member(engine, shop, permissions=())
    add_member(engine, other)
    browser = Browser(client).signed_in()
    assert browser.get("/settings/connections/new").status_code == 403
    entered = browser.post("/settings/shop", CONNECTIONS, shop="other.myshopify.com")
    assert entered.location == CONNECTIONS
    assert browser.get("/settings/connections/new").status_code == 200
    ShopBuilder(engine, "third.myshopify.com")
    refused = browser.post("/settings/shop", CONNECTIONS, shop="third.myshopify.com")
    assert refused.status_code == 404
    with writing(engine) as connection:
        who = accounts.find(connection, "other.myshopify.com", "ada@example.com")
        accounts.disable(connection, who, by=OPERATOR, now=0)
    assert not browser.is_in()
    assert (
        browser.signed_in()
        .post("/settings/shop", CONNECTIONS, shop="other.myshopify.com")
        .status_code
        == 404
    )
