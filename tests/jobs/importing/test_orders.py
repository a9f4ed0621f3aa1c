"""Orders in, versions out."""

import json
from typing import Any

import pytest

from tests.support.hashing import keyed
from tests.support.import_files import order
from tests.support.warehouse import Warehouse
from warehouse.domain.time import NEVER

FULL = order(
    created_at="2026-01-02T03:04:05",
    updated_at="2026-01-03 00:00:00Z",
    currency="EUR",
    total_cents=5000.0,
    discount_cents=700,
    customer_id="c1",
    email="Ann@Mail.example",
    visitor_id="v1",
    discount_codes=[{"code": "b"}, {"code": "été", "amount_cents": 3, "discount_id": "d"}],
    refunds=[{"refund_id": "r", "created_at": "2026-01-05", "amount_cents": 1200}],
    test=True,
    utm_source="meta",
)
STORED = {
    "order_id": "o1",
    "updated_at": 1767398400000000,
    "exported_at": NEVER,
    "created_at": 1767323045000000,
    "gross": 5000,
    "refunded": 1200,
    "refunds": '[["r",1767571200000000,1200]]',
    "discounted": 700,
    "customer_id": "c1",
    "email_sha256": keyed("ann@mail.example"),
    "visitor_id": "v1",
    "codes": '[["B",0,""],["ÉTÉ",3,"d"]]',
    "test": 1,
    "cancelled": 0,
    "utm_source": "meta",
    "utm_medium": "",
    "utm_campaign": "",
    "utm_term": "",
    "utm_content": "",
    "utm_id": "",
}


@pytest.mark.parametrize("name", ["in.ndjson", "in.csv", "in.parquet"])
def test_every_field_from_every_format(warehouse: Warehouse, name: str) -> None:
    counts = warehouse.take("orders", [FULL], name)
    assert counts == {"read": 1, "new": 1, "duplicate": 0, "replaced": 0, "rejected": 0}
    (row,) = warehouse.records("SELECT * FROM raw_order")
    assert (row.pop("shop_key"), row.pop("batch_id")) == (1, 1)
    assert len(row.pop("content")) == 64
    assert len(row.pop("precedence")) == 34
    assert row == STORED


def test_one_version_is_the_same_however_it_is_written(sqlite_warehouse: Warehouse) -> None:
    for name in ("in.ndjson", "in.csv", "in.parquet"):
        counts = sqlite_warehouse.take("orders", [FULL], name)
        assert counts["new" if name == "in.ndjson" else "duplicate"] == 1
    other = FULL | {"created_at": "2026-01-02T05:04:05+02:00", "email": " ann@mail.example"}
    assert sqlite_warehouse.take("orders", [other])["duplicate"] == 1


def test_lists_typed_by_parquet(sqlite_warehouse: Warehouse) -> None:
    codes = [{"code": "a", "amount_cents": 5, "discount_id": None}, {"code": "b"}]
    rows = [order(order_id=name, discount_codes=codes) for name in ("1", "2")]
    sqlite_warehouse.take("orders", rows[:1], "in.parquet")
    sqlite_warehouse.take("orders", rows[1:], "in.ndjson")
    one, other = sqlite_warehouse.records("SELECT codes FROM raw_order")
    assert one == other == {"codes": '[["A",5,""],["B",0,""]]'}


# 2025-12-31, and a day, in microseconds.
JANUARY = 1767139200_000_000
DAY = 86400_000_000


def refund(name: str, day: int, amount: Any) -> dict[str, Any]:
    return {"refund_id": name, "created_at": f"2026-01-{day:02d}", "amount_cents": amount}


@pytest.mark.parametrize(
    ("refunds", "more", "refunded", "kept"),
    [
        ([], {}, 0, []),
        (None, {}, 0, []),
        ([refund("a", 1, 200), refund("b", 2, 300)], {}, 500, [("a", 1, 200), ("b", 2, 300)]),
        ([refund("a", 2, 200), refund("b", 1, 300)], {}, 500, [("b", 1, 300), ("a", 2, 200)]),
        ([refund("b", 1, 200), refund("a", 1, 300)], {}, 500, [("a", 1, 300), ("b", 1, 200)]),
        ([refund("a", 1, 900), refund("b", 2, 300)], {}, 1000, [("a", 1, 900), ("b", 2, 300)]),
        ([refund("a", 1, 200), refund("a", 2, 100)], {}, 100, [("a", 2, 100)]),
        ([refund("a", 2, 100), refund("a", 1, 200)], {}, 100, [("a", 2, 100)]),
        ([refund("a", 1, 100), refund("a", 1, 200)], {}, 200, [("a", 1, 200)]),
        (
            [refund("a", 1, 2**63 - 1), refund("b", 1, 2**63 - 1)],
            {},
            1000,
            [("a", 1, 2**63 - 1), ("b", 1, 2**63 - 1)],
        ),
        ([refund("a", 1, 1)], {"cancelled_at": "2026-02-01"}, 1000, [("a", 1, 1)]),
    ],
)
def test_refunds(
    sqlite_warehouse: Warehouse, refunds: Any, more: dict[str, Any], refunded: int, kept: Any
) -> None:
    sqlite_warehouse.take("orders", [order(refunds=refunds, **more)])
    (row,) = sqlite_warehouse.records("SELECT refunded, cancelled, refunds FROM raw_order")
    assert (row["refunded"], row["cancelled"]) == (refunded, int(bool(more)))
    days = [[name, JANUARY + day * DAY, amount] for name, day, amount in kept]
    assert json.loads(row["refunds"]) == days


def test_a_version_that_dates_a_refund_otherwise_is_another_one(warehouse: Warehouse) -> None:
    """Refunds of the same sum: the figures are the same, the versions are not."""
    some = [refund("a", 1, 100), refund("b", 2, 200)]
    others = [[refund("a", 1, 100), refund("b", 3, 200)], [refund("c", 1, 300)]]
    assert warehouse.take("orders", [order(refunds=some)])["new"] == 1
    assert warehouse.take("orders", [order(refunds=some[::-1])])["duplicate"] == 1
    warehouse.take("orders", [order(refunds=refunds) for refunds in others])
    stored = warehouse.records("SELECT DISTINCT content, refunds, refunded FROM raw_order")
    assert len(stored) == 3
    assert {row["refunded"] for row in stored} == {300}


@pytest.mark.parametrize(
    ("codes", "discount", "stored"),
    [
        (None, 9, []),
        ([], 9, []),
        ([{"code": "save"}], 9, [["SAVE", 9, ""]]),
        ([{"code": "save"}], None, [["SAVE", 0, ""]]),
        ([{"code": "save"}, {"code": "SAVE"}], 9, [["SAVE", 9, ""]]),
        ([{"code": "save", "amount_cents": 2}, {"code": "SAVE"}], 9, [["SAVE", 2, ""]]),
        (
            [{"code": "save", "amount_cents": 2}, {"code": "SAVE", "amount_cents": 3}],
            9,
            [["SAVE", 5, ""]],
        ),
        ([{"code": "b"}, {"code": "a"}], 9, [["A", 0, ""], ["B", 0, ""]]),
        (
            [{"code": "a", "discount_id": "x"}, {"code": "A", "discount_id": "y"}],
            9,
            [["A", 9, "y"]],
        ),
        ([{"code": 12, "discount_id": 7.0, "amount_cents": None}], 0, [["12", 0, "7"]]),
    ],
)
def test_codes(sqlite_warehouse: Warehouse, codes: Any, discount: Any, stored: Any) -> None:
    sqlite_warehouse.take("orders", [order(discount_codes=codes, discount_cents=discount)])
    (row,) = sqlite_warehouse.records("SELECT codes FROM raw_order")
    assert json.loads(row["codes"]) == stored


def test_versions_are_counted_as_replaced(warehouse: Warehouse) -> None:
    def version(day: int, **more: Any) -> dict[str, Any]:
        return order(updated_at=f"2026-02-{day:02d}", **more)

    def counted(*rows: dict[str, Any]) -> tuple[int, int, int]:
        counts = warehouse.take("orders", list(rows))
        return counts["new"], counts["replaced"], counts["duplicate"]

    assert counted(version(2), version(2)) == (1, 0, 1)
    assert counted(version(3), version(1), version(2)) == (0, 1, 2)
    assert counted(version(3), version(1)) == (0, 0, 2)
    assert counted(version(1, order_id="o2"), version(2, order_id="o2")) == (1, 1, 0)
    assert counted(version(2, order_id="o3"), version(1, order_id="o3")) == (1, 0, 1)
    assert counted(version(1, shop_id="b.example"), version(2)) == (1, 0, 1)
    batches = warehouse.records("SELECT rows FROM import_batch ORDER BY batch_id")
    assert [row["rows"] for row in batches] == [1, 2, 2, 2, 1]


def test_of_versions_of_one_instant_the_one_that_stands_counts_as_replaced(
    warehouse: Warehouse,
) -> None:
    """The greater precedence stands, whichever came first; the other one is kept, and changes nothing."""
    rows = [order(total_cents=total) for total in range(20)]
    counted = [warehouse.take("orders", [row]) for row in rows]
    contents = [
        row["precedence"]
        for row in warehouse.records("SELECT precedence FROM raw_order ORDER BY gross")
    ]
    stands = [content == max(contents[:n]) for n, content in enumerate(contents, 1)]
    assert [bool(counts["new"] + counts["replaced"]) for counts in counted] == stands
    assert [counts["new"] for counts in counted] == [1] + [0] * 19
    assert 1 < sum(stands) < 20
    together = warehouse.take("orders", [row | {"shop_id": "b.example"} for row in rows])
    assert (together["new"], together["replaced"]) == (1, sum(stands) - 1)


def test_without_updated_at_it_is_created_at(sqlite_warehouse: Warehouse) -> None:
    sqlite_warehouse.take("orders", [order(updated_at="")])
    (row,) = sqlite_warehouse.records("SELECT created_at = updated_at AS same FROM raw_order")
    assert row["same"] == 1


FILE, LATER_FILE, LAST_FILE = (f"2026-03-0{day}T00:00:00Z" for day in (1, 2, 3))


def standing(warehouse: Warehouse) -> Any:
    """The gross of the version that stands."""
    stands = "ORDER BY updated_at DESC, precedence DESC, content DESC LIMIT 1"
    (row,) = warehouse.records(f"SELECT gross FROM raw_order {stands}")
    return row["gross"]


@pytest.mark.parametrize("name", ["in.ndjson", "in.csv", "in.parquet"])
def test_without_updated_at_the_time_of_the_file_decides(warehouse: Warehouse, name: str) -> None:
    rows = [order(exported_at=at, total_cents=cents) for at, cents in ((LATER_FILE, 2), (FILE, 1))]
    for row in (*rows, order(total_cents=3)):
        warehouse.take("orders", [row], name)
    assert standing(warehouse) == 2
    assert warehouse.take("orders", [order(updated_at=LAST_FILE, total_cents=4)])["replaced"] == 1
    times = warehouse.records("SELECT updated_at, exported_at FROM raw_order ORDER BY gross")
    assert [row["exported_at"] == row["updated_at"] for row in times] == [True, True, False, False]


def test_beside_updated_at_the_time_of_the_file_says_nothing(sqlite_warehouse: Warehouse) -> None:
    stated = order(updated_at=LATER_FILE, total_cents=2)
    sqlite_warehouse.take("orders", [stated])
    assert sqlite_warehouse.take("orders", [stated | {"exported_at": LAST_FILE}])["duplicate"] == 1
    sqlite_warehouse.take("orders", [order(updated_at=FILE, exported_at=LAST_FILE, total_cents=1)])
    assert standing(sqlite_warehouse) == 2
    assert len(sqlite_warehouse.rows("SELECT * FROM raw_order")) == 2


def test_the_same_export_at_a_later_time_is_a_duplicate_and_can_be_the_last_word(
    warehouse: Warehouse,
) -> None:
    """A copy of a file says nothing new. It still stands over what was exported between the two."""

    def counted(at: str, cents: int) -> list[str]:
        counts = warehouse.take("orders", [order(exported_at=at, total_cents=cents)])
        return [name for name in ("new", "replaced", "duplicate") if counts[name]]

    assert [counted(FILE, 1), counted(FILE, 1), counted(LAST_FILE, 1)] == [
        ["new"],
        ["duplicate"],
        ["duplicate"],
    ]
    assert counted(LATER_FILE, 2) == ["duplicate"]
    assert standing(warehouse) == 1
