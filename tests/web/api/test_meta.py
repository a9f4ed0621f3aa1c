"""`meta` says which shop the figures are of, and up to which import they are complete."""

from typing import Any

from flask.testing import FlaskClient
from sqlalchemy import Engine, insert, update

from tests.support.clients import Client
from tests.support.fixtures import Clock
from tests.support.shop_builder import ShopBuilder, instant, writing
from warehouse.tables import edition, edition_batch, import_batch, shop

PATH = "/v1/attribution"


def test_currency_and_timezone_are_the_shops(client: FlaskClient, engine: Engine) -> None:
    shop = ShopBuilder(engine, currency="JPY", timezone="Asia/Tokyo")
    one = Client(client, shop.mint())
    meta = one.get(PATH).get_json()["meta"]
    assert list(meta) == (
        ["requestId", "shopId", "credentialId", "range", "currency", "timezone", "dataThrough"]
    )
    assert (meta["currency"], meta["timezone"]) == ("JPY", "Asia/Tokyo")
    made = client.post("/v1/forms", json={"name": "A", "schema": {}}, headers=one.headers)
    assert made.get_json()["meta"]["currency"] == "JPY"
    table = one.get(f"{PATH}?format=csv")
    assert (table.headers["X-Currency"], table.headers["X-Timezone"]) == ("JPY", "Asia/Tokyo")


def test_data_through_is_null_before_the_first_rollup(client: FlaskClient, engine: Engine) -> None:
    one = Client(client, ShopBuilder(engine, rolled_up=False).mint())
    assert one.get(PATH).get_json()["meta"]["dataThrough"] is None
    assert "X-Data-Through" not in one.get(f"{PATH}?format=csv").headers


class Queue:
    """The import batches of a shop."""

    def __init__(self, engine: Engine, builder: ShopBuilder) -> None:
        self._engine, self._shop = engine, builder

    def batch(self, imported_at: str) -> int:
        row = {"shop_key": self._shop.key, "kind": "events", "imported_at": instant(imported_at)}
        with writing(self._engine) as connection:
            made = insert(import_batch).returning(import_batch.c.batch_id)
            return connection.execute(made, row).scalar_one()

    def apply(self, batch_id: int, at: str) -> None:
        row = {"edition": self._shop.edition, "batch_id": batch_id}
        with writing(self._engine) as connection:
            connection.execute(insert(edition_batch), row)
            moved = {"data_version": shop.c.data_version + 1, "data_changed_at": instant(at)}
            connection.execute(update(shop).values(**moved))

    def settle(self, batch_id: int) -> None:
        with writing(self._engine) as connection:
            connection.execute(update(edition).values(applied_through=batch_id))


def test_data_through_follows_the_oldest_pending_import(
    client: FlaskClient, shop: ShopBuilder, engine: Engine, clock: Clock
) -> None:
    one, queue, other = Client(client, shop.mint()), Queue(engine, shop), "/v1/attribution/daily"

    def through(path: str) -> Any:
        return one.get(path).get_json()["meta"]["dataThrough"]

    first = queue.batch("2026-03-31T08:00:00")
    queue.apply(first, "2026-03-31T08:05:00")
    assert through(PATH) == "2026-03-31T08:05:00.000Z"
    tag = one.tag(PATH)
    second, third = queue.batch("2026-03-31T09:00:00"), queue.batch("2026-03-31T10:00:00")
    # An answer that is kept, or that the client has, states the older instant, which is as true.
    assert (through(PATH), one.has(PATH, tag)) == ("2026-03-31T08:05:00.000Z", True)
    assert through(other) == "2026-03-31T09:00:00.000Z"
    queue.settle(first)
    queue.apply(third, "2026-03-31T10:01:00")
    assert (through(PATH), one.has(PATH, tag)) == ("2026-03-31T09:00:00.000Z", False)
    queue.apply(second, "2026-03-31T10:02:00.0019")
    assert through(PATH) == "2026-03-31T10:02:00.001Z"
    answer = one.get(f"{PATH}?format=csv")
    assert answer.headers["X-Data-Through"] == "2026-03-31T10:02:00.001Z"
    # Clocks of other machines may be ahead.
    clock.set("2026-03-31T10:02:00")
    assert through("/v1/forms") == "2026-03-31T10:02:00.000Z"
