"""The benchmark measures what it says: the same rows in both formats, of the promised shape."""

import json
from datetime import datetime
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.bench import answered, data, files, goals, peers
from tests.bench.data import FIRST, FORM_IDS, LAST
from tests.bench.service import ENDPOINTS
from tests.support.job_commands import Commands
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
    one = pq.read_table(folder / "events.parquet")
    many = pq.read_table(folder / "many-shops.parquet")
    assert one.drop_columns("shop_id") == many.drop_columns("shop_id")
    owners = set(zip(many["visitor_id"].to_pylist(), many["shop_id"].to_pylist(), strict=True))
    assert len({shop for _, shop in owners}) == files.SHOPS
    assert len(owners) == len({visitor for visitor, _ in owners})
    assert files.rows(folder / "many-shops.ndjson") == files.SHOPS


def test_the_peer_gives_the_answers_of_the_service(
    folder: Path, sqlite_url: str, sqlite_commands: Commands
) -> None:
    for kind in ("shops", "forms", "orders"):
        sqlite_commands("import", kind, str(folder / f"{kind}.ndjson"))
    sqlite_commands("import", "events", str(folder / "events.parquet"))
    sqlite_commands("rollup")
    expected = answered.answered(sqlite_url)
    measured = peers.measure("duckdb", folder, expected)
    assert {*measured.questions} == {*expected}
    wrong = {name: [(0,) * len(rows[0])] for name, rows in expected.items()}
    with pytest.raises(RuntimeError, match="service"):
        peers.measure("duckdb", folder, wrong)


def test_a_goal_is_the_databases_own_and_none_beside_a_busy_neighbour() -> None:
    rows = [goals.row("funnel, again at 8", 40, "req/s", 100), goals.row("disk: all", 9, "B")]
    for kind, met in (("sqlite", False), ("postgresql", True)):
        calm = goals.judge(rows, kind, is_busy=False)
        assert [one["met"] for one in calm] == [met, None]
        assert [one["met"] for one in goals.judge(rows, kind, is_busy=True)] == [None, None]


def test_all_endpoints_are_measured() -> None:
    """But notes, which are no report, and one order, whose id is not known."""
    others = [each for each in OF_THE_API if "/notes" in each.path or "{orderId}" in each.path]
    assert len(others) == 4
    assert len(set(ENDPOINTS.values())) == len(OF_THE_API) - len(others)
