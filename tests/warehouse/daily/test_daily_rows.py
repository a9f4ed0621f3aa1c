"""Daily rows written by the writer and summed by the reader, on both databases."""

from collections.abc import Iterator

import pyarrow as pa
import pytest
from sqlalchemy import Connection

from warehouse.catalogue import SUMMARY
from warehouse.connections.arrow import open_arrow
from warehouse.connections.engine import open_engine
from warehouse.daily import reader, writer


def table(name: str, *rows: tuple[int, ...]) -> pa.Table:
    columns = zip(*rows, strict=True)
    return pa.table(dict(zip(SUMMARY[name].columns, map(pa.array, columns), strict=True)))


def add(url: str, name: str, *rows: tuple[int, ...]) -> None:
    with open_arrow(url) as connection:
        writer.add(connection, SUMMARY[name], table(name, *rows))
        connection.commit()


@pytest.fixture
def attributed(warehouse_url: str) -> Iterator[Connection]:
    # edition, day, type, orders, gross, refunded
    add(warehouse_url, "attribution", (1, 7, 0, 2, 2000, 0), (1, 8, 0, 1, 500, 100))
    add(
        warehouse_url, "attribution", (1, 8, 0, 1, 300, 0), (1, 9, 1, 1, 700, 0), (2, 8, 0, 9, 9, 9)
    )
    with open_engine(warehouse_url).connect() as connection:
        yield connection


def test_sums_over_days_by_dimension(attributed: Connection) -> None:
    sums = reader.read(attributed, "attribution", 1, 7, 9, by=["type"])
    assert list(sums.rows()) == [
        {"type": 0, "orders": 4, "gross": 2800, "refunded": 100},
        {"type": 1, "orders": 1, "gross": 700, "refunded": 0},
    ]
    assert sums.total()["gross"] == 3500


def test_a_single_row_for_no_dimension_and_none_for_no_rows(attributed: Connection) -> None:
    assert reader.read(attributed, "attribution", 1, 8, 8).total() == {
        "orders": 2,
        "gross": 800,
        "refunded": 100,
    }
    nothing = reader.read(attributed, "attribution", 1, 10, 12)
    assert (len(nothing), nothing.total()["orders"]) == (0, 0)


def test_one_value_of_a_dimension_by_day(attributed: Connection) -> None:
    sums = reader.read(attributed, "attribution", 1, 7, 9, by=["day"], where={"type": 0})
    assert list(zip(sums["day"].tolist(), sums["orders"].tolist(), strict=True)) == [(7, 2), (8, 2)]


def test_rows_that_become_zero_are_deleted(warehouse_url: str) -> None:
    add(warehouse_url, "attribution", (1, 7, 0, 2, 2000, 0))
    add(warehouse_url, "attribution", (1, 7, 0, -2, -2000, 0))
    with open_arrow(warehouse_url) as connection:
        assert connection.value("SELECT COUNT(*) FROM daily_attribution") == 0


def test_rows_of_empty_editions_and_of_others_are_added_together(warehouse_url: str) -> None:
    add(warehouse_url, "attribution", (1, 7, 0, 2, 2000, 0))
    with open_arrow(warehouse_url) as connection:
        both = table("attribution", (2, 7, 0, 1, 10, 0), (1, 7, 0, 3, 30, 0))
        writer.add(connection, SUMMARY["attribution"], both, {2})
        connection.commit()
        rows = connection.table("SELECT edition, orders FROM daily_attribution ORDER BY edition")
        assert rows.to_pylist() == [{"edition": 1, "orders": 5}, {"edition": 2, "orders": 1}]


def test_packed_rows_are_added_to_and_summed_by_a_packed_dimension(warehouse_url: str) -> None:
    # edition, day, form, events
    add(warehouse_url, "events", (1, 7, 5, 10), (1, 7, 6, 1), (1, 8, 5, 2))
    add(warehouse_url, "events", (1, 7, 5, 1), (1, 7, 6, -1), (1, 9, 7, 4))
    with open_engine(warehouse_url).connect() as connection:
        sums = reader.read(connection, "events", 1, 7, 9, by=["form"])
        days = reader.read_cells(connection, "events", 1, 7, 9, by=["day", "form"])
    assert dict(zip(sums["form"].tolist(), sums["events"].tolist(), strict=True)) == {5: 13, 7: 4}
    assert sorted(zip(*(column.tolist() for column in days.values()), strict=True)) == [
        (7, 5, 11),
        (8, 5, 2),
        (9, 7, 4),
    ]


def test_days_are_replaced(warehouse_url: str) -> None:
    add(warehouse_url, "events", (1, 7, 5, 10), (1, 8, 5, 2), (1, 9, 5, 3), (2, 8, 5, 4))
    with open_arrow(warehouse_url) as connection:
        writer.replace(connection, SUMMARY["events"], 1, 8, 9, table("events", (1, 8, 6, 7)))
        connection.commit()
        stored = writer.stored_rows(connection, SUMMARY["events"], 1, 7, 9)
        assert stored.to_pylist() == [
            {"edition": 1, "day": 7, "form": 5, "events": 10},
            {"edition": 1, "day": 8, "form": 6, "events": 7},
        ]
        assert writer.stored_rows(connection, SUMMARY["events"], 2, 8, 8).num_rows == 1


def test_visitors_are_counted_once_in_any_range(warehouse_url: str) -> None:
    # edition, day, form, kind, previous, visitors: one visitor on days 3, 5 and 9, another on 5.
    add(
        warehouse_url,
        "visitor",
        (1, 3, 1, 0, -1, 1),
        (1, 5, 1, 0, 3, 1),
        (1, 9, 1, 0, 5, 1),
        (1, 5, 1, 0, -1, 1),
    )
    with open_engine(warehouse_url).connect() as connection:
        counted = {
            days: reader.read_visitors(connection, 1, *days, 1).get(0, 0)
            for days in [(1, 9), (4, 9), (5, 5), (6, 9), (6, 8)]
        }
    assert counted == {(1, 9): 2, (4, 9): 2, (5, 5): 2, (6, 9): 1, (6, 8): 0}
