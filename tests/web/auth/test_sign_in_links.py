"""One-time links that sign a member in without a password."""

import re
from collections.abc import Callable

import pytest
from flask.testing import FlaskClient
from sqlalchemy import Connection, Engine, select

from tests.support.fixtures import Clock
from tests.support.people import CONNECTIONS, HOME, SIGN_IN, Browser, add_member, token_of
from tests.support.shop_builder import ShopBuilder, writing
from warehouse.tables import one_time_link, sign_in
from web.auth import audit, members, one_time_links, sessions
from web.auth import sign_in as auth
from web.auth.audit import OPERATOR, Change, OperatorError

ADA, BOB = "ada@example.com", "bob@example.com"


def new_link(engine: Engine, clock: Clock, shop: ShopBuilder, email: str = ADA) -> str:
    """The path of a new link, as the operator makes it."""
    with writing(engine) as connection:
        member = members.find(connection, shop.shop_id, email)
        token = members.create_sign_in_link(Change(connection, OPERATOR, clock.now), member)
    return f"{SIGN_IN}/{token}"


def assert_dead(browser: Browser, link: str) -> None:
    """A page that says so and leads to the sign-in."""
    answer = browser.get(link)
    assert (answer.status_code, answer.mimetype) == (404, "text/html")
    assert "has expired or was used before" in answer.text
    assert f'href="{SIGN_IN}"' in answer.text


def test_a_link_signs_in_once(
    client: FlaskClient, engine: Engine, shop: ShopBuilder, clock: Clock
) -> None:
    """Also a member without a password."""
    add_member(engine, shop, password=False)
    link = new_link(engine, clock, shop)
    browser = Browser(client, REMOTE_ADDR="198.51.100.7")
    answer = browser.post(link)
    assert (answer.status_code, answer.location) == (302, HOME)
    assert browser.is_in()
    stranger = Browser(client)
    assert_dead(stranger, link)
    assert not stranger.is_in()
    with engine.connect() as connection:
        last, before, *_ = audit.list_events(connection, shop.shop_id)
        (session,) = connection.execute(select(sign_in))
        # The link to set a password stays.
        assert connection.scalars(select(one_time_link.c.purpose)).all() == ["password"]
    assert (before.actor, audit.title(before), before.detail) == (
        *("operator", "Created a link to sign in"),
        ADA,
    )
    assert (last.actor, last.source_ip) == (ADA, "198.51.100.7")
    assert (last.action, last.detail) == ("signed_in", "with a one-time link")
    assert (session.started_at, session.address) == (clock.now, "198.51.100.7")


def test_a_link_signs_in_for_30_days_where_that_is_chosen(
    client: FlaskClient, engine: Engine, clock: Clock, shop: ShopBuilder, ada: str
) -> None:
    for choice, stays in (({}, False), ({"stay": "y"}, True)):
        browser = Browser(client)
        browser.post(new_link(engine, clock, shop), **choice)
        clock.now += sessions.LIFETIME
        assert browser.is_in() == stays


def test_the_browser_is_known_from_then_on(
    client: FlaskClient, engine: Engine, shop: ShopBuilder, clock: Clock, ada: str
) -> None:
    browser = Browser(client)
    planted = browser.get(SIGN_IN) and token_of(browser)
    browser.post(new_link(engine, clock, shop))
    assert browser.client.get_cookie("browser")
    assert token_of(browser) != planted


def test_a_link_expires(browser: Browser, engine: Engine, shop: ShopBuilder, clock: Clock) -> None:
    link = new_link(engine, clock, shop)
    clock.now += one_time_links.LIFETIMES["sign-in"]
    assert_dead(browser, link)
    clock.now -= 1
    assert browser.post(link).location == HOME


def test_unknown_links(browser: Browser) -> None:
    for token in ("x", "x" * 43, "%FF", "a b", "x" * 5_000):
        assert_dead(browser, f"{SIGN_IN}/{token}")


def test_looking_at_a_link_neither_uses_it_up_nor_signs_in(
    browser: Browser, engine: Engine, shop: ShopBuilder, clock: Clock
) -> None:
    """Programs look at links ahead of people, and a stranger's link may come from anywhere."""
    link = new_link(engine, clock, shop)
    for look in (browser.client.get, browser.client.head):
        looked = look(link)
        assert (looked.status_code, looked.mimetype) == (200, "text/html")
    assert f"Continue as {ADA}" in browser.get(link).text
    assert not browser.is_in()
    # As a page of a stranger would send it: the form's token is not theirs.
    token = Browser(browser.client).form(link)
    assert browser.client.post(link).status_code == 400
    assert browser.client.post(link, data=token).status_code == 400
    assert not browser.is_in()
    assert browser.post(link).location == HOME


def test_a_new_link_ends_the_previous_one(
    browser: Browser, engine: Engine, shop: ShopBuilder, clock: Clock
) -> None:
    first, second = (new_link(engine, clock, shop) for _ in range(2))
    assert_dead(browser, first)
    assert browser.post(second).location == HOME


def test_of_two_that_follow_a_link_at_once_one_is_signed_in(
    engine: Engine, shop: ShopBuilder, ada: str, clock: Clock
) -> None:
    token = new_link(engine, clock, shop).rpartition("/")[2]
    with writing(engine) as connection:
        link = one_time_links.find(connection, "sign-in", token, clock.now)
        assert link
        change = Change(connection, audit.Actor(ada, "192.0.2.1"), clock.now)
        signed_in = [auth.follow_link(change, token, link, "Firefox") for _ in range(2)]
    assert signed_in[0]
    assert signed_in[1] is None


def _disable(connection: Connection, person: members.Member, now: int) -> None:
    members.disable(Change(connection, OPERATOR, now), person)
    members.add(Change(connection, OPERATOR, now), person.shop_key, person.email, ())


def _reset(connection: Connection, person: members.Member, now: int) -> None:
    members.reset_password(Change(connection, OPERATOR, now), person)


def _set(connection: Connection, person: members.Member, now: int) -> None:
    members.set_password(Change(connection, OPERATOR, now), person.member_key, "x")


@pytest.mark.parametrize("ending", [_disable, _reset, _set])
def test_what_ends_sign_ins_ends_links(
    browser: Browser, engine: Engine, shop: ShopBuilder, clock: Clock, ending: Callable[..., object]
) -> None:
    """For good: a disabled member who is enabled again needs a new link."""
    link = new_link(engine, clock, shop)
    with writing(engine) as connection:
        ending(connection, members.find(connection, shop.shop_id, ADA), clock.now)
    assert_dead(browser, link)


def test_a_disabled_member_gets_no_link_and_follows_none(
    browser: Browser, engine: Engine, shop: ShopBuilder, clock: Clock
) -> None:
    with writing(engine) as connection:
        ada = members.find(connection, shop.shop_id, ADA)
        change = Change(connection, OPERATOR, clock.now)
        members.disable(change, ada)
        token = one_time_links.create(change, "sign-in", ada.member_key, ada.shop_key)
    assert_dead(browser, f"{SIGN_IN}/{token}")
    with pytest.raises(OperatorError, match="is disabled in the shop"):
        new_link(engine, clock, shop)


def test_a_link_leads_to_its_shop(
    browser: Browser, engine: Engine, shop: ShopBuilder, clock: Clock
) -> None:
    other = ShopBuilder(engine, "other.myshopify.com")
    add_member(engine, other, ADA)
    browser.post(new_link(engine, clock, other))
    assert "<option selected>other.myshopify.com</option>" in browser.get(CONNECTIONS).text
    # The same member, elsewhere: no account changes, and no sign-in is left over.
    assert browser.post(new_link(engine, clock, shop)).location == HOME
    assert f"<option selected>{shop.shop_id}</option>" in browser.get(CONNECTIONS).text
    with engine.connect() as connection:
        assert len(connection.execute(select(sign_in)).all()) == 1


def test_another_member_is_told_that_the_account_changes(
    browser: Browser, engine: Engine, shop: ShopBuilder, clock: Clock
) -> None:
    add_member(engine, shop, BOB)
    browser.signed_in()
    link = new_link(engine, clock, shop, BOB)
    for _ in range(2):  # the question does not use the link up
        page = browser.get(link)
        assert page.status_code == 200
        asked = re.sub(r"<wbr>|\s+", " ", page.text).replace("@ ", "@")
        assert f"signed in as <strong>{ADA}</strong>" in asked
        assert f"Continue as {BOB}" in asked
    assert browser.client.post(link).status_code == 400  # without the form's token
    assert ADA.replace("@", "@<wbr>") in browser.get("/settings/account").text
    before = token_of(browser)
    assert browser.post(link).location == HOME
    assert BOB.replace("@", "@<wbr>") in browser.get("/settings/account").text
    old = Browser(browser.client)
    old.client.set_cookie("member", before)
    assert not old.is_in()
    with engine.connect() as connection:
        events = audit.list_events(connection, shop.shop_id)
    assert [(event.actor, event.action) for event in events[:2]] == [
        (ADA, "signed_out"),
        (BOB, "signed_in"),
    ]
    assert browser.post(link, CONNECTIONS).status_code == 404


def test_the_token_is_stored_as_a_hash_and_sets_no_password(
    browser: Browser, engine: Engine, shop: ShopBuilder, clock: Clock
) -> None:
    token = new_link(engine, clock, shop).rpartition("/")[2]
    with engine.connect() as connection:
        (row,) = connection.execute(select(one_time_link))
    assert len(token) == 43
    assert token not in str(row)
    assert browser.get(f"/settings/password/{token}").status_code == 404
