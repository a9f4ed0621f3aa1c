"""The model computes what it says, and nights are further days of the shops of a history."""

import json
from collections import Counter
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from tests.bench import model, nights
from tests.bench.data import SHOP_ID
from tests.bench.model import Constants, Line, Load


def known(path: Path) -> list[dict[str, str]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_a_night_is_one_more_day_of_the_same_shops(tmp_path: Path) -> None:
    history = nights.history(tmp_path / "history", 5, 5_000)
    day = nights.next_day(tmp_path / "day", 5, 2_000, 1)
    before = pq.read_table(history.folder / "events.parquet").to_pylist()
    events = known(day.folder / "events.ndjson")
    orders = known(day.folder / "orders.ndjson")
    assert (len(before), len(events), len(orders)) == (5_000, 2_000, 40)
    assert {one["occurred_at"][:10] for one in events} == {"2026-04-02"}
    assert {one["created_at"][:10] for one in orders} == {"2026-04-02"}
    shops = {one["shop_id"] for one in known(history.folder / "shops.ndjson")}
    assert SHOP_ID in shops
    assert len(shops) == 5
    assert {one["shop_id"] for one in [*events, *orders]} == shops
    for name in ("event_id", "form_session_id"):
        assert not {one[name] for one in before} & {one[name] for one in events}
    assert len({one["event_id"] for one in events}) == 2_000
    # Each visitor is in one shop, and some have been there before.
    visits = {(one["visitor_id"], one["shop_id"]) for one in [*before, *events]}
    assert set(Counter(visitor for visitor, _ in visits).values()) == {1}
    assert {one["visitor_id"] for one in before} & {one["visitor_id"] for one in events}


def test_late_events_are_of_sessions_of_the_history(tmp_path: Path) -> None:
    history = nights.history(tmp_path / "history", 5, 5_000)
    late = nights.late(tmp_path / "late", history, 100)
    before = pq.read_table(history.folder / "events.parquet").to_pylist()
    sessions = {(one["shop_id"], one["form_id"], one["form_session_id"]) for one in before}
    events = known(late.folder / "events.ndjson")
    found = {(one["shop_id"], one["form_id"], one["form_session_id"]) for one in events}
    assert len(found) == 100
    assert len(found - sessions) <= 1  # the last session may have begun after the last event


def test_a_line_is_found_again() -> None:
    line = Line(2, 3e-5, 0.01)
    points = [(s, e, line.at(s, e)) for s in (50, 500) for e in (50_000, 300_000)]
    assert Line.through(2, points) == pytest.approx(line)
    # No part is negative, and the other one alone is the best there is.
    falling = [(100, 1_000, 20.0), (200, 1_000, 10.0)]
    assert Line.through(0, falling) == pytest.approx((0, 0.012, 0))


def constants() -> Constants:
    jobs = {
        "import": Line(1, 10e-6, 0.001),
        "rollup": Line(2, 20e-6, 0.002),
        "rebuild": Line(2, 36e-6, 0),
    }
    memory: dict[str, float] = {
        "API": 100,
        "API worker": 200,
        "scheduler": 100,
        "import": 400,
        "rollup": 600,
    }
    return Constants(
        dict.fromkeys(jobs, Line(9, 9, 9)),  # of the clock; the model is that of processors
        jobs,
        {"raw": Line(0, 500, 1_000)},
        {"cold": 0.002, "again": 0.001, "304": 0.0006},
        memory | {"connection": 10},
        {},
    )


def test_the_model_by_hand() -> None:
    load = Load(shops=1_000, events=2_880_000, days=10, requests=1_000, night=30)
    result = {one.what: one.value for one in model.carried(constants(), load)}
    # 1 + 28.8 + 1 and 2 + 57.6 + 2 seconds
    assert result["night: import"] == round(30.8 / 60, 3)
    assert result["night: rollup"] == round(61.6 / 60, 3)
    assert result["night: processes that roll up"] == 4
    # 10,000 events of 1,000 shops: 1 + 0.1 + 1 and 2 + 0.2 + 2 seconds, in 300
    assert result["refresh of 5 minutes"] == 6.3
    assert result["cores: refreshes"] == 0.021
    assert result["rebuild of everything"] == round((2 + 36 * 28.8) / 3600, 3)
    assert result["cores: answers"] == 1.2
    assert result["cores: in all, 70 % busy"] == 2
    assert result["API processes"] == 2
    assert result["connections, at most"] == 38 * 2 + 3 * 5 + 3 * 4 + 3
    assert result["memory: jobs"] == 2.8
    assert result["memory: API and scheduler"] == 0.6
    assert result["disk of 10 days: all"] == round((500 * 28.8 + 10) / 1000, 3)


def test_cells_are_equal_parts() -> None:
    whole = Load(1_000, 5_000, 365, 10, 3_600)
    assert whole.of_cells(10) == Load(100, 500, 365, 1, 3_600)
