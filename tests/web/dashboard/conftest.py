"""A shop with everything, seen by a member; and the API's answers about it."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.support.fixtures import Loaded
from tests.support.loaded import Content, Originals
from tests.support.oracle import Oracle
from tests.support.people import Browser, add_member
from tests.support.product import Product
from tests.support.shop_builder import ShopBuilder, known_shop
from tests.support.worlds import NOW, World, world
from tests.web.dashboard.two_shops import ZONES, TwoShops, without_data
from warehouse.connections.engine import open_engine
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


SEEDS = range(145, 645)


@pytest.fixture(scope="session")
def rolled_up(originals: Originals, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, World]:
    """The URL of a warehouse with a random world in it, whose first shop has rows on every page.

    Few worlds have ads, customers of this month and each value of each filter: the first that will do is
    taken. It is the same on every day, at every hour.
    """
    midnight = NOW.replace(hour=0)
    worlds = (world(seed, 60, midnight, changed_clocks=False) for seed in SEEDS)
    some = next((one for one in worlds if every_page_has_rows(one)), None)
    assert some, f"no world of {len(SEEDS)} has rows on every page"
    file = tmp_path_factory.mktemp("dashboard") / "warehouse.db"
    return originals.copy_file(some, file), some


def every_page_has_rows(some: World) -> bool:
    """As the oracle says: to ask it takes a fortieth of the time to load the world."""
    (shop_id, cast), oracle, now = next(iter(some.casts.items())), Oracle(some.records), some.now
    # Elsewhere the day of the shop begins within that of the world.
    if cast.timezone.key != "UTC":
        return False
    today = oracle.today(shop_id, now)
    before = f"{today - timedelta(60)}..{today - timedelta(31)}"
    older = f"{today - timedelta(365)}..{today - timedelta(61)}"

    def rows(path: str, **query: str) -> Any:
        return oracle.answer(f"/v1{path}", query, shop_id, today, now)

    def seen_forms(**filters: str) -> set[str | None]:
        shown = rows("/forms/funnel", range="30d", **filters)
        return {row["formName"] for row in shown if row["views"]}

    def revenue(days: str) -> bool:
        return any(row["netRevenueCents"] for row in rows("/attribution/daily", range=days))

    return (
        # Two forms, and one that only events know.
        len(seen_forms()) > 2
        and None in seen_forms()
        and bool(seen_forms(utm_term="a"))
        and len(rows("/ads/spend", range="30d")["rows"]) > 2
        and all(
            rows("/customers/ltv", range="30d", dimension=dimension)["rows"]
            for dimension in ("form", "segment")
        )
        and all(map(revenue, (f"{today}", before, older)))
        and any(rows("/orders", range="90d", device="desktop"))
        and all(
            any(row["netRevenueCents"] for row in rows("/revenue/by-form", range="30d", **filters))
            for filters in ({"device": "mobile"}, {"visitor": "new"})
        )
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


@contextmanager
def shop_on(url: str) -> Iterator[tuple[Seen, ShopBuilder, Any]]:
    """A shop without figures, and an application that shows it."""
    engine, app = open_engine(url, pooled=True), create_app(url)
    shop = ShopBuilder(engine)
    add_member(engine, shop)
    browser = Browser(app.test_client()).signed_in()
    seen = Seen(browser, Product(url), None, shop.shop_id)  # type: ignore[arg-type]
    yield seen, shop, engine
    close_app(app)
    engine.dispose()


@pytest.fixture
def by_hand(sqlite_url: str) -> Iterator[tuple[Seen, ShopBuilder, Any]]:
    with shop_on(sqlite_url) as built:
        yield built


@pytest.fixture
def content() -> Content:
    """The data of the two shops."""
    return without_data


@pytest.fixture
def two(loaded: Loaded, content: Content, tmp_path: Path) -> Iterator[TwoShops]:
    url = loaded(content)
    engine, app = open_engine(url), create_app(url)
    shops = TwoShops(url, tmp_path, engine, app)
    for shop in ZONES:
        email = f"ada@{shop}"
        add_member(engine, known_shop(engine, shop), email)
        shops.browsers[shop] = Browser(app.test_client()).signed_in(email)
    yield shops
    close_app(app)
    engine.dispose()
