"""Write keys on the pages: created, listed in clear, revoked."""

import re

import pytest
from flask.testing import FlaskClient
from sqlalchemy import Engine

from tests.support.people import CONNECTIONS, Browser, add_member
from tests.support.shop_builder import ShopBuilder
from web.auth import write_keys
from web.auth.audit import Actor, Change

NEW = "/settings/connections/write-keys/new"


def stored(engine: Engine) -> list[write_keys.WriteKey]:
    with engine.connect() as connection:
        return write_keys.list_write_keys(connection)


def test_create_and_revoke(browser: Browser, engine: Engine) -> None:
    browser.signed_in()
    data = {**browser.form(NEW), "name": "<b>site</b>", "origins": "https://Shop.example, *"}
    assert browser.client.post(NEW, data=data).location == CONNECTIONS
    (key,) = stored(engine)
    assert re.fullmatch("fwk_[0-9a-f]{32}", key.text)
    assert key.origins == ("https://shop.example", "*")
    assert key.created_by == "ada@example.com"
    listed = browser.get(CONNECTIONS).get_data(as_text=True)
    assert key.text in listed
    assert "https://shop.example, *" in listed
    assert "&lt;b&gt;site&lt;/b&gt;" in listed
    # The same form again creates none.
    assert browser.client.post(NEW, data=data).location == CONNECTIONS
    assert "was sent twice" in browser.get(CONNECTIONS).get_data(as_text=True)
    revoke = f"/settings/connections/write-keys/{key.text}/revoke"
    assert browser.post(revoke).location == CONNECTIONS
    assert [key.revoked_at is not None for key in stored(engine)] == [True]
    listed = browser.get(CONNECTIONS).get_data(as_text=True)
    assert revoke not in listed
    assert "Revoked a line for pages" in listed


@pytest.mark.parametrize("field", [{"name": ""}, {"origins": "shop.example"}, {"name": "a\u200bb"}])
def test_fields_that_are_refused(browser: Browser, engine: Engine, field: dict[str, str]) -> None:
    data = {"name": "site", "origins": "", **field}
    assert browser.signed_in().post(NEW, **data).status_code == 422
    assert stored(engine) == []


def test_a_member_who_may_not_manage(
    browser: Browser, client: FlaskClient, engine: Engine, shop: ShopBuilder
) -> None:
    browser.signed_in()
    browser.post(NEW, name="site", origins="")
    (key,) = stored(engine)
    add_member(engine, shop, "bob@example.com", ())
    bob = Browser(client).signed_in("bob@example.com")
    revoke = f"/settings/connections/write-keys/{key.text}/revoke"
    assert bob.get(CONNECTIONS).status_code == 403
    assert bob.get(NEW).status_code == 403
    assert bob.get(revoke).status_code == 403


def test_another_shops_key_is_unknown(browser: Browser, engine: Engine) -> None:
    other = ShopBuilder(engine, "other.example")
    with engine.connect().execution_options(writes=True) as connection:
        text = write_keys.create(
            Change(connection, Actor("x", "x"), 0), other.shop_id, (), name="theirs"
        )
        connection.commit()
    browser.signed_in()
    assert text not in browser.get(CONNECTIONS).get_data(as_text=True)
    assert browser.get(f"/settings/connections/write-keys/{text}/revoke").status_code == 404
    assert browser.get("/settings/connections/write-keys/fwk_x/revoke").status_code == 404
