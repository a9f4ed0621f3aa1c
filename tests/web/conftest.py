"""A member and a browser of hers; passwords cost nothing."""

import pytest
from argon2 import PasswordHasher
from flask.testing import FlaskClient
from sqlalchemy import Engine

from tests.support.people import Browser, add_member
from tests.support.shop_builder import ShopBuilder
from web.auth import passwords

_CHEAP = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)


@pytest.fixture(autouse=True)
def cheap_hashes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Argon2id that takes no time: the tests try hundreds of passwords."""
    monkeypatch.setattr(passwords, "_hasher", _CHEAP)
    monkeypatch.setattr(passwords, "DUMMY_HASH", _CHEAP.hash("nobody's"))


@pytest.fixture
def ada(engine: Engine, shop: ShopBuilder) -> str:
    return add_member(engine, shop)


@pytest.fixture
def browser(client: FlaskClient, ada: str) -> Browser:
    return Browser(client)
