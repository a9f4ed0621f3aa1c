"""CSRF: a form of the pages needs the token of its browser."""

import pytest
from flask.testing import FlaskClient
from sqlalchemy import Engine

from tests.support.fixtures import Clock
from tests.support.people import CONNECTIONS, PASSWORD, SIGN_IN, Browser, add_member, new_link
from tests.support.shop_builder import ShopBuilder
from web.auth import api_keys, members
from web.auth.write_keys import list_write_keys


@pytest.fixture
def addresses(browser: Browser, engine: Engine, shop: ShopBuilder, clock: Clock) -> list[str]:
    """Each path that takes a form; the browser is signed in."""
    browser.signed_in()
    browser.mint("analytics:read")
    browser.post("/settings/connections/write-keys/new", name="site")
    other = add_member(engine, shop, "grace@example.com")
    with engine.connect() as connection:
        (key,), (write_key,) = api_keys.list_keys(connection), list_write_keys(connection)
        member = members.find(connection, shop.shop_id, other)
    link = new_link(engine, "ada@example.com", clock.now).rpartition("/")[2]
    rules = browser.client.application.url_map.iter_rules()
    paths = [
        rule.rule.replace("<credential_id>", key.credential_id)
        .replace("<text>", write_key.text)
        .replace("<token>", link)
        .replace("<int:member_key>", f"{member.member_key}")
        for rule in rules
        if rule.rule.startswith("/settings") and "POST" in (rule.methods or ())
    ]
    assert len(paths) == 19
    return paths


def test_form_without_a_valid_token_is_refused(
    browser: Browser, client: FlaskClient, engine: Engine, shop: ShopBuilder, addresses: list[str]
) -> None:
    add_member(engine, shop, "mallory@example.com")
    mallory = Browser(client).signed_in("mallory@example.com").form(CONNECTIONS)["csrf_token"]
    mine = browser.form(CONNECTIONS)["csrf_token"]
    data = {
        "email": "ada@example.com",
        "old": PASSWORD,
        "password": PASSWORD,
        "again": PASSWORD,
        "name": "x",
        "once": "x",
        "scopes": "analytics:read",
        "grace": "now",
        "shop": shop.shop_id,
    }
    for path in addresses:
        for token in (None, "", "x", mallory, mine[:-1], mine.split(".")[0]):
            form = data if token is None else {**data, "csrf_token": token}
            answer = browser.client.post(path, data=form)
            assert answer.status_code == 400, (path, token)
            assert "out of date" in answer.get_data(as_text=True)
        # A token in the query does not count.
        assert browser.client.post(path, query_string={"csrf_token": mine}).status_code == 400
    assert browser.is_in()
    with engine.connect() as connection:
        (key,), (write_key,) = api_keys.list_keys(connection), list_write_keys(connection)
    assert api_keys.can_rotate(key, 2**60)
    assert write_key.revoked_at is None


def test_form_with_its_token_is_accepted(browser: Browser, addresses: list[str]) -> None:
    """The token alone decides in the test above."""
    token = browser.form(CONNECTIONS)["csrf_token"]
    for path in addresses:
        answer = browser.client.post(path, data={"csrf_token": token})
        assert answer.status_code in (302, 404, 422), path
        if "sign-out" in path:
            browser.signed_in()
            token = browser.form(CONNECTIONS)["csrf_token"]


def test_a_look_at_a_form_changes_nothing(
    browser: Browser, engine: Engine, addresses: list[str]
) -> None:
    """HEAD needs no token: browsers and programs send it like GET."""
    for path in addresses:
        looks = [look(path) for look in (browser.client.get, browser.client.head)]
        assert looks[0].status_code == looks[1].status_code, path
        assert looks[0].location == looks[1].location, path
    assert browser.is_in()
    with engine.connect() as connection:
        (key,), (write_key,) = api_keys.list_keys(connection), list_write_keys(connection)
    assert api_keys.can_rotate(key, 2**60)
    assert write_key.revoked_at is None


def test_form_without_the_cookie_is_refused(browser: Browser, client: FlaskClient) -> None:
    form = browser.form(SIGN_IN)
    data = {**form, "email": "ada@example.com", "password": PASSWORD}
    assert client.application.test_client().post(SIGN_IN, data=data).status_code == 400


def test_referrer_is_checked_behind_https(browser: Browser) -> None:
    at = {"base_url": "https://stats.example"}
    page = browser.client.get(SIGN_IN, **at).get_data(as_text=True)
    token = page.partition('name="csrf_token" value="')[2].partition('"')[0]
    data = {"csrf_token": token, "email": "ada@example.com", "password": PASSWORD}
    for referrer in (None, "https://evil.example/", "http://stats.example/"):
        headers = {"Referer": referrer} if referrer else {}
        answer = browser.client.post(SIGN_IN, data=data, headers=headers, **at)
        assert answer.status_code == 400, referrer
    headers = {"Referer": "https://stats.example/settings/sign-in"}
    assert browser.client.post(SIGN_IN, data=data, headers=headers, **at).status_code == 302


def test_large_form_is_refused(browser: Browser) -> None:
    data = {**browser.form(SIGN_IN), "email": "x" * 70_000, "password": "x"}
    answer = browser.client.post(SIGN_IN, data=data)
    assert answer.status_code == 413
    assert answer.mimetype == "text/html"
