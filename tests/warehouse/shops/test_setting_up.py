"""The questions of the set-up page to the warehouse: pulls of a shop, and how far its data have come in."""

from base64 import b64encode
from collections.abc import Iterator
from datetime import UTC, date, datetime

import pytest
from sqlalchemy import Engine, insert, select

from tests.support.shop_builder import ShopBuilder, instant, writing
from warehouse.connections.engine import open_engine
from warehouse.intake import shop_pulls
from warehouse.intake.shop_pulls import decrypted
from warehouse.shops.shop_inputs import Arrival, read_arrivals
from warehouse.tables import import_batch, pull

SECRET = {"client_id": "an id", "client_secret": "a secret"}
NOTHING = [
    Arrival(kind, 0, None, None)
    for kind in ("events", "orders", "ad-spend", "ad-accounts", "exchange-rates")
]


@pytest.fixture
def engine(warehouse_url: str) -> Iterator[Engine]:
    engine = open_engine(warehouse_url)
    yield engine
    engine.dispose()


def arrivals(engine: Engine, shop: ShopBuilder) -> list[Arrival]:
    with engine.connect() as connection:
        return read_arrivals(connection, shop.key)


def test_arrivals_are_those_of_the_shop(engine: Engine) -> None:
    shop, other = ShopBuilder(engine), ShopBuilder(engine, "other.example")
    assert arrivals(engine, shop) == NOTHING
    with writing(engine) as connection:
        for rows, at in ((5, "2026-03-02T10:00:00"), (2, "2026-03-01T09:00:00")):
            batch = {"shop_key": shop.key, "rows": rows, "imported_at": instant(at)}
            connection.execute(insert(import_batch), {"kind": "orders", **batch})
    shop.spend("2026-02-03", "meta", "1", "2.50")
    shop.spend("2026-02-01", "meta", "1", "2.50")
    shop.account("meta", "ok", "2026-03-03T00:00:00")
    shop.rate("2026-01-30", "EUR", "USD", "1.0393")
    synced = datetime(2026, 3, 3, tzinfo=UTC)
    rates = Arrival("exchange-rates", 1, date(2026, 1, 30), date(2026, 1, 30))
    assert arrivals(engine, shop) == [
        NOTHING[0],
        Arrival(
            *("orders", 7),
            datetime(2026, 3, 1, 9, tzinfo=UTC),
            datetime(2026, 3, 2, 10, tzinfo=UTC),
        ),
        Arrival("ad-spend", 2, date(2026, 2, 1), date(2026, 2, 3)),
        Arrival("ad-accounts", 1, synced, synced),
        rates,
    ]
    assert arrivals(engine, other) == [*NOTHING[:4], rates]


def test_shopify_is_set_up_again_and_goes_on(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CREDENTIALS_KEY", b64encode(b"k" * 32).decode())
    shop, other = ShopBuilder(engine, "a.myshopify.com"), ShopBuilder(engine, "other.example")

    def set_up(shop_key: int, domain: str) -> str:
        with writing(engine) as connection:
            return shop_pulls.set_up_shopify(
                connection, shop_key, "a.myshopify.com", domain, SECRET, now=1
            )

    assert set_up(shop.key, "a.myshopify.com") == "shopify-a.myshopify.com"
    with writing(engine) as connection:
        connection.execute(pull.update().values(state='{"so": "far"}'))
    set_up(shop.key, "b.myshopify.com")
    with engine.connect() as connection:
        (row,) = connection.execute(select(pull))
        listed = [shop_pulls.list_of_shop(connection, key) for key in (shop.key, other.key)]
    assert (row.shop_key, row.state) == (shop.key, '{"so": "far"}')
    assert row.config == '{"domain": "b.myshopify.com"}'
    assert decrypted(row.credentials) == SECRET
    assert [[one.name for one in pulls] for pulls in listed] == [["shopify-a.myshopify.com"], []]
    with pytest.raises(shop_pulls.CannotSetUp):
        set_up(other.key, "a.myshopify.com")
