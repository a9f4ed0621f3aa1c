"""The API over a real warehouse, on both databases."""

import os
from collections.abc import Callable, Iterator
from typing import Any
from uuid import uuid4

import pytest
from flask.testing import FlaskClient
from sqlalchemy import Engine, create_engine, text

from tests.web.builders import ShopBuilder, instant
from warehouse.engine import open_engine
from warehouse.migrate import migrate
from web.app import create_app

SERVER = os.environ.get("TEST_POSTGRES_URL", "postgresql+psycopg://postgres@127.0.0.1:5432/postgres")


@pytest.fixture(params=["sqlite", "postgresql"])
def warehouse_url(request: pytest.FixtureRequest, tmp_path: Any) -> Iterator[str]:
    if request.param == "sqlite":
        yield f"sqlite:///{tmp_path / 'warehouse.db'}"
        return
    name = f"web_test_{uuid4().hex}"
    server = create_engine(SERVER, isolation_level="AUTOCOMMIT")
    with server.connect() as connection:
        connection.execute(text(f"CREATE DATABASE {name}"))
    yield server.url.set(database=name).render_as_string(hide_password=False)
    with server.connect() as connection:
        connection.execute(text(f"DROP DATABASE {name} WITH (FORCE)"))
    server.dispose()


@pytest.fixture
def engine(warehouse_url: str) -> Iterator[Engine]:
    engine = open_engine(warehouse_url, pooled=True)
    migrate(engine)
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
    app.extensions["database"].engine.dispose()


@pytest.fixture
def shop(engine: Engine) -> ShopBuilder:
    return ShopBuilder(engine)


@pytest.fixture
def ask(client: FlaskClient, shop: ShopBuilder) -> Callable[..., Any]:
    """GET an address with a key of all scopes; gives `data`."""
    key = shop.mint()

    def get(path: str, **query: str) -> Any:
        answer = client.get(
            path, query_string=query, headers={"Authorization": f"Bearer {key}"}
        )
        assert answer.status_code == 200, answer.get_data(as_text=True)
        return answer.get_json()["data"]

    return get
