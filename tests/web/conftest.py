"""A member and a browser of hers; passwords cost nothing."""

import pytest
from flask.testing import FlaskClient
from sqlalchemy import Engine

from tests.support.people import CHEAP, Browser, add_member
from tests.support.shop_builder import ShopBuilder
from web.auth import passwords


@pytest.fixture(autouse=True)
def cheap_hashes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Passwords cost nothing."""
    monkeypatch.setattr(passwords, "_hasher", CHEAP)
    monkeypatch.setattr(passwords, "DUMMY_HASH", CHEAP.hash("nobody's"))


@pytest.fixture
def ada(engine: Engine, shop: ShopBuilder) -> str:
    return add_member(engine, shop)


@pytest.fixture
def browser(client: FlaskClient, ada: str) -> Browser:
    return Browser(client)
