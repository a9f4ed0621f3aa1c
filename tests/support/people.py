"""Members, and a browser without a screen that fills in and sends the forms of the pages."""

import re
from collections.abc import Iterable
from functools import cache
from html import unescape
from typing import Any

from argon2 import PasswordHasher
from flask.testing import FlaskClient
from sqlalchemy import Engine, select
from werkzeug.test import TestResponse

from tests.support.shop_builder import ShopBuilder, writing
from warehouse.domain.vocabulary import PERMISSIONS
from warehouse.tables import member
from web.auth import members, one_time_links
from web.auth.audit import OPERATOR, Change
from web.http.services import services_of

PASSWORD = "correct horse battery"
ALL = PERMISSIONS
SIGN_IN = "/settings/sign-in"
HOME = "/"
CONNECTIONS = "/settings/connections"
NEW = "/settings/connections/new"
ACCOUNT = "/settings/account"
# Argon2id that takes no time: the tests try hundreds of passwords.
CHEAP = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)


@cache
def password_hash() -> str:
    """A hash of PASSWORD that takes no time to check, whichever test asks first."""
    return CHEAP.hash(PASSWORD)


def add_member(
    engine: Engine,
    shop: ShopBuilder,
    email: str = "ada@example.com",
    permissions: Iterable[str] = ALL,
    *,
    now: int = 0,
    password: bool = True,
) -> str:
    """Add a member with PASSWORD to the shop, and return their address."""
    with writing(engine) as connection:
        change = Change(connection, OPERATOR, now)
        members.add(change, shop.key, email, tuple(permissions))
        if password:
            added = members.find(connection, shop.shop_id, email)
            members.set_password(change, added.member_key, password_hash())
    return email


def new_link(engine: Engine, email: str, now: int) -> str:
    """The path of a page to set a password."""
    with writing(engine) as connection:
        key = connection.execute(
            select(member.c.member_key).where(member.c.email == email)
        ).scalar_one()
        change = Change(connection, OPERATOR, now)
        return f"/settings/password/{one_time_links.create(change, 'password', key)}"


class Browser:
    """Keeps cookies, reads forms, sends them. `environ` goes into each request's WSGI environment."""

    def __init__(self, client: FlaskClient, **environ: Any) -> None:
        self.client = client.application.test_client()
        self.environ = environ

    def get(self, path: str, **options: Any) -> TestResponse:
        return self.client.get(path, environ_overrides=self.environ, **options)

    def form(self, path: str) -> dict[str, str]:
        """The hidden fields of the last form on a page that is sent by POST."""
        form = self.get(path).get_data(as_text=True).rpartition('method="post"')[2]
        fields = {}
        for tag in re.findall(r'<input[^>]*type="hidden"[^>]*>', form):
            name, value = re.search(r'name="([^"]*)"', tag), re.search(r'value="([^"]*)"', tag)
            assert name
            assert value
            fields[name[1]] = unescape(value[1])
        return fields

    def post(self, path: str, page: str = "", **data: Any) -> TestResponse:
        """Fill in the last such form on `page` (default: `path`) and send it to `path`."""
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
        assert (answer.status_code, answer.location) == (302, HOME)
        return self

    def is_in(self) -> bool:
        answer = self.get(ACCOUNT)
        assert answer.status_code in (200, 302)
        return answer.status_code == 200

    def mint(self, *scopes: str, **fields: Any) -> str:
        """Create a key and return it."""
        answer = self.post(NEW, **{"name": "A tool", "scopes": list(scopes), **fields})
        assert answer.status_code == 200, answer.get_data(as_text=True)
        return key_on(answer)


def await_background_writes(client: FlaskClient) -> None:
    """Until what the requests left to write is written."""
    services_of(client.application).background_writes.settle()


def key_on(answer: TestResponse) -> str:
    """The key that a page shows."""
    key = re.search(r'<code id="key">([^<]+)</code>', answer.get_data(as_text=True))
    assert key
    return key[1]


def token_of(browser: Browser) -> str:
    """The value of the browser's cookie."""
    cookie = browser.client.get_cookie("member")
    assert cookie
    return str(cookie.value)
