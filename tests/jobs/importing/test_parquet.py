"""Values that only Parquet can hold: its types, and values that are none of their type."""

import json
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.support.import_files import Row, account, answer, event, form, order, spend
from tests.support.warehouse import Warehouse


def take(warehouse: Warehouse, kind: str, row: Row, **columns: pa.Array) -> dict[str, int]:
    """Import a row several times, with these columns in the place of its own."""
    count = max(map(len, columns.values()))
    own: dict[str, Any] = {name: pa.array([value] * count) for name, value in row.items()}
    pq.write_table(pa.table(own | columns), warehouse.folder / "in.parquet")
    return warehouse.take_file(kind, warehouse.folder / "in.parquet")


def ids(count: int) -> pa.Array:
    return pa.array([str(number) for number in range(count)])


def not_utf8(*texts: bytes) -> pa.Array:
    column = pa.array(texts, pa.binary())
    return pa.Array.from_buffers(pa.string(), len(texts), column.buffers())


@pytest.mark.parametrize(
    ("values", "stored"),
    [
        (pa.array([1e-7, 3.0]), ["1e-7", "3"]),
        (pa.array([1.1, 3.0], pa.float32()), ["1.1", "3"]),
        (
            pa.array([Decimal("12345678901234567.25"), Decimal("3.00")]),
            ["12345678901234567.25", "3"],
        ),
        (pa.array([1, 2**63 - 1], pa.uint64()), ["1", str(2**63 - 1)]),
        (pa.array(["a", "b"]).dictionary_encode(), ["a", "b"]),
        (pa.array([1.5, 2.0]).dictionary_encode(), ["1.5", "2"]),
        (pa.array([b"a", "é".encode()]), ["a", "é"]),
        (pa.array(["a", "b"], pa.large_string()), ["a", "b"]),
        (pa.array(["a", "b"], pa.string_view()), ["a", "b"]),
        (pa.array([["b", "a"], ["c"]], pa.large_list(pa.large_string())), [["a", "b"], ["c"]]),
        (pa.array([[1.0, None], [2.5]]), [["1"], ["2.5"]]),
    ],
    ids=lambda values: str(getattr(values, "type", "")),
)
def test_types_of_a_value(sqlite_warehouse: Warehouse, values: pa.Array, stored: list[Any]) -> None:
    take(sqlite_warehouse, "events", answer("x", "scale"), event_id=ids(2), value=values)
    found = sqlite_warehouse.records("SELECT value FROM raw_event ORDER BY event_id")
    assert [json.loads(row["value"]) for row in found] == stored


EPOCH = "1970-01-01T00:00:00+00:00"
NOT_A_TIME = "is not an ISO 8601 time; an example is 2026-01-31T23:59:59Z"
NO_VALUE = "value: not a text, number, boolean or list of them"


@pytest.mark.parametrize(
    ("name", "values", "reason"),
    [
        ("value", pa.array([float("nan")]), NO_VALUE),
        ("value", pa.array([float("inf")]), "value: beyond 64 bits"),
        ("value", pa.array([{"a": 1}]), NO_VALUE),
        ("value", pa.array([[[1]]]), NO_VALUE),
        ("value", pa.array([2**64 - 1], pa.uint64()), "value: beyond 64 bits"),
        ("value", not_utf8(b"\xff"), "value: not UTF-8"),
        ("visitor_id", not_utf8(b"\xff"), "visitor_id: not UTF-8"),
        ("visitor_id", pa.array([b"\xff"]), "visitor_id: not UTF-8"),
        ("visitor_id", pa.array([5.5]), "visitor_id: 5.5 is not a whole number"),
        ("visitor_id", pa.array([float("nan")]), "visitor_id: missing"),
        ("visitor_id", pa.array([True]), "visitor_id: true is not a text"),
        (
            "visitor_id",
            pa.array([0], pa.timestamp("ms")),
            f"visitor_id: {EPOCH} is not a text",
        ),
        (
            "occurred_at",
            pa.array([1767323045]),
            f"occurred_at: 1767323045 {NOT_A_TIME}",
        ),
        ("occurred_at", pa.array([None], pa.timestamp("us")), "occurred_at: missing"),
        (
            "occurred_at",
            pa.array([2**60], pa.timestamp("ms")),
            f"occurred_at: beyond the years 1 to 9999 ({2**60})",
        ),
    ],
)
def test_values_that_an_event_cannot_have(
    warehouse: Warehouse, name: str, values: pa.Array, reason: str
) -> None:
    """One bad row costs that row alone."""
    good = answer("x", "scale", event_id="good")
    counts = take(warehouse, "events", good, **{name: values})
    assert (counts["read"], counts["rejected"]) == (1, 1)
    assert warehouse.reasons() == [(1, reason)]


def test_the_rows_around_an_unreadable_one_are_taken(sqlite_warehouse: Warehouse) -> None:
    texts = not_utf8(b"v1", b"\xffopinion", b"v3")
    row = answer("x", "text")
    assert take(sqlite_warehouse, "events", row, event_id=ids(3), value=texts)["new"] == 2
    found = sqlite_warehouse.records("SELECT event_id FROM raw_event ORDER BY event_id")
    assert [row["event_id"] for row in found] == ["0", "2"]
    assert sqlite_warehouse.reasons() == [(2, "value: not UTF-8")]
    (kept,) = sqlite_warehouse.records("SELECT text FROM reject")
    assert kept["text"] == "***"


LATE = pa.array([2**60, 0], pa.timestamp("ms"))


@pytest.mark.parametrize(
    ("kind", "row", "name"),
    [
        ("orders", order(), "cancelled_at"),
        ("forms", form(), "created_at"),
        ("ad-spend", spend(), "date"),
        ("ad-accounts", account(), "synced_at"),
    ],
)
def test_a_time_that_no_calendar_has(
    sqlite_warehouse: Warehouse, kind: str, row: Row, name: str
) -> None:
    row = {field: value for field, value in row.items() if field != "schema"}
    take(sqlite_warehouse, kind, row, **{name: LATE})
    assert sqlite_warehouse.reasons()[0] == (1, f"{name}: beyond the years 1 to 9999 ({2**60})")


def test_cents_of_any_number_type(sqlite_warehouse: Warehouse) -> None:
    for number, cents in enumerate(
        (
            pa.array([Decimal("100.00"), Decimal("100.50")]),
            pa.array([100.0, 100.5]),
            pa.array(["100.0", "100.5"]),
            pa.array([100, 2**63], pa.uint64()),
        )
    ):
        names = pa.array([f"{number}a", f"{number}b"])
        counts = take(sqlite_warehouse, "orders", order(), order_id=names, total_cents=cents)
        assert (counts["new"], counts["rejected"]) == (1, 1)
    assert sqlite_warehouse.records("SELECT DISTINCT gross FROM raw_order") == [{"gross": 100}]


def test_an_event_without_a_column_is_one_without_a_value(sqlite_warehouse: Warehouse) -> None:
    counts = take(sqlite_warehouse, "events", event(), utm_term=pa.nulls(1))
    assert counts["new"] == 1
