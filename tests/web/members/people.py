"""Members, and browsers without a screen: they follow the forms of the pages as people do."""

import re
from collections.abc import Iterable
from functools import cache
from html import unescape
from typing import Any

from flask.testing import FlaskClient
from sqlalchemy import Engine, select
from werkzeug.test import TestResponse

from tests.web.builders import ShopBuilder, writing
from warehouse.schema import member
from web.audit import OPERATOR
from web.members import accounts, links, passwords

PASSWORD = "correct horse battery"
ALL = ("forms:edit", "discounts:view", "connections:manage")
SIGN_IN = "/settings/sign-in"
CONNECTIONS = "/settings/connections"
NEW = "/settings/connections/new"


@cache
def known_hash() -> str:
    """The hash of PASSWORD, worked out once."""
    return passwords.hashed(PASSWORD)


def add_member(
    engine: Engine,
    shop: ShopBuilder,
    email: str = "ada@example.com",
    permissions: Iterable[str] = ALL,
    *,
    now: int = 0,
    password: bool = True,
) -> str:
    """A member of the shop, with PASSWORD. Gives the address."""
    with writing(engine) as connection:
        accounts.add(connection, shop.key, email, tuple(permissions), by=OPERATOR, now=now)
        if password:
            who = accounts.find(connection, shop.shop_id, email)
            accounts.set_password(connection, who.member_key, known_hash(), by=OPERATOR, now=now)
    return email


def new_link(engine: Engine, email: str, now: int) -> str:
    """The address of a page to set a password."""
    with writing(engine) as connection:
        key = connection.execute(
            select(member.c.member_key).where(member.c.email == email)
        ).scalar_one()
        return f"/settings/password/{links.new_link(connection, key, now)}"


class Browser:
    """Keeps cookies, reads forms, sends them."""

    def __init__(self, client: FlaskClient, **environ: Any) -> None:
        self.client = client.application.test_client()
        self.environ = environ

    def get(self, path: str, **options: Any) -> TestResponse:
        return self.client.get(path, environ_overrides=self.environ, **options)

    def form(self, path: str) -> dict[str, str]:
        """The hidden fields of the last form on a page."""
        form = self.get(path).get_data(as_text=True).rpartition("<form")[2]
        fields = {}
        for tag in re.findall(r'<input[^>]*type="hidden"[^>]*>', form):
            name, value = re.search(r'name="([^"]*)"', tag), re.search(r'value="([^"]*)"', tag)
            assert name
            assert value
            fields[name[1]] = unescape(value[1])
        return fields

    def post(self, path: str, page: str = "", **data: Any) -> TestResponse:
        """Fill in the form on `page` (by default at the same address) and send it."""
        return self.client.post(
            path, data={**self.form(page or path), **data}, environ_overrides=self.environ
        )

    def sign_in(
        self, email: str = "ada@example.com", password: str = PASSWORD, path: str = SIGN_IN
    ) -> TestResponse:
        return self.post(path, email=email, password=password)

    def signed_in(self, email: str = "ada@example.com") -> "Browser":
        if self.is_in():
            return self
        answer = self.sign_in(email)
        assert (answer.status_code, answer.location) == (302, CONNECTIONS)
        return self

    def is_in(self) -> bool:
        answer = self.get(CONNECTIONS)
        assert answer.status_code in (200, 302)
        return answer.status_code == 200

    def mint(self, *scopes: str, **fields: Any) -> str:
        """A new key."""
        answer = self.post(NEW, **{"name": "A tool", "scopes": list(scopes), **fields})
        assert answer.status_code == 200, answer.get_data(as_text=True)
        return key_on(answer)


def key_on(answer: TestResponse) -> str:
    """The key that a page shows."""
    found = re.search(r'<code id="key">([^<]+)</code>', answer.get_data(as_text=True))
    assert found
    return found[1]


def token_of(browser: Browser) -> str:
    """The cookie's own text."""
    cookie = browser.client.get_cookie("member")
    assert cookie
    return str(cookie.value)
