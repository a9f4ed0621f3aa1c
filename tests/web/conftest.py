"""The API over a real warehouse, on both databases."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from argon2 import PasswordHasher
from flask.testing import FlaskClient
from sqlalchemy import Engine

from tests.support.people import Browser, add_member
from tests.support.shop_builder import ShopBuilder, instant
from warehouse.connections.engine import open_engine
from web.app import close_app, create_app
from web.auth import passwords

Ask = Callable[..., Any]


@pytest.fixture
def engine(warehouse_url: str) -> Iterator[Engine]:
    engine = open_engine(warehouse_url, pooled=True)
    yield engine
    engine.dispose()


class Clock:
    """The present instant, as a test sets it."""

    def __init__(self) -> None:
        self.set("2026-03-31T12:00:00")

    def set(self, text: str) -> None:
        self.now = instant(text)

    def __call__(self) -> int:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def client(engine: Engine, warehouse_url: str, clock: Clock) -> Iterator[FlaskClient]:
    app = create_app(warehouse_url, clock)
    yield app.test_client()
    close_app(app)


@pytest.fixture
def shop(engine: Engine) -> ShopBuilder:
    return ShopBuilder(engine)


@pytest.fixture
def ask(client: FlaskClient, shop: ShopBuilder) -> Ask:
    """GET an address with a key of all scopes; gives `data`."""
    key = shop.mint()

    def get(path: str, **query: str) -> Any:
        answer = client.get(path, query_string=query, headers={"Authorization": f"Bearer {key}"})
        assert answer.status_code == 200, answer.get_data(as_text=True)
        return answer.get_json()["data"]

    return get


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
