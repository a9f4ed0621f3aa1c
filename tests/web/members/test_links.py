"""One-time links to set a password."""

from flask.testing import FlaskClient
from sqlalchemy import Engine

from tests.web.builders import ShopBuilder, writing
from tests.web.conftest import Clock
from tests.web.members.people import CONNECTIONS, SIGN_IN, Browser, add_member, new_link
from web.audit import OPERATOR
from web.members import accounts, links, throttle

NEW = "quite another sentence"


def test_a_link_sets_the_password_once_and_signs_in(
    client: FlaskClient, engine: Engine, shop: ShopBuilder, clock: Clock
) -> None:
    add_member(engine, shop, password=False)
    link = new_link(engine, "ada@example.com", clock.now)
    elsewhere = Browser(client)
    form = elsewhere.form(link)
    browser = Browser(client)
    for _ in range(2):  # to look at it does not use it up
        assert "ada@example.com" in browser.get(link).get_data(as_text=True)
    assert browser.post(link, password=NEW, again=NEW).location == CONNECTIONS
    assert browser.is_in()
    assert browser.get(link).status_code == 404
    late = elsewhere.client.post(link, data={**form, "password": "x" * 20 + "yz!", "again": ""})
    assert late.status_code == 404
    assert Browser(client).sign_in(password=NEW).location == CONNECTIONS


def test_a_link_expires(browser: Browser, engine: Engine, clock: Clock) -> None:
    link = new_link(engine, "ada@example.com", clock.now)
    form = browser.form(link)
    clock.now += links.LIFETIME - 1
    assert browser.get(link).status_code == 200
    clock.now += 1
    assert browser.get(link).status_code == 404
    data = {**form, "password": NEW, "again": NEW}
    assert browser.client.post(link, data=data).status_code == 404


def test_a_new_link_ends_the_one_before(browser: Browser, engine: Engine, clock: Clock) -> None:
    first = new_link(engine, "ada@example.com", clock.now)
    second = new_link(engine, "ada@example.com", clock.now)
    assert browser.get(first).status_code == 404
    assert browser.get(second).status_code == 200


def test_a_link_of_two_browsers_at_once_works_in_one(
    engine: Engine, ada: str, clock: Clock
) -> None:
    token = new_link(engine, ada, clock.now).rpartition("/")[2]
    with writing(engine) as connection:
        assert links.owner(connection, token, clock.now)
        assert links.use_up(connection, token, clock.now)
        assert not links.use_up(connection, token, clock.now)


def test_a_disabled_member_has_no_use_for_a_link(
    browser: Browser, engine: Engine, shop: ShopBuilder, clock: Clock
) -> None:
    link = new_link(engine, "ada@example.com", clock.now)
    with writing(engine) as connection:
        who = accounts.find(connection, shop.shop_id, "ada@example.com")
        accounts.disable(connection, who, by=OPERATOR, now=clock.now)
    assert browser.get(link).status_code == 404


def test_passwords_that_are_not_taken(browser: Browser, engine: Engine, clock: Clock) -> None:
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


def test_a_link_gets_a_member_in_whom_a_stranger_keeps_out(
    browser: Browser, client: FlaskClient, engine: Engine, clock: Clock
) -> None:
    for _ in range(throttle.PER_ACCOUNT):
        browser.sign_in(password="wrong wrong wrong")
    assert browser.sign_in().status_code == 429
    member = Browser(client, REMOTE_ADDR="198.51.100.7")
    link = new_link(engine, "ada@example.com", clock.now)
    assert member.post(link, password=NEW, again=NEW).location == CONNECTIONS
    assert member.is_in()
    assert Browser(client).post(SIGN_IN, email="ada@example.com", password=NEW).status_code == 302
