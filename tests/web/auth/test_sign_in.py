"""Sign in, sign out, and the events that end a sign-in."""

import re
from collections.abc import Callable
from urllib.parse import quote

import pytest
from argon2 import PasswordHasher
from flask.testing import FlaskClient
from sqlalchemy import Connection, Engine, select

from tests.support.fixtures import Clock
from tests.support.people import (
    ACCOUNT,
    CONNECTIONS,
    HOME,
    NEW,
    PASSWORD,
    SIGN_IN,
    Browser,
    add_member,
    await_background_writes,
    new_link,
    token_of,
)
from tests.support.shop_builder import ShopBuilder, writing
from warehouse.domain.time import MICROS_PER_SECOND
from warehouse.tables import member, one_time_link, sign_in
from web.auth import members, passwords, sessions
from web.auth.audit import OPERATOR, Change

# Read at import: a fixture replaces it by a cheap one.
_DUMMY_HASH = passwords.DUMMY_HASH


def test_sign_in_and_sign_out(browser: Browser) -> None:
    assert not browser.is_in()
    assert browser.sign_in("  Ada@Example.COM ").location == "/"
    assert browser.is_in()
    assert browser.get(SIGN_IN).location == "/"
    before = token_of(browser)
    assert browser.post("/settings/sign-out", CONNECTIONS).location == SIGN_IN
    assert not browser.is_in()
    browser.client.set_cookie("member", before)
    assert not browser.is_in()


def test_each_refused_sign_in_has_the_same_answer_and_work(
    client: FlaskClient, engine: Engine, shop: ShopBuilder, monkeypatch: pytest.MonkeyPatch
) -> None:
    add_member(engine, shop, "ada@example.com")
    add_member(engine, shop, "disabled@example.com")
    add_member(engine, shop, "invited@example.com", password=False)
    with writing(engine) as connection:
        disabled = members.find(connection, shop.shop_id, "disabled@example.com")
        members.disable(Change(connection, OPERATOR, 0), disabled)
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


def test_dummy_hash_costs_as_much_as_a_real_one() -> None:
    assert not PasswordHasher().check_needs_rehash(_DUMMY_HASH)
    assert PasswordHasher().hash("x").startswith("$argon2id$")
    assert not passwords.matches("", "nobody's")


def test_sign_in_replaces_the_cookie(client: FlaskClient, browser: Browser) -> None:
    browser.get(SIGN_IN)
    planted = token_of(browser)
    old_form = browser.form(SIGN_IN)["csrf_token"]
    browser.signed_in()
    assert token_of(browser) != planted
    assert browser.form(CONNECTIONS)["csrf_token"].split(".")[0] != old_form.split(".")[0]
    attacker = Browser(client)
    attacker.client.set_cookie("member", planted)
    assert not attacker.is_in()


def test_tokens_are_stored_as_hashes(browser: Browser, engine: Engine, clock: Clock) -> None:
    link = new_link(engine, "ada@example.com", clock.now)
    browser.signed_in()
    with browser.client.session_transaction(CONNECTIONS) as cookie:
        token = cookie["token"]
    with engine.connect() as connection:
        (row,) = connection.execute(select(sign_in))
        (linked,) = connection.execute(select(one_time_link))
        (person,) = connection.execute(select(member))
    assert len(token) == 43
    assert token not in str(row)
    assert link.rpartition("/")[2] not in str(linked)
    assert person.password_hash.startswith("$argon2id$")


def test_sign_in_expires_when_idle_and_when_old(browser: Browser, clock: Clock) -> None:
    browser.signed_in()
    begun = clock.now
    clock.now = begun + sessions.IDLE_LIMIT - 1
    assert browser.is_in()
    await_background_writes(browser.client)
    clock.now += sessions.IDLE_LIMIT - 1
    assert browser.is_in()
    await_background_writes(browser.client)
    clock.now += sessions.IDLE_LIMIT
    assert not browser.is_in()

    browser.signed_in()
    begun = clock.now
    while clock.now + sessions.IDLE_LIMIT // 2 < begun + sessions.LIFETIME:
        clock.now += sessions.IDLE_LIMIT // 2
        assert browser.is_in()
        await_background_writes(browser.client)
    clock.now = begun + sessions.LIFETIME
    assert not browser.is_in()


def test_use_is_recorded_once_a_minute(browser: Browser, engine: Engine, clock: Clock) -> None:
    browser.signed_in()
    seen = []
    for seconds in (0, 59, 1, 1):
        clock.now += seconds * MICROS_PER_SECOND
        assert browser.is_in()
        await_background_writes(browser.client)
        with engine.connect() as connection:
            seen.append(connection.execute(select(sign_in.c.seen_at)).scalar_one())
    first = clock.now - 61 * MICROS_PER_SECOND
    assert [instant - first for instant in seen] == [0, 0, 60_000_000, 60_000_000]


def _disable(connection: Connection, person: members.Member, now: int) -> None:
    members.disable(Change(connection, OPERATOR, now), person)


def _reset(connection: Connection, person: members.Member, now: int) -> None:
    members.reset_password(Change(connection, OPERATOR, now), person)


def _set(connection: Connection, person: members.Member, now: int) -> None:
    members.set_password(Change(connection, OPERATOR, now), person.member_key, "x")


@pytest.mark.parametrize("ending", [_disable, _reset, _set])
def test_operator_ends_a_sign_in_at_once(
    browser: Browser, engine: Engine, shop: ShopBuilder, clock: Clock, ending: Callable[..., object]
) -> None:
    browser.signed_in()
    with writing(engine) as connection:
        ending(connection, members.find(connection, shop.shop_id, "ada@example.com"), clock.now)
    assert not browser.is_in()
    assert "You were signed out" in browser.get(SIGN_IN).get_data(as_text=True)
    assert browser.sign_in().status_code == 403


def test_sign_in_of_a_disabled_member_is_not_found(
    engine: Engine, shop: ShopBuilder, ada: str, clock: Clock
) -> None:
    with writing(engine) as connection:
        person = members.find(connection, shop.shop_id, ada)
        change = Change(connection, OPERATOR, clock.now)
        members.disable(change, person)
        token = sessions.start(change, person.member_key, person.shop_key, "Firefox")
        assert sessions.find(connection, token, clock.now) is None


def test_several_requests_find_that_a_sign_in_has_ended(browser: Browser, clock: Clock) -> None:
    """The form of the page to sign in stays valid, although the answer to another one comes after it."""
    browser.signed_in().get(ACCOUNT)
    before = token_of(browser)
    clock.now += sessions.IDLE_LIMIT
    browser.get(ACCOUNT)
    form = browser.form(SIGN_IN)
    late = Browser(browser.client)
    late.client.set_cookie("member", before)
    late.get(ACCOUNT)
    browser.client.set_cookie("member", token_of(late))
    data = {**form, "email": "ada@example.com", "password": PASSWORD}
    assert browser.client.post(SIGN_IN, data=data).status_code == 302
    assert browser.is_in()


def test_sign_in_redirects_only_to_pages(browser: Browser, client: FlaskClient) -> None:
    for wanted, leads_to in (
        ("/settings/activity", "/settings/activity"),
        ("/revenue?range=2026-01-01..2026-01-31", "/revenue?range=2026-01-01..2026-01-31"),
        ("/settings/connections/new", "/settings/connections/new"),
        ("/revenue?sort=utm.-orders&q=a+b%20*~:/?@", "/revenue?sort=utm.-orders&q=a+b%20*~:/?@"),
        ("https://evil.example/settings", "/"),
        ("/?next=/\\evil.example", "/"),
        ("/%2Fevil.example", "/"),
        ("/revenue#//evil.example", "/"),
        ("//evil.example/settings", "/"),
        ("/\\evil.example", "/"),
        ("/settings/../../evil", "/"),
        ("/settings//evil.example", "/"),
        ("/settings/@evil.example", "/"),
        ("/settingsx.evil.example", "/"),
        ("/settings/activity\nSet-Cookie: a=b", "/"),
        ("javascript:alert(1)", "/"),
        ("", "/"),
    ):
        path = f"{SIGN_IN}?next={quote(wanted, safe='')}"
        assert Browser(client).sign_in(path=path).location == leads_to, wanted


def test_sign_in_returns_to_the_wanted_page(browser: Browser) -> None:
    redirect = browser.get("/settings/activity")
    assert redirect.location == "/settings/sign-in?next=/settings/activity"
    assert browser.sign_in(path=redirect.location).location == "/settings/activity"


def test_a_session_that_ends_goes_on_at_the_same_view(browser: Browser, clock: Clock) -> None:
    """However the address was made: by a link, which quotes more, or by a form, which quotes less."""
    form = "8f0e0000-0000-4000-8000-000000000001"
    for query in (
        "range=2026-01-01..2026-01-31&compare=year&sort=answers.-orders&field=Wie%20alt%3F&by=a%2Bb",
        "range=&from=2026-01-01&to=2026-01-31&compare=none&q=*+%C3%A4~",
        "field=%E2%80%AE%D7%90%3Cb%3E%22%27%5C&range=90d",
    ):
        view = f"/forms/{form}?{query}"
        browser.signed_in()
        clock.now += sessions.IDLE_LIMIT
        ended = browser.get(view)
        assert ended.status_code == 302
        page = browser.get(ended.location).text
        assert "You were signed out. Sign in again to continue." in page
        assert "Done:" not in page
        assert browser.sign_in(path=ended.location).location == view


def test_another_shop_is_entered_on_the_same_page(
    browser: Browser, engine: Engine, shop: ShopBuilder
) -> None:
    other = ShopBuilder(engine, "other.myshopify.com")
    add_member(engine, other)
    browser.signed_in()
    days = "range=2026-01-01..2026-01-31&compare=year"
    for page, leads_to in (
        ("/", "/"),
        (f"/?{days}", f"/?{days}"),
        ("/revenue?", "/revenue"),
        (f"/revenue?{days}&sort=campaigns.-orders&campaign=spring", f"/revenue?{days}"),
        ("/ads?from=2026-01-01&to=&range=", "/ads?from=2026-01-01"),
        # A form of one shop is none of another's.
        (f"/forms/8f0e0000-0000-4000-8000-000000000001?{days}&field=x", f"/forms?{days}"),
        ("/settings/account?", "/settings/account"),
        ("/settings/activity?before=7", "/settings/activity"),
        ("/settings/connections/cred_1/rotate?", "/settings/connections"),
        ("/settings/shop?", "/"),
        ("/settings", "/"),
        ("//evil.example/forms", "/"),
        ("https://evil.example/", "/"),
        ("/v1/forms", "/"),
        ("", "/"),
    ):
        entered = browser.post("/settings/shop", CONNECTIONS, shop=other.shop_id, next=page)
        assert entered.location == leads_to, page


def test_every_page_has_the_shops_of_its_member(
    browser: Browser, engine: Engine, shop: ShopBuilder
) -> None:
    add_member(engine, ShopBuilder(engine, "other.myshopify.com"))
    browser.signed_in()
    for path in (
        *("/", "/forms", "/revenue", "/discounts", "/ads", "/customers"),
        *(CONNECTIONS, NEW, "/settings/activity", "/settings/account"),
    ):
        page = browser.get(f"{path}?range=7d", headers={"Accept": "text/html"}).text
        assert f'name="next" value="{path}?range=7d"' in page, path
        assert re.findall(r"<option[^>]*>([^<]+\.myshopify\.com)</option>", page) == [
            shop.shop_id,
            "other.myshopify.com",
        ]


def test_member_of_two_shops(client: FlaskClient, engine: Engine, shop: ShopBuilder) -> None:
    other = ShopBuilder(engine, "other.myshopify.com")
    add_member(engine, shop, permissions=())
    add_member(engine, other)
    browser = Browser(client).signed_in()
    assert browser.get("/settings/connections/new").status_code == 403
    entered = browser.post("/settings/shop", CONNECTIONS, shop="other.myshopify.com")
    assert entered.location == HOME
    assert browser.get("/settings/connections/new").status_code == 200
    ShopBuilder(engine, "third.myshopify.com")
    refused = browser.post("/settings/shop", CONNECTIONS, shop="third.myshopify.com")
    assert refused.status_code == 404
    with writing(engine) as connection:
        ada = members.find(connection, "other.myshopify.com", "ada@example.com")
        members.disable(Change(connection, OPERATOR, 0), ada)
    assert not browser.is_in()
    assert (
        browser.signed_in()
        .post("/settings/shop", CONNECTIONS, shop="other.myshopify.com")
        .status_code
        == 404
    )
