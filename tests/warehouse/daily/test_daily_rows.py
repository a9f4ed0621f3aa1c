"""Daily rows written by the writer and summed by the reader, on both databases."""

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
import pytest
from sqlalchemy import Connection

from warehouse.catalogue import OUTCOMES, SUMMARIES, SUMMARY, Summary
from warehouse.connections.arrow import open_arrow
from warehouse.connections.engine import open_engine
from warehouse.daily import reader, writer
from warehouse.daily.reader import DailyRows


def span(edition: int, first: int, last: int) -> pa.Table:
    return pa.table({"edition": [edition], "first": [first], "last": [last]})


def table(name: str, *rows: tuple[int, ...]) -> pa.Table:
    columns = zip(*rows, strict=True)
    return pa.table(dict(zip(SUMMARY[name].columns, map(pa.array, columns), strict=True)))


def delta(name: str, *rows: tuple[int, ...]) -> pa.Table:
    return writer.as_stored(SUMMARY[name], table(name, *rows))


def add(url: str, name: str, *rows: tuple[int, ...]) -> None:
    with open_arrow(url) as connection:
        writer.add(connection, SUMMARY[name], [delta(name, *rows)])
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
    sums = DailyRows(attributed, 1, 7, 9).sums("attribution", by=["type"])
    assert list(sums.rows()) == [
        {"type": 0, "orders": 4, "gross": 2800, "refunded": 100},
        {"type": 1, "orders": 1, "gross": 700, "refunded": 0},
    ]
    assert sums.total()["gross"] == 3500


def test_a_single_row_for_no_dimension_and_none_for_no_rows(attributed: Connection) -> None:
    assert DailyRows(attributed, 1, 8, 8).sums("attribution").total() == {
        "orders": 2,
        "gross": 800,
        "refunded": 100,
    }
    nothing = DailyRows(attributed, 1, 10, 12).sums("attribution")
    assert (len(nothing), nothing.total()["orders"]) == (0, 0)


def test_one_value_of_a_dimension_by_day(attributed: Connection) -> None:
    sums = DailyRows(attributed, 1, 7, 9).sums("attribution", by=["day"], where={"type": 0})
    assert list(zip(sums["day"].tolist(), sums["orders"].tolist(), strict=True)) == [(7, 2), (8, 2)]


def test_several_editions_by_day(attributed: Connection) -> None:
    sums = reader.read_editions(attributed, "attribution", [1, 2, 3], 8, 9, by=["day"])
    assert sorted((row["edition"], row["day"], row["gross"]) for row in sums.rows()) == [
        (1, 8, 800),
        (1, 9, 700),
        (2, 8, 9),
    ]
    assert len(reader.read_editions(attributed, "attribution", [], 7, 9)) == 0


def test_rows_that_become_zero_are_deleted(warehouse_url: str) -> None:
    add(warehouse_url, "attribution", (1, 7, 0, 2, 2000, 0))
    add(warehouse_url, "attribution", (1, 7, 0, -2, -2000, 0))
    with open_arrow(warehouse_url) as connection:
        assert connection.value("SELECT COUNT(*) FROM daily_attribution") == 0


def test_rows_of_empty_editions_and_of_others_are_added_together(warehouse_url: str) -> None:
    add(warehouse_url, "attribution", (1, 7, 0, 2, 2000, 0))
    with open_arrow(warehouse_url) as connection:
        both = delta("attribution", (2, 7, 0, 1, 10, 0), (1, 7, 0, 3, 30, 0))
        writer.add(connection, SUMMARY["attribution"], [both], {2})
        connection.commit()
        rows = connection.table("SELECT edition, orders FROM daily_attribution ORDER BY edition")
        assert rows.to_pylist() == [{"edition": 1, "orders": 5}, {"edition": 2, "orders": 1}]


@pytest.mark.parametrize("at_once", [1 << 20, 50])
def test_long_packed_rows_grow_in_pieces(
    warehouse_url: str, monkeypatch: pytest.MonkeyPatch, at_once: int
) -> None:
    """Lines that are new, that become more, and that become none, before, between and behind those of each
    piece; of many deltas, and in an edition that was empty before the first of them."""
    monkeypatch.setattr(writer, "_BYTES_AT_ONCE", at_once)
    monkeypatch.setattr(writer, "_ADDED_AT_ONCE", 3_000)
    summary, rng = SUMMARY["cross_field"], Random(at_once)
    due: Counter[tuple[int, ...]] = Counter()
    with open_arrow(warehouse_url) as connection:
        for time in range(4):
            deltas = []
            for _ in range(3):
                keys = {
                    (1, 7, 2, rng.choice([3, 4]), 5, rng.randint(-9, 9), rng.randint(-9, 9))
                    for _ in range(60)
                }
                rows = [(*key, rng.choice([1, 2, -due[key]]), 0) for key in keys]
                due.update({row[:-2]: row[-2] for row in rows})
                deltas.append(delta("cross_field", *rows))
            writer.add(connection, summary, deltas, () if time else {1})
        connection.commit()
        stored = writer.rows_of_spans(connection, summary, span(1, 7, 7)).to_pylist()
    found = [tuple(row[name] for name in summary.columns[:-1]) for row in stored]
    # The lines of each packed row are in order; packed rows may come in any.
    assert sorted(found, key=lambda row: row[: len(summary.key)]) == sorted(found)
    assert {row[:-1]: row[-1] for row in found} == {key: n for key, n in due.items() if n}


def test_a_long_packed_row_of_which_nothing_is_left_goes(
    warehouse_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writer, "_BYTES_AT_ONCE", 1)
    add(warehouse_url, "utm_submission", (1, 7, 5, 10), (1, 7, 6, 1))
    add(warehouse_url, "utm_submission", (1, 7, 5, -10), (1, 7, 6, -1))
    with open_arrow(warehouse_url) as connection:
        assert connection.value("SELECT COUNT(*) FROM daily_utm_submission") == 0


@pytest.mark.parametrize("at_once", [1 << 20, 1])
def test_packed_rows_are_added_to_and_summed_by_a_packed_dimension(
    warehouse_url: str, monkeypatch: pytest.MonkeyPatch, at_once: int
) -> None:
    """Also where the stored ones are read a key after the other."""
    monkeypatch.setattr(writer, "_BYTES_AT_ONCE", at_once)
    # edition, day, utm, submissions
    add(warehouse_url, "utm_submission", (1, 7, 5, 10), (1, 7, 6, 1), (1, 8, 5, 2))
    add(warehouse_url, "utm_submission", (1, 7, 5, 1), (1, 7, 6, -1), (1, 9, 7, 4))
    with open_engine(warehouse_url).connect() as connection:
        sums = DailyRows(connection, 1, 7, 9).sums("utm_submission", by=["utm"])
        days = DailyRows(connection, 1, 7, 9).cells("utm_submission", ["day", "utm"])
    assert dict(zip(sums["utm"].tolist(), sums["submissions"].tolist(), strict=True)) == {
        5: 13,
        7: 4,
    }
    assert sorted(zip(*(column.tolist() for column in days.values()), strict=True)) == [
        (7, 5, 11),
        (8, 5, 2),
        (9, 7, 4),
    ]


def test_days_are_replaced(warehouse_url: str) -> None:
    add(warehouse_url, "utm_submission", (1, 7, 5, 10), (1, 8, 5, 2), (1, 9, 5, 3), (2, 8, 5, 4))
    with open_arrow(warehouse_url) as connection:
        summary = SUMMARY["utm_submission"]
        writer.stage_empty(connection, summary)
        writer.add(connection, summary.staged(), [delta("utm_submission", (1, 8, 6, 7))])
        writer.replace(connection, summary, 1, 8, 9)
        connection.commit()
        stored = writer.rows_of_spans(connection, summary, span(1, 7, 9))
        assert stored.to_pylist() == [
            {"edition": 1, "day": 7, "utm": 5, "submissions": 10},
            {"edition": 1, "day": 8, "utm": 6, "submissions": 7},
        ]
        assert writer.rows_of_spans(connection, summary, span(2, 8, 8)).num_rows == 1


def test_visitors_are_counted_once_in_any_range(warehouse_url: str) -> None:
    # edition, day, form, kind, previous, delay, visitors: one visitor on days 3, 5 and 9, another on 5.
    add(
        warehouse_url,
        "visitor",
        (1, 3, 1, 0, -1, 0, 1),
        (1, 5, 1, 0, 3, 0, 1),
        (1, 9, 1, 0, 5, 0, 1),
        (1, 5, 1, 0, -1, 0, 1),
    )
    with open_engine(warehouse_url).connect() as connection:
        counted = {
            days: DailyRows(connection, 1, *days).visitors(1, within=None).get(0, 0)
            for days in [(1, 9), (4, 9), (5, 5), (6, 9), (6, 8)]
        }
    assert counted == {(1, 9): 2, (4, 9): 2, (5, 5): 2, (6, 9): 1, (6, 8): 0}


def test_visitors_who_bought_within_some_days(warehouse_url: str) -> None:
    # Bought from day 3 after 4 days, and from day 5 at once: then day 3 comes before it.
    add(
        warehouse_url,
        "visitor",
        (1, 5, 1, 8, -1, 0, 1),
        (1, 3, 1, 8, -1, 4, 1),
        (1, 5, 1, 8, -1, 4, -1),
        (1, 5, 1, 8, 3, 4, 1),
    )
    with open_engine(warehouse_url).connect() as connection:
        counted = {
            (days, within): DailyRows(connection, 1, *days).visitors(1, within=within).get(8, 0)
            for days in [(1, 9), (1, 4), (4, 9)]
            for within in (4, 5)
        }
    assert counted == {
        ((1, 9), 4): 1,
        ((1, 9), 5): 1,
        ((1, 4), 4): 0,
        ((1, 4), 5): 1,
        ((4, 9), 4): 1,
        ((4, 9), 5): 1,
    }


@pytest.fixture
def submitted(warehouse_url: str) -> Iterator[Connection]:
    # edition, day, form, views, starts, subscriptions, completions, submissions
    add(warehouse_url, "funnel", (1, 7, 5, 9, 0, 0, 0, 4), (1, 8, 5, 1, 0, 0, 0, 1))
    # edition, day, form, device, delay, converted, orders, gross, refunded
    add(
        warehouse_url,
        "outcome",
        (1, 7, 5, 1, 0, 1, 1, 10, 0),
        (1, 7, 5, 2, 1, 1, 2, 200, 5),
        (1, 8, 5, 2, 30, 1, 1, 3000, 0),
        (2, 8, 5, 2, 0, 1, 1, 9, 0),
    )
    with open_engine(warehouse_url).connect() as connection:
        yield connection


def test_outcomes_to_date_and_within_some_days(submitted: Connection) -> None:
    def outcomes(within: int | None, **options: Any) -> list[dict[str, int]]:
        sums = DailyRows(submitted, 1, 7, 8).outcomes("funnel", within=within, **options)
        names = (*options.get("by", ()), "views", "submissions", "converted", "orders", "gross")
        return [{name: row[name] for name in names} for row in sums.rows()]

    base = {"views": 10, "submissions": 5}
    assert outcomes(None) == [{**base, "converted": 3, "orders": 4, "gross": 3210}]
    assert outcomes(31) == [{**base, "converted": 3, "orders": 4, "gross": 3210}]
    assert outcomes(30) == [{**base, "converted": 2, "orders": 3, "gross": 210}]
    assert outcomes(1, by=["day"], where={"form": 5}) == [
        {"day": 7, "views": 9, "submissions": 4, "converted": 1, "orders": 1, "gross": 10},
        {"day": 8, "views": 1, "submissions": 1, "converted": 0, "orders": 0, "gross": 0},
    ]
    assert outcomes(None, where={"form": 6}) == []


@pytest.mark.parametrize("within", [None, 1, 2, 30])
def test_outcomes_of_several_editions_are_those_of_each(
    submitted: Connection, within: int | None
) -> None:
    both = reader.read_submissions(submitted, [1, 2], 0, 100)
    for edition in (1, 2):
        for first, last in ((0, 100), (7, 7), (8, 9), (50, 60)):
            alone = DailyRows(submitted, edition, first, last).outcomes("funnel", within=within)
            assert both.total(edition, first, last, within=within) == alone.total()


def test_the_last_day_that_is_old_enough() -> None:
    days = [reader.last_mature_day(8, today, 1) for today in (8, 9, 10, 11)]
    assert days == [6, 7, 8, 8]


def test_outcomes_by_age_over_the_days_that_are_old_enough(submitted: Connection) -> None:
    sums = DailyRows(submitted, 1, 7, 8).by_age("funnel", {"form": 5}, today=10, most=3)
    assert list(sums.rows()) == [
        {"submissions": 5, "converted": 1, "orders": 1, "gross": 10, "refunded": 0},
        {"submissions": 4, "converted": 2, "orders": 3, "gross": 210, "refunded": 5},
        {"submissions": 0, "converted": 0, "orders": 0, "gross": 0, "refunded": 0},
    ]


@pytest.mark.parametrize(
    "summary", [one for one in SUMMARIES if one.outcomes], ids=lambda one: one.name
)
def test_outcomes_have_the_dimensions_of_their_submissions(summary: Summary) -> None:
    outcomes = SUMMARY[summary.outcomes]
    assert {*summary.dims, *summary.packed_dims} <= {*outcomes.dims, *outcomes.packed_dims}
    assert "delay" in outcomes.packed_dims
    assert (outcomes.measures, "submissions" in summary.measures) == (OUTCOMES, True)
    assert not set(OUTCOMES) & set(summary.measures)


def test_outcomes_are_read_at_an_age_everywhere() -> None:
    """No room of the API reads them but through `Query.outcomes` and `Query.visitors`, which ask for it."""
    summaries = "|".join({one.outcomes for one in SUMMARIES if one.outcomes} | {"visitor"})
    reads = re.compile(
        rf'(sums|cells|read|read_editions)\((\w+,\s*)?"({summaries})"|daily_({summaries})'
    )
    root = Path(__file__).parents[3]
    found = [path.name for path in root.glob("web/**/*.py") if reads.search(path.read_text())]
    assert found == []
