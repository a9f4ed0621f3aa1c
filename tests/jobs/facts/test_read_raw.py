"""Raw rows as they are read: six UTM values in one text, whatever characters they have; by session."""

from collections.abc import Mapping
from contextlib import closing
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest
from pandas.testing import assert_frame_equal
from sqlalchemy import text

from jobs.facts import read_raw, touched
from jobs.facts.partials import fold, merge_partials
from jobs.facts.read_raw import events_of_touched, no_orders, read_events
from tests.support.waiting import wait_until
from warehouse.connections.arrow import ArrowConnection, open_arrow
from warehouse.connections.engine import open_engine
from warehouse.domain.hash_ids import SEPARATOR, text_id
from warehouse.domain.vocabulary import ANSWER, UTM_FIELDS
from warehouse.tables import raw_event

NONE = [""] * 6
SETS = [
    ["google", "cpc", "summer", "shoes", "a", "17"],
    ["1:a", "", "2:", ":", "3", "0:0:0:"],
    ["", "", "", "", "", "10:"],
    ["é😀", "ß:", "👩‍👧", "", "\x1f", " "],
    ["1", "1:", "1:1", "11", "", ""],
    ["11", ":1", "1", "1", "", ""],
]


def append(connection: ArrowConnection, rows: Mapping[str, Any]) -> None:
    """Append raw events."""
    narrow = {name: pa.array(rows[name], pa.int16()) for name in ("type", "device") if name in rows}
    connection.append("raw_event", pa.table({**rows, **narrow}))


def test_utm_values_are_read_as_they_are(connection: ArrowConnection) -> None:
    rows = [*SETS, NONE, SETS[0]]
    columns = {name: [row[index] for row in rows] for index, name in enumerate(UTM_FIELDS)}
    names = [f"e{number}" for number in range(len(rows))]
    raw = {"shop_key": [1] * len(rows), "event_id": names, **columns}
    append(connection, raw)
    read = read_events(connection, "shop_key = 1", {1: 7})
    ids = [text_id(SEPARATOR.join(row)) for row in SETS]
    utms = dict(zip(read.events["event_id"], read.events["utm"], strict=True))
    assert [utms[name] for name in names] == [*ids, 0, ids[0]]
    sets = {row.pop("utm"): row for row in read.utms.to_dict("records")}
    assert sets == {
        number: {"edition": 7, **dict(zip(UTM_FIELDS, row, strict=True))}
        for number, row in zip(ids, SETS, strict=True)
    }


def test_texts_that_answers_show_come_with_their_ids(connection: ArrowConnection) -> None:
    raw = {
        "shop_key": [1, 1, 2],
        "event_id": ["a", "b", "a"],
        "form_id": ["form", "form", "form"],
        "type": [ANSWER] * 3,
        "field_id": ["size", "size", ""],
        "value": ['"M"', '["M", "L"]', ""],
    }
    append(connection, raw)
    texts = read_events(connection, "true", {1: 7, 2: 8}).texts
    assert sorted(texts[["edition", "text"]].itertuples(index=False, name=None)) == [
        (7, "L"),
        (7, "M"),
        (7, "form"),
        (7, "size"),
        (8, "form"),
    ]
    assert all(
        text_id(text) == number for text, number in zip(texts["text"], texts["id"], strict=True)
    )


def in_order(rows: pd.DataFrame) -> pd.DataFrame:
    return rows.sort_values(list(rows)).reset_index(drop=True)


def test_a_long_session_is_read_in_parts_and_is_the_same(
    connection: ArrowConnection, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It gives what its events give together, and no event of another session."""
    count, wanted = 5_000, 4_990
    raw = {
        "shop_key": [1] * count,
        "event_id": [f"e{number}" for number in range(count)],
        "form_id": ["form"] * count,
        "form_session_id": ["long"] * wanted + ["other"] * (count - wanted),
        "type": [number % 4 + 1 for number in range(count)],
        "occurred_at": [(number * 7_919) % count for number in range(count)],
        "device": [number % 3 for number in range(count)],
        "utm_source": [f"s{number % 5}" if number % 11 == 0 else "" for number in range(count)],
    }
    append(connection, raw)
    touched.stage(connection, f"SELECT {touched.SESSION} FROM raw_event WHERE event_id < 'e4'")
    whole = fold(read_events(connection, "form_session_id = 'long'", {1: 7}), no_orders())
    monkeypatch.setattr(read_raw, "_PART_ROWS", 1_000)
    parts = list(events_of_touched(connection, {1: 7}))
    assert sum(len(part.events) for part in parts) == wanted
    if not connection.has_many_writers:
        assert len(parts) > 2
    merged = merge_partials([fold(part, no_orders()) for part in parts])
    for name, rows in vars(whole).items():
        assert_frame_equal(in_order(getattr(merged, name)), in_order(rows), obj=name)


def test_a_touched_session_of_another_shop_is_not_read(connection: ArrowConnection) -> None:
    """Shops whose rows go together may have editions that follow one after the other."""
    raw = {"shop_key": [1, 2], "event_id": ["a", "b"], "form_session_id": ["s", "s"]}
    append(connection, raw)
    touched.stage(connection, f"SELECT {touched.SESSION} FROM raw_event")
    (part,) = events_of_touched(connection, {2: 8})
    assert part.events["event_id"].tolist() == ["b"]


def test_no_touched_session_gives_no_event(connection: ArrowConnection) -> None:
    touched.stage(connection)
    (part,) = events_of_touched(connection, {1: 7})
    assert part.events.empty


def test_after_some_of_the_parts_the_connection_goes_on(
    connection: ArrowConnection, monkeypatch: pytest.MonkeyPatch
) -> None:
    ids = [str(number) for number in range(50_000)]
    rows = {"shop_key": [1] * len(ids), "event_id": ids, "form_session_id": ["long"] * len(ids)}
    append(connection, rows)
    touched.stage(connection, f"SELECT {touched.SESSION} FROM raw_event WHERE event_id = '7'")
    connection.commit()
    monkeypatch.setattr(read_raw, "_PART_ROWS", 1_000)
    with closing(events_of_touched(connection, {1: 7})) as parts:
        assert len(next(parts).events) >= 1_000
    connection.rollback()
    assert connection.value("SELECT COUNT(*) FROM raw_event") == len(ids)


PLAN = {"sqlite": "EXPLAIN QUERY PLAN", "postgresql": "EXPLAIN"}


def test_touched_sessions_are_looked_up_by_index(warehouse_url: str) -> None:
    ids = [str(number) for number in range(5_000)]
    with open_arrow(warehouse_url) as connection:
        append(connection, {"shop_key": [1] * 5_000, "event_id": ids, "form_session_id": ids})
        connection.commit()
        # As each group of batches does: the server may not have counted what was just imported.
        connection.analyze_grown([raw_event])
    # Arrow's driver of PostgreSQL explains nothing.
    with open_engine(warehouse_url).connect() as other:
        staged = f"SELECT {touched.SESSION} FROM raw_event WHERE event_id = '7'"
        other.execute(text(f"CREATE TEMPORARY TABLE {touched.SESSIONS} AS {staged}"))
        other.execute(text(f"ANALYZE {touched.SESSIONS}"))
        explain = f"{PLAN[other.dialect.name]} SELECT r.event_id {touched.EVENTS}"
        plan = other.execute(text(explain)).all()
    assert "ix_raw_event_form_session_id_shop_key" in str(plan)


def test_a_table_that_has_grown_is_counted_again(postgres_url: str) -> None:
    def await_count(connection: ArrowConnection, rows: int) -> None:
        def counted() -> int:
            connection.analyze_grown([raw_event])
            known = "SELECT CAST(reltuples AS BIGINT) FROM pg_class WHERE relname = 'raw_event'"
            found = int(connection.value(known))
            connection.commit()
            return found

        # The server tells of new rows within a second.
        wait_until(lambda: counted() == rows, lambda: str(counted()))

    with open_arrow(postgres_url) as connection:
        for first, last in ((0, 100), (100, 5_000)):
            ids = [str(number) for number in range(first, last)]
            append(
                connection, {"shop_key": [1] * len(ids), "event_id": ids, "form_session_id": ids}
            )
            connection.commit()
            await_count(connection, last)


def test_sessions_of_many_shops_are_looked_up_by_index(postgres_url: str) -> None:
    """Also in a table that was never counted, beside many batches that wait."""
    shops, sessions = 100, 4_000
    numbers = range(3 * sessions)
    rows = {
        "shop_key": [number % shops + 1 for number in numbers],
        "event_id": [f"e{number}" for number in numbers],
        "form_session_id": [f"s{number % sessions}" for number in numbers],
    }
    every_shop = f"FROM generate_series(1, {shops}) shop"
    scans = "SELECT SUM(seq_scan) FROM pg_stat_xact_user_tables WHERE relname = 'raw_event'"
    with open_arrow(postgres_url) as connection:
        append(connection, rows)
        connection.execute(
            "INSERT INTO edition (shop_key, timezone, window_days, logic_version, state) "
            f"SELECT shop, 'UTC', 30, 1, 'current' {every_shop}"
        )
        connection.execute(
            "INSERT INTO import_batch (shop_key, kind, rows, imported_at) "
            f"SELECT shop, 'events', 1, 0 {every_shop}, generate_series(1, 5)"
        )
        connection.commit()
        connection.prefer_index_lookups()
        touched.stage(connection, f"SELECT {touched.SESSION} FROM raw_event")
        before = connection.value(scans)
        editions = {shop: shop for shop in range(1, shops + 1)}
        with closing(events_of_touched(connection, editions, ())) as parts:
            assert sum(len(part.events) for part in parts) == len(numbers)
        assert connection.value(scans) == before
