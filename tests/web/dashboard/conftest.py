"""A shop with everything, seen by a member; and the API's answers about it."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from jobs.landing.folder import ORDER
from tests.support.people import Browser, add_member
from tests.support.product import Product
from tests.support.shop_builder import ShopBuilder, known_shop
from tests.support.worlds import NOW, World, world
from tests.web.dashboard.two_shops import ZONES, TwoShops
from warehouse.connections.engine import open_engine
from warehouse.migrations.migrate import migrate
from web.app import close_app, create_app


@dataclass
class Seen:
    """`page()` is a page as a browser gets it, `api()` an answer of the API; both about one shop."""

    browser: Browser
    product: Product
    world: World
    shop_id: str

    def page(self, path: str, **query: str) -> str:
        answer = self.browser.get(path, query_string=query, headers={"Accept": "text/html"})
        assert answer.status_code == 200, (path, answer.status_code)
        return answer.get_data(as_text=True)

    def api(self, path: str, **query: str) -> Any:
        status, body = self.product.get(f"/v1{path}", query, self.shop_id)
        assert status == 200, body
        return body["data"]


@pytest.fixture(scope="session")
def rolled_up(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, World]:
    """The URL of a warehouse with a random world in it, whose first shop has rows on every page.

    Some worlds have a shop without ads, or without customers of this month: the first world that will do
    is taken. A seed gives the same world all day.
    """
    for seed in range(17, 50):
        url = f"sqlite:///{tmp_path_factory.mktemp('dashboard') / 'warehouse.db'}"
        product, some = Product(url), world(seed, 60, NOW.replace(hour=0))
        for kind in ORDER:
            product.load(kind, some.records[kind])
        product.rollup()
        lively = every_page_has_rows(product, next(iter(some.casts)))
        product.close()
        if lively:
            return url, some
    raise AssertionError("no world of 33 has rows on every page")


def every_page_has_rows(product: Product, shop_id: str) -> bool:
    def rows(path: str, **query: str) -> Any:
        status, body = product.get(f"/v1{path}", query, shop_id)
        assert status == 200, body
        return body["data"]

    today = product.get("/v1/attribution", {}, shop_id)[1]["meta"]["range"]["to"][:10]
    return (
        sum(bool(row["formName"] and row["views"]) for row in rows("/forms/funnel", range="30d"))
        > 1
        and len(rows("/ads/spend", range="30d")["rows"]) > 2
        and all(
            rows("/customers/ltv", range="30d", dimension=dimension)["rows"]
            for dimension in ("form", "segment")
        )
        and any(row["netRevenueCents"] for row in rows("/attribution/daily", range=today))
    )


# One for all tests, which only read: a network can sign in so often and no more.
@pytest.fixture(scope="session")
def seen(rolled_up: tuple[str, World]) -> Iterator[Seen]:
    url, some = rolled_up
    engine = open_engine(url)
    shop_id = next(iter(some.casts))
    app = create_app(url)
    browser = Browser(app.test_client())
    add_member(engine, known_shop(engine, shop_id))
    browser.sign_in()
    yield Seen(browser, Product(url), some, shop_id)
    close_app(app)
    engine.dispose()


@pytest.fixture
def by_hand(tmp_path: Path) -> Iterator[tuple[Seen, ShopBuilder, Any]]:
    """A shop without figures, and an application that shows it."""
    url = f"sqlite:///{tmp_path / 'warehouse.db'}"
    engine = open_engine(url)
    migrate(engine)
    shop = ShopBuilder(engine)
    app = create_app(url)
    add_member(engine, shop)
    seen = Seen(Browser(app.test_client()).signed_in(), Product(url), None, shop.shop_id)  # type: ignore[arg-type]
    yield seen, shop, engine
    close_app(app)
    engine.dispose()


@pytest.fixture
def two(warehouse_url: str, tmp_path: Path) -> Iterator[TwoShops]:
    engine, app = open_engine(warehouse_url), create_app(warehouse_url)
    shops = TwoShops(warehouse_url, tmp_path, engine, app)
    shops.load("shops", [{"shop_id": id, "currency": "EUR", "timezone": ZONES[id]} for id in ZONES])
    for shop in ZONES:
        email = f"ada@{shop}"
        add_member(engine, known_shop(engine, shop), email)
        shops.browsers[shop] = Browser(app.test_client()).signed_in(email)
    yield shops
    close_app(app)
    engine.dispose()
