"""One-time links to set a password."""

from flask.testing import FlaskClient
from sqlalchemy import Engine

from tests.support.fixtures import Clock
from tests.support.people import HOME, Browser, add_member, new_link
from tests.support.shop_builder import ShopBuilder, writing
from web.auth import members, one_time_links, sign_in_limits
from web.auth.audit import OPERATOR, Change

NEW = "quite another sentence"


def test_link_sets_the_password_once_and_signs_in(
    client: FlaskClient, engine: Engine, shop: ShopBuilder, clock: Clock
) -> None:
    add_member(engine, shop, password=False)
    link = new_link(engine, "ada@example.com", clock.now)
    elsewhere = Browser(client)
    form = elsewhere.form(link)
    browser = Browser(client)
    for _ in range(2):  # opening a link does not use it up
        assert "ada@example.com" in browser.get(link).get_data(as_text=True)
    assert browser.post(link, password=NEW, again=NEW).location == HOME
    assert browser.is_in()
    assert browser.get(link).status_code == 404
    late = elsewhere.client.post(link, data={**form, "password": "x" * 20 + "yz!", "again": ""})
    assert late.status_code == 404
    assert Browser(client).sign_in(password=NEW).location == HOME


def test_link_expires(browser: Browser, engine: Engine, clock: Clock) -> None:
    link = new_link(engine, "ada@example.com", clock.now)
    form = browser.form(link)
    clock.now += one_time_links.LIFETIMES["password"] - 1
    assert browser.get(link).status_code == 200
    clock.now += 1
    assert browser.get(link).status_code == 404
    data = {**form, "password": NEW, "again": NEW}
    assert browser.client.post(link, data=data).status_code == 404


def test_new_link_ends_the_previous_one(browser: Browser, engine: Engine, clock: Clock) -> None:
    first = new_link(engine, "ada@example.com", clock.now)
    second = new_link(engine, "ada@example.com", clock.now)
    assert browser.get(first).status_code == 404
    assert browser.get(second).status_code == 200


def test_link_is_used_up_once(engine: Engine, ada: str, clock: Clock) -> None:
    token = new_link(engine, ada, clock.now).rpartition("/")[2]
    with writing(engine) as connection:
        assert one_time_links.find(connection, "password", token, clock.now)
        assert one_time_links.use_up(connection, "password", token, clock.now)
        assert not one_time_links.use_up(connection, "password", token, clock.now)


def test_link_of_a_disabled_member_is_not_found(
    browser: Browser, engine: Engine, shop: ShopBuilder, clock: Clock
) -> None:
    link = new_link(engine, "ada@example.com", clock.now)
    with writing(engine) as connection:
        ada = members.find(connection, shop.shop_id, "ada@example.com")
        members.disable(Change(connection, OPERATOR, clock.now), ada)
    assert browser.get(link).status_code == 404


def test_weak_passwords_are_refused(browser: Browser, engine: Engine, clock: Clock) -> None:
    link = new_link(engine, "ada@example.com", clock.now)
    for password, again in (
        ("short", "short"),
        ("aaaaaaaaaaaaaaaaaaa", "aaaaaaaaaaaaaaaaaaa"),
        ("ada@example.com", "ada@example.com"),
        (NEW, NEW + "x"),
        ("x1y2z3" * 50, "x1y2z3" * 50),
        ("", ""),
    ):
        assert browser.post(link, password=password, again=again).status_code == 422, password
    assert browser.get(link).status_code == 200
    assert not browser.is_in()


def test_link_works_while_the_account_is_limited(
    browser: Browser, client: FlaskClient, engine: Engine, clock: Clock
) -> None:
    for _ in range(sign_in_limits.PER_ACCOUNT_AND_NETWORK.times):
        browser.sign_in(password="wrong wrong wrong")
    assert browser.sign_in().status_code == 429
    member = Browser(client)
    link = new_link(engine, "ada@example.com", clock.now)
    assert member.post(link, password=NEW, again=NEW).location == HOME
    assert member.is_in()
    assert Browser(client).sign_in(password=NEW).status_code == 302
