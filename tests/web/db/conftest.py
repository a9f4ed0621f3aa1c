"""The API over a primary and a real standby that streams from it."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any

import pytest
from flask import Flask
from sqlalchemy import Engine, text

from tests.conftest import WITHOUT_STANDBY
from tests.support import postgres
from tests.support.clients import Client
from tests.support.endpoints import FORM
from tests.support.fixtures import Clock
from tests.support.people import Browser, add_member
from tests.support.refusals import refused
from tests.support.shop_builder import ShopBuilder, writing
from tests.support.standby import Standby, replicated
from warehouse.connections.engine import open_engine
from warehouse.editions.editions import next_version
from warehouse.migrations.migrate import migrate
from web.app import close_app, create_app

RANGE = "range=2026-03-01..2026-03-31"
PATH = f"/v1/attribution?{RANGE}"


@pytest.fixture(scope="module")
def standby() -> Iterator[Standby]:
    with ExitStack() as started:
        try:
            standby = started.enter_context(replicated())
        except postgres.PostgresUnavailable as error:
            pytest.skip(f"{WITHOUT_STANDBY}{error}")
        yield standby


@pytest.fixture(scope="module")
def template(standby: Standby) -> Iterator[str]:
    """The name of a database with the tables."""
    with postgres.new_database(standby.primary) as url:
        engine = open_engine(url)
        migrate(engine)
        yield engine.url.database or ""


@dataclass
class Service:
    """A shop, and the API over its primary and the standby. `url` and `replica_url` name the two."""

    standby: Standby
    engine: Engine
    url: str
    replica_url: str
    app: Flask
    clock: Clock
    shop: ShopBuilder
    client: Client

    @contextmanager
    def lag(self) -> Iterator[None]:
        """During the block the replica stays as it is at its begin; afterwards it has everything."""
        self.standby.resume()
        self.standby.pause()
        try:
            yield
        finally:
            self.standby.resume()

    def order(self, on: str) -> None:
        """One more order, in the figures at once, as a rollup would write it."""
        self.shop.daily("attribution", on, type="visitor", orders=1, gross=100)
        with writing(self.engine) as connection:
            moved = f"UPDATE shop SET {next_version(self.clock.now)} WHERE shop_key = :key"
            connection.execute(text(moved), {"key": self.shop.key})

    def orders(self) -> int:
        return sum(row["orders"] for row in self.client.get(PATH).get_json()["data"])

    def post(self, path: str, method: str = "POST", **body: Any) -> Any:
        answer = self.app.test_client().open(
            path, method=method, json=body, headers=self.client.headers
        )
        assert answer.status_code in (200, 201), answer.text
        return answer.get_json()["data"]

    def browser(self) -> Browser:
        return Browser(self.app.test_client()).signed_in()

    def message(self) -> str:
        """The reason for which the service is not ready."""
        answer = self.app.test_client().get("/readyz")
        refused(answer, 503, "unavailable")
        return str(answer.get_json()["error"]["message"])


@pytest.fixture
def service(
    standby: Standby, template: str, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Service]:
    with postgres.new_database(standby.primary, template) as url:
        engine = open_engine(url, pooled=True)
        shop = ShopBuilder(engine)
        shop.form(FORM)
        add_member(engine, shop)
        key = shop.mint()
        standby.resume()
        replica = standby.url.set(database=engine.url.database)
        replica_url = replica.render_as_string(hide_password=False)
        monkeypatch.setenv("WAREHOUSE_URL", url)
        monkeypatch.setenv("READ_WAREHOUSE_URL", replica_url)
        app = create_app(clock=clock)
        client = Client(app.test_client(), key)
        yield Service(standby, engine, url, replica_url, app, clock, shop, client)
        close_app(app)
        engine.dispose()
