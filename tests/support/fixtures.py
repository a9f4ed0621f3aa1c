"""The fixtures that every room uses; CONTRIBUTING.md has them in a table. `warehouse_url` and its like are in
`tests/conftest.py`.

The API and the commands are loaded by the first test that uses them: a small room starts at once.
"""

import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from sqlalchemy import Engine

from tests.conftest import NewUrl
from tests.support import postgres
from tests.support.loaded import Content, Originals
from tests.support.product import Product
from tests.support.shop_builder import ShopBuilder, instant
from warehouse.connections.engine import open_engine

if TYPE_CHECKING:
    from flask.testing import FlaskClient

    from tests.support.job_commands import Commands

Loaded = Callable[[Content], str]
Ask = Callable[..., Any]


@pytest.fixture
def product(warehouse_url: str) -> Iterator[Product]:
    product = Product(warehouse_url)
    yield product
    product.close()


@contextmanager
def commands_on(url: str, folder: Path) -> Iterator["Commands"]:
    from tests.support.job_commands import Commands

    commands = Commands(url, folder)
    yield commands
    commands.end()


@pytest.fixture
def commands(warehouse_url: str, tmp_path: Path) -> Iterator["Commands"]:
    """`python -m jobs`, on either kind of database."""
    with commands_on(warehouse_url, tmp_path) as commands:
        yield commands


@pytest.fixture
def sqlite_commands(sqlite_url: str, tmp_path: Path) -> Iterator["Commands"]:
    with commands_on(sqlite_url, tmp_path) as commands:
        yield commands


@pytest.fixture
def postgres_commands(postgres_url: str, tmp_path: Path) -> Iterator["Commands"]:
    with commands_on(postgres_url, tmp_path) as commands:
        yield commands


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
def client(engine: Engine, warehouse_url: str, clock: Clock) -> Iterator["FlaskClient"]:
    """The API over the warehouse."""
    from web.app import close_app, create_app

    app = create_app(warehouse_url, clock)
    yield app.test_client()
    close_app(app)


@pytest.fixture
def shop(engine: Engine) -> ShopBuilder:
    return ShopBuilder(engine)


@pytest.fixture
def ask(client: "FlaskClient", shop: ShopBuilder) -> Ask:
    """GET an address with a key of all scopes; gives `data`."""
    key = shop.mint()

    def get(path: str, **query: str) -> Any:
        answer = client.get(path, query_string=query, headers={"Authorization": f"Bearer {key}"})
        assert answer.status_code == 200, answer.get_data(as_text=True)
        return answer.get_json()["data"]

    return get


@pytest.fixture(scope="session")
def originals(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Originals]:
    with ExitStack() as databases:
        yield Originals(request, tmp_path_factory.mktemp("loaded"), databases)


@pytest.fixture
def loaded(
    originals: Originals,
    new_warehouse_url: NewUrl,
    request: pytest.FixtureRequest,
    tmp_path: Path,
) -> Iterator[Loaded]:
    """A function that returns the URL of a copy of a warehouse with a world rolled up, on either kind
    of database."""
    with ExitStack() as databases:
        on_sqlite = request.node.callspec.params["new_warehouse_url"] == "sqlite"

        def copy(content: Content) -> str:
            if on_sqlite:
                return originals.copy_file(content, tmp_path / "loaded.db")
            return databases.enter_context(originals.copied_database(content))

        yield copy


@pytest.fixture
def programs(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """PostgreSQL's programs of the server's version, before those that the machine has."""
    if "postgresql" in request.node.name or "new_postgres_url" in request.fixturenames:
        folder = postgres.programs(request.getfixturevalue("postgres_server"))
        monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")
