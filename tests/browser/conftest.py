"""A real Chromium, and the service that it looks at.

The tests are left out, with a line that says so, where there is no Chromium. The browser downloads
nothing: it is the system's own.
"""

import os
import shutil
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, sync_playwright
from sqlalchemy import Engine

from tests.conftest import WITHOUT_CHROMIUM
from tests.web.builders import ShopBuilder, writing
from tests.web.serving import served
from warehouse.engine import open_engine
from warehouse.migrate import migrate
from warehouse.schema import metadata, secret

NAMES = ("chromium", "chromium-browser", "google-chrome")
ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


@dataclass(frozen=True)
class Service:
    """Two workers on an address of their own."""

    base: str
    port: int
    url: str
    engine: Engine
    shop: ShopBuilder


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    path = os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, NAMES)), None)
    if path is None:
        pytest.skip(f"{WITHOUT_CHROMIUM}none of {', '.join(NAMES)} is installed")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=ARGUMENTS)
        yield browser
        browser.close()


NewContext = Callable[..., BrowserContext]


@pytest.fixture
def new_context(chromium: Browser) -> Iterator[NewContext]:
    """A function that opens a browser without a past."""
    contexts = []

    def new(**options: object) -> BrowserContext:
        contexts.append(chromium.new_context(**options))  # type: ignore[arg-type]
        contexts[-1].set_default_timeout(20_000)
        return contexts[-1]

    yield new
    for context in contexts:
        context.close()


@pytest.fixture
def page(new_context: NewContext) -> Page:
    return new_context().new_page()


@pytest.fixture
def service(chromium: Browser, warehouse_url: str) -> Iterator[Service]:
    """One on each database; asked for after Chromium, which may not be there."""
    with running(warehouse_url) as (base, port, engine):
        yield Service(base, port, warehouse_url, engine, ShopBuilder(engine))


@pytest.fixture(scope="session")
def sqlite_service(
    chromium: Browser, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[str, int, str, Engine]]:
    url = f"sqlite:///{tmp_path_factory.mktemp('browser') / 'warehouse.db'}"
    with running(url) as (base, port, engine):
        yield base, port, url, engine


@pytest.fixture
def plain_service(sqlite_service: tuple[str, int, str, Engine]) -> Service:
    """On SQLite, emptied, where the database makes no difference."""
    base, port, url, engine = sqlite_service
    with writing(engine) as connection:
        for table in metadata.sorted_tables:
            if table is not secret:
                connection.execute(table.delete())
    return Service(base, port, url, engine, ShopBuilder(engine))


@contextmanager
def running(url: str) -> Iterator[tuple[str, int, Engine]]:
    engine = open_engine(url)
    migrate(engine)
    with served(url) as (process, port):
        yield f"http://127.0.0.1:{port}", port, engine
        # At once: the browser keeps its connections, which a graceful end would wait for.
        process.send_signal(signal.SIGQUIT)
        process.wait(timeout=30)
    engine.dispose()
