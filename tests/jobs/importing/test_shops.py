"""Shops: taken from every format, the last import wins."""

import pytest

from tests.jobs.importing.conftest import Warehouse

STORED = "SELECT shop_id, name, currency, timezone FROM shop WHERE shop_id >= 'n' ORDER BY shop_id"


@pytest.mark.parametrize("name", ["in.ndjson", "in.jsonl.gz", "in.csv", "in.parquet"])
def test_what_is_stored(warehouse: Warehouse, name: str) -> None:
    rows = [
        {"shop_id": "n.example", "name": "N" * 1001, "currency": "kwd", "timezone": "Asia/Kolkata"},
        {"shop_id": "o.example", "name": None, "currency": "JPY", "timezone": ""},
    ]
    assert warehouse.take("shops", rows, name)["new"] == 2
    assert warehouse.rows(STORED) == [
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
    (before,) = warehouse.rows("SELECT * FROM shop WHERE shop_id = 'a.example'")
    moved = {"shop_id": "a.example", "currency": "EUR", "timezone": "Europe/Paris"}
    counts = warehouse.take("shops", [moved, {"shop_id": "b.example", "currency": "JPY"}])
    assert (counts["replaced"], counts["duplicate"]) == (1, 1)
    (after,) = warehouse.rows("SELECT * FROM shop WHERE shop_id = 'a.example'")
    assert after.pop("data_changed_at") > before.pop("data_changed_at")
    assert after == before | {
        "timezone": "Europe/Paris",
        "data_version": before["data_version"] + 1,
    }
    assert warehouse.rows("SELECT data_version AS v FROM shop WHERE shop_id = 'b.example'") == [
        {"v": 0}
    ]


def test_a_shop_left_without_its_timezone_is_in_utc_again(sqlite_warehouse: Warehouse) -> None:
    row = {"shop_id": "n.example", "currency": "EUR", "timezone": "Asia/Tokyo"}
    sqlite_warehouse.take("shops", [row])
    assert sqlite_warehouse.take("shops", [row | {"timezone": None}])["replaced"] == 1
    assert sqlite_warehouse.rows(STORED)[0]["timezone"] == "UTC"
