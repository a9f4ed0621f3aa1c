"""The benchmark measures what it says: the same rows in both formats, of the promised shape."""

import json
from datetime import datetime
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from jobs.importing.formats import FORMATS
from tests.bench import data, duck, files, formats
from tests.bench.data import FIRST, FORM_IDS, LAST
from tests.bench.service import ENDPOINTS
from web.reports import ENDPOINTS as OF_THE_API


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return files.prepare(tmp_path_factory.mktemp("bench"), 20_000)


def test_both_formats_hold_the_same_rows(folder: Path) -> None:
    columns = pq.read_table(folder / "events.parquet").to_pylist()
    lines = [json.loads(line) for line in (folder / "events.ndjson").read_text().splitlines()]
    assert (
        len(lines) == files.rows(folder / "events.parquet") == files.rows(folder / "events.ndjson")
    )
    for column, line in zip(columns, lines, strict=True):
        line["occurred_at"] = datetime.fromisoformat(line["occurred_at"])
        assert {name: value for name, value in column.items() if value is not None} == line


def test_the_size_is_kept_and_ids_are_distinct(folder: Path) -> None:
    events = pq.read_table(folder / "events.parquet").to_pandas()
    assert len(events) == 20_000
    assert events["event_id"].is_unique
    assert set(events["form_id"]) == set(FORM_IDS)
    assert events["occurred_at"].min().date() >= FIRST
    assert events["occurred_at"].max().date() <= LAST
    assert files.rows(folder / "orders.ndjson") == 400
    for name in ("late", "today"):
        for number in range(files.REFRESHES):
            assert files.rows(folder / f"{name}-{number}.ndjson") == files.LATE


def test_events_come_in_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(data, "PIECE", 300)
    pieces = list(data.Data(1_000).events())
    assert [piece.num_rows for piece in pieces] == [300, 300, 300, 100]
    events = pa.concat_tables(pieces)
    assert len(set(events["event_id"].to_pylist())) == 1_000
    assert events["occurred_at"].to_pylist() == sorted(events["occurred_at"].to_pylist())


def test_events_of_today_are_of_new_sessions_of_the_last_day(folder: Path) -> None:
    known = set(pq.read_table(folder / "events.parquet")["form_session_id"].to_pylist())
    for number in range(files.REFRESHES):
        text = (folder / f"today-{number}.ndjson").read_text()
        events = [json.loads(line) for line in text.splitlines()]
        assert {event["occurred_at"][:10] for event in events} == {str(LAST)}
        sessions = {event["form_session_id"] for event in events}
        assert not sessions & known
        known |= sessions


def test_many_shops_have_the_events_of_the_one(folder: Path) -> None:
    one = pq.read_table(folder / "one-shop.parquet")
    many = pq.read_table(folder / "many-shops.parquet")
    assert one.drop_columns("shop_id") == many.drop_columns("shop_id")
    of_shop = many["shop_id"].value_counts().field("counts").to_pylist()
    assert files.rows(folder / "many-shops.ndjson") == 200
    # Some shops have only a visitor who did nothing.
    assert 150 < len(of_shop) <= 200
    # The largest of 200 has a sixth of all by the law of Zipf.
    assert 0.1 < max(of_shop) / one.num_rows < 0.25
    assert files.rows(folder / "many-next.ndjson") == files.LATE


def test_the_peer_counts_every_session_and_order(folder: Path, tmp_path: Path) -> None:
    duck.build(folder, tmp_path / "peer.duckdb")
    with duckdb.connect(str(tmp_path / "peer.duckdb")) as connection:

        def value(sql: str) -> int:
            return int(connection.execute(sql).fetchall()[0][0])

        events = pq.read_table(folder / "events.parquet").to_pandas()
        views = events[events["type"] == "view"]
        found = value("SELECT SUM(count) FROM daily_funnel WHERE what = 'viewed'")
        assert found == len(views.drop_duplicates(["form_id", "form_session_id"]))
        assert value("SELECT SUM(orders) FROM daily_attribution") == 400
        assert value("SELECT SUM(orders) FROM daily_utm_order") == 400
        credited = value("SELECT SUM(orders) FROM daily_attribution WHERE type IS NOT NULL")
        assert 0 < credited == value("SELECT SUM(orders) FROM daily_funnel")


@pytest.mark.parametrize("name", formats.MEASURED)
def test_each_format_is_measured_on_distinct_records(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_text("".join(formats.lines(name, 200)))
    records = [record for some in FORMATS[name].records(path) for _, record in some.numbered]
    texts = {json.dumps(record, default=str) for record in records}
    assert len(texts) == len(records) > 50


def test_all_endpoints_are_measured() -> None:
    """But notes, which are no report, and one order, whose id is not known."""
    others = [each for each in OF_THE_API if "/notes" in each.path or "{orderId}" in each.path]
    assert len(others) == 4
    assert len(set(ENDPOINTS.values())) == len(OF_THE_API) - len(others)
