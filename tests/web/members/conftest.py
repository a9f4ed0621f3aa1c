"""A shop with a member of all permissions, and a browser."""

import pytest
from argon2 import PasswordHasher
from flask.testing import FlaskClient
from sqlalchemy import Engine

from tests.web.builders import ShopBuilder
from tests.web.members.people import Browser, add_member
from web.members import passwords

_CHEAP = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)


@pytest.fixture(autouse=True)
def cheap_hashes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Argon2id that takes no time: the tests try hundreds of passwords."""
    monkeypatch.setattr(passwords, "_hasher", _CHEAP)
    monkeypatch.setattr(passwords, "NOBODYS", _CHEAP.hash("nobody's"))


@pytest.fixture
def ada(engine: Engine, shop: ShopBuilder) -> str:
    return add_member(engine, shop)


@pytest.fixture
def browser(client: FlaskClient, ada: str) -> Browser:
    return Browser(client)
