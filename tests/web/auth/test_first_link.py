"""A link with which the first member begins, who has no account yet."""

import re

from flask.testing import FlaskClient
from sqlalchemy import Engine

from tests.support.commands import run_web
from tests.support.fixtures import Clock
from tests.support.people import PASSWORD, Browser, add_member
from tests.support.shop_builder import ShopBuilder, writing
from web.auth import one_time_links
from web.auth.audit import OPERATOR, Change

SHOP = {"shop_id": "lamps.example", "name": "Lamps", "currency": "EUR", "timezone": "UTC"}


def new_link(engine: Engine, clock: Clock) -> str | None:
    with writing(engine) as connection:
        token = one_time_links.create_first(Change(connection, OPERATOR, clock.now))
    return token and f"/settings/first/{token}"


def test_the_first_member_gives_address_password_and_shop(
    client: FlaskClient, engine: Engine, clock: Clock
) -> None:
    browser, link = Browser(client), new_link(engine, clock)
    assert link
    refused = browser.post(link, email="nobody")
    assert (refused.status_code, "is not an e-mail address" in refused.text) == (422, True)
    answer = browser.post(link, email=" Ada@Example.com ")
    assert answer.location.startswith("/settings/password/")
    # Somebody who stopped here begins again, as whoever they say.
    assert browser.get(link).status_code == 200
    answer = browser.post(answer.location, password=PASSWORD, again=PASSWORD, **SHOP)
    assert (answer.status_code, answer.location) == (302, "/setup")
    assert browser.is_in()
    stranger = Browser(client)
    assert stranger.get(link).status_code == 404
    assert stranger.client.post(link, data={"email": "eve@example.com"}).status_code in (400, 404)
    assert new_link(engine, clock) is None


def test_where_it_does_not_work(
    client: FlaskClient, engine: Engine, clock: Clock, shop: ShopBuilder
) -> None:
    browser, former = Browser(client), new_link(engine, clock)
    link = new_link(engine, clock)
    assert former
    assert link
    # A new one ends the previous one; a link to set a password is none, and it is none to sign in.
    assert browser.get(former).status_code == 404
    for other in ("password", "sign-in"):
        assert browser.get(link.replace("first", other)).status_code == 404
    clock.now += one_time_links.LIFETIMES["first"]
    assert browser.get(link).status_code == 404
    clock.now -= 1
    assert browser.get(link).status_code == 200
    add_member(engine, shop, password=False)
    assert browser.get(link).status_code == 200
    add_member(engine, shop, "bob@example.com")
    assert browser.get(link).status_code == 404


def test_the_command_prints_it_while_nobody_can_sign_in(sqlite_url: str) -> None:
    first = run_web(sqlite_url, "members", "first-link")
    assert first.status == 0
    assert re.search(r"\nhttp://127.0.0.1:8000/settings/first/\S+\n$", first.output)
