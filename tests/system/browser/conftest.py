"""A real Chromium, and a service on SQLite that it opens.

Without Chromium the tests are skipped, and the summary says so. The browser is the system's own; nothing
is downloaded.
"""

import os
import shutil
import threading
from collections.abc import Callable, Iterator
from functools import partial
from http.server import ThreadingHTTPServer
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright
from sqlalchemy import Engine

from jobs.demo.cast import FINDER, QUIZ, SHOP, SHOP_ID, WELCOME
from jobs.landing import turns
from tests.conftest import WITHOUT_CHROMIUM
from tests.support.browser_steps import Service
from tests.support.product import Product
from tests.support.serving import collected, served
from tests.support.shop_builder import ShopBuilder, writing
from tests.support.shop_site import QuietHandler, Site
from tests.support.waiting import PATIENCE_SECONDS
from warehouse.connections.engine import open_engine
from warehouse.migrations.migrate import migrate
from warehouse.tables import secret
from warehouse.tables.base import metadata

# The first is Chromium without windows: it takes three quarters of the processor time.
NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    # Its own says that it has no window, which makes it a crawler for the collector.
    "--user-agent=Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 Chrome/140.0.0.0 Safari/537.36",
]


def chromium_path() -> str | None:
    """The system's own browser, or the one that CHROMIUM names."""
    return os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, NAMES)), None)


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    path = chromium_path()
    if path is None:
        pytest.skip(f"{WITHOUT_CHROMIUM}none of {', '.join(NAMES)} is installed")
    expect.set_options(timeout=PATIENCE_SECONDS * 1_000)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=ARGUMENTS)
        yield browser
        browser.close()


NewContext = Callable[..., BrowserContext]


@pytest.fixture
def new_context(chromium: Browser) -> Iterator[NewContext]:
    """A function that opens a browser context without cookies or cache."""
    contexts = []

    def new(**options: object) -> BrowserContext:
        contexts.append(chromium.new_context(**options))  # type: ignore[arg-type]
        contexts[-1].set_default_timeout(PATIENCE_SECONDS * 1_000)
        return contexts[-1]

    yield new
    for context in contexts:
        context.close()


@pytest.fixture
def page(new_context: NewContext) -> Page:
    return new_context().new_page()


@pytest.fixture(scope="session")
def served_warehouse(
    chromium: Browser, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[int, str, Engine]]:
    """Port, URL and engine. It starts after Chromium, which may be missing."""
    url = f"sqlite:///{tmp_path_factory.mktemp('browser') / 'warehouse.db'}"
    engine = open_engine(url)
    migrate(engine)
    with served(url) as (process, port):
        yield port, url, engine
        process.terminate()
        process.wait()
    engine.dispose()


@pytest.fixture
def service(served_warehouse: tuple[int, str, Engine]) -> Service:
    """The service with one new shop and nothing else."""
    port, url, engine = served_warehouse
    with writing(engine) as connection:
        for table in metadata.sorted_tables:
            if table is not secret:
                connection.execute(table.delete())
    return Service(f"http://127.0.0.1:{port}", port, url, engine, ShopBuilder(engine))


@pytest.fixture
def site(
    chromium: object, warehouse_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Site]:
    """A shop whose forms are known. It starts after Chromium, which may be missing."""
    pages = tmp_path / "pages"
    pages.mkdir()
    product = Product(warehouse_url)
    product.load("shops", [SHOP])
    forms = [
        {"form_id": form.id, "shop_id": SHOP_ID, "name": form.name}
        for form in (WELCOME, QUIZ, FINDER)
    ]
    product.load("forms", forms)
    with ThreadingHTTPServer(
        ("127.0.0.1", 0), partial(QuietHandler, directory=str(pages))
    ) as server:
        server.posted = []  # type: ignore[attr-defined]
        threading.Thread(target=server.serve_forever).start()
        try:
            site = Site(server, pages, product)
            monkeypatch.setenv("IMPORT_DIR", str(site.landing))
            monkeypatch.setattr(turns, "_SETTLE_SECONDS", 0.01)
            with collected(product.url, site.landing) as (process, port):
                site.collector = f"http://127.0.0.1:{port}"

                def roll_up() -> None:
                    process.terminate()
                    process.wait()
                    product._jobs("landing")
                    product.rollup()

                site.roll_up = roll_up
                yield site
        finally:
            server.shutdown()
            product.close()
