"""A collector over a warehouse with a shop and a write key, and the folder into which it writes."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from flask.testing import FlaskClient
from sqlalchemy import Engine

from tests.support.fixtures import Clock
from tests.support.shop_builder import ShopBuilder, writing
from tests.support.waiting import wait_until
from web.auth import write_keys
from web.auth.audit import Actor, Change
from web.collector.app import Collector, HandledPost, create_collector
from web.collector.known_keys import KnownKeys
from web.collector.landing_writer import LandingWriter
from web.collector.limits import SendLimits
from web.collector.warehouse_writer import WarehouseWriter
from web.db.database import Database
from web.http import request_log

ORIGIN = "https://shop.example"


def new_write_key(engine: Engine, shop_id: str, *origins: str) -> str:
    with writing(engine) as connection:
        return write_keys.create(
            Change(connection, Actor("test", "test"), 0), shop_id, origins, name="site"
        )


@pytest.fixture(autouse=True)
def keys_are_read_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("web.collector.known_keys.READ_SECONDS", 0.05)


@pytest.fixture
def write_key(engine: Engine, shop: ShopBuilder) -> str:
    return new_write_key(engine, shop.shop_id, ORIGIN)


@pytest.fixture
def landing(tmp_path: Path) -> Path:
    return tmp_path / "landing"


@pytest.fixture
def troubles(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Sentences for the operator, which are logged."""
    logged: list[str] = []
    monkeypatch.setattr(request_log, "log_trouble", logged.append)
    return logged


@pytest.fixture
def handled() -> list[HandledPost]:
    """The requests that were answered."""
    return []


@pytest.fixture
def shared(
    warehouse_url: str,
    write_key: str,
    landing: Path,
    clock: Clock,
    handled: list[HandledPost],
) -> Iterator[Collector]:
    database = Database(warehouse_url)
    shared = Collector(
        keys=KnownKeys(database),
        writer=LandingWriter(landing),
        limits=SendLimits(None, b"secret"),
        warehouse_writer=WarehouseWriter(database, clock, write_seconds=0.05),
        clock=clock,
        observe=handled.append,
    )
    wait_until(lambda: shared.keys.were_read)
    yield shared
    shared.close()


@pytest.fixture
def collector(shared: Collector) -> FlaskClient:
    return create_collector(shared).test_client()
