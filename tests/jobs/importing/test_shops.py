"""Shops: taken from every format, the last import wins; a currency stays while there is money in it."""

from threading import Thread

import pytest

from jobs.importing.files.ndjson import chunk_of_texts
from jobs.importing.kinds import KINDS
from jobs.importing.rejects import retry_rejects
from jobs.importing.shops import load_shops
from jobs.importing.values.columns import ChunkColumns
from jobs.run.errors import CommandFailed
from tests.support.hashing import HASHER
from tests.support.import_files import Row, as_ndjson, order, spend
from tests.support.waiting import wait_until
from tests.support.warehouse import Warehouse
from warehouse.connections.arrow import open_arrow

STORED = "SELECT shop_id, name, currency, timezone FROM shop WHERE shop_id >= 'n' ORDER BY shop_id"


@pytest.mark.parametrize("name", ["in.ndjson", "in.jsonl.gz", "in.csv", "in.parquet"])
def test_what_is_stored(warehouse: Warehouse, name: str) -> None:
    rows = [
        {"shop_id": "n.example", "name": "N" * 1001, "currency": "kwd", "timezone": "Asia/Kolkata"},
        {"shop_id": "o.example", "name": None, "currency": "JPY", "timezone": ""},
    ]
    assert warehouse.take("shops", rows, name)["new"] == 2
    assert warehouse.records(STORED) == [
        {"shop_id": "n.example", "name": "N" * 1000, "currency": "KWD", "timezone": "Asia/Kolkata"},
        {"shop_id": "o.example", "name": "", "currency": "JPY", "timezone": "UTC"},
    ]
    assert warehouse.take("shops", rows, name) == {
        "read": 2,
        "new": 0,
        "duplicate": 2,
        "replaced": 0,
        "rejected": 0,
    }


def test_another_timezone_keeps_the_shop_and_moves_its_data_version(warehouse: Warehouse) -> None:
    (before,) = warehouse.records("SELECT * FROM shop WHERE shop_id = 'a.example'")
    moved = {"shop_id": "a.example", "currency": "EUR", "timezone": "Europe/Paris"}
    counts = warehouse.take("shops", [moved, {"shop_id": "b.example", "currency": "JPY"}])
    assert (counts["replaced"], counts["duplicate"]) == (1, 1)
    (after,) = warehouse.records("SELECT * FROM shop WHERE shop_id = 'a.example'")
    assert after.pop("data_changed_at") > before.pop("data_changed_at")
    assert after == before | {
        "timezone": "Europe/Paris",
        "data_version": before["data_version"] + 1,
    }
    assert warehouse.records("SELECT data_version AS v FROM shop WHERE shop_id = 'b.example'") == [
        {"v": 0}
    ]


def test_a_shop_left_without_its_timezone_is_in_utc_again(sqlite_warehouse: Warehouse) -> None:
    row = {"shop_id": "n.example", "currency": "EUR", "timezone": "Asia/Tokyo"}
    sqlite_warehouse.take("shops", [row])
    assert sqlite_warehouse.take("shops", [row | {"timezone": None}])["replaced"] == 1
    assert sqlite_warehouse.records(STORED)[0]["timezone"] == "UTC"


DOLLARS: Row = {"shop_id": "a.example", "currency": "USD", "timezone": "Europe/Paris"}
EUROS: Row = {"shop_id": "a.example", "currency": "EUR", "name": "A"}
REFUSED = (
    "currency: 'USD' is not the shop's currency (EUR), "
    "which cannot change while it has orders or ad spend"
)
CURRENCY = "SELECT currency FROM shop WHERE shop_id = 'a.example'"


@pytest.mark.parametrize(("kind", "row"), [("orders", order()), ("ad-spend", spend())])
def test_a_currency_stays_while_there_is_money(warehouse: Warehouse, kind: str, row: Row) -> None:
    assert warehouse.take("shops", [DOLLARS, EUROS])["replaced"] == 1, "there is none yet"
    warehouse.take(kind, [row])
    others = [
        {"shop_id": "b.example", "currency": "USD"},
        {"shop_id": "n.example", "currency": "USD"},
    ]
    counts = warehouse.take("shops", [DOLLARS, EUROS | {"name": "Second"}, DOLLARS, *others])
    assert (counts["rejected"], counts["replaced"], counts["new"]) == (2, 2, 1)
    assert warehouse.reasons() == [(1, REFUSED), (3, REFUSED)]
    stored = "SELECT name, currency, timezone FROM shop WHERE shop_id = 'a.example'"
    assert warehouse.records(stored) == [{"name": "Second", "currency": "EUR", "timezone": "UTC"}]
    assert warehouse.records("SELECT COUNT(*) AS n FROM shop WHERE currency = 'USD'") == [{"n": 2}]


def test_a_refused_currency_is_taken_once_the_money_is_gone(warehouse: Warehouse) -> None:
    warehouse.take("orders", [order()])
    warehouse.take("shops", [DOLLARS])
    with open_arrow(warehouse.url) as connection:
        assert retry_rejects(connection).rejected == 1
    warehouse.change("DELETE FROM raw_order")
    with open_arrow(warehouse.url) as connection:
        assert retry_rejects(connection).replaced == 1
    assert warehouse.records(CURRENCY) == [{"currency": "USD"}]


def test_orders_that_were_checked_before_the_currency_changed(warehouse: Warehouse) -> None:
    kind = KINDS["orders"]
    with open_arrow(warehouse.url) as connection:
        texts = [(1, as_ndjson([order()]).decode())]
        columns = ChunkColumns(chunk_of_texts(kind.field_names(), texts, textual=False), HASHER)
        rows = kind.check(columns, load_shops(connection))
        warehouse.take("shops", [DOLLARS])
        with pytest.raises(CommandFailed, match="has become USD while its orders"):
            kind.write(connection, rows, 1)
        connection.rollback()
    assert warehouse.records("SELECT COUNT(*) AS n FROM raw_order") == [{"n": 0}]


def test_a_currency_waits_for_orders_that_are_being_imported(warehouse: Warehouse) -> None:
    kind = KINDS["orders"]
    with open_arrow(warehouse.url) as connection:
        texts = [(1, as_ndjson([order()]).decode())]
        columns = ChunkColumns(chunk_of_texts(kind.field_names(), texts, textual=False), HASHER)
        kind.write(connection, kind.check(columns, load_shops(connection)), 1)
        shops = Thread(target=warehouse.take, args=("shops", [DOLLARS]))
        shops.start()
        if warehouse.url.startswith("postgresql"):
            wait_until(lambda: warehouse.records("SELECT 1 FROM pg_locks WHERE NOT granted"))
        connection.commit()
    shops.join()
    assert warehouse.records(CURRENCY) == [{"currency": "EUR"}]
    assert warehouse.reasons() == [(1, REFUSED)]
