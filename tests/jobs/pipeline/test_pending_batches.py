"""The queue: shops take turns, groups are bounded, `applied_through` skips no batch."""

from collections.abc import Iterator

import pytest

from jobs.pipeline.batching import BATCH_ROWS, next_batches
from tests.support.batches import batch, shop, take
from tests.support.import_files import order
from tests.support.job_commands import Commands
from warehouse.connections.arrow import ArrowConnection, open_arrow
from warehouse.editions import pending_batches

LATER = 2**60


@pytest.fixture
def connection(warehouse_url: str) -> Iterator[ArrowConnection]:
    with open_arrow(warehouse_url) as found:
        yield found


def test_a_backlog_of_one_shop_keeps_no_other_waiting(connection: ArrowConnection) -> None:
    big = shop(connection, "big", 20, BATCH_ROWS)
    served = []
    for now in range(1, 7):
        if now == 3:  # small shops come while the big one is at it
            small = [shop(connection, f"small {number}", 2) for number in range(3)]
        numbers = [big] if now < 3 else [big, *small]
        batches = next_batches(pending_batches.pending(connection, numbers, LATER), BATCH_ROWS)
        assert sum(one["rows"] for one in batches) <= BATCH_ROWS
        take(connection, batches, now)
        served.append({one["edition"] for one in batches})
    assert served == [{big}, {big}, set(small), {big}, {big}, {big}]
    left = pending_batches.pending(connection, small, LATER)
    assert left == []


def test_many_small_shops_are_worked_on_one_after_the_other(connection: ArrowConnection) -> None:
    small = [shop(connection, f"small {number}", 4) for number in range(5)]
    big = shop(connection, "big", 4, 15_000)
    waiting = pending_batches.pending(connection, [big, *small], LATER)
    parts = []
    while waiting:
        part = next_batches(waiting, 100)
        parts.append([one["edition"] for one in part])
        waiting = [one for one in waiting if one not in part]
    assert parts == [
        [small[0]] * 4 + [small[1]] * 4,
        [small[2]] * 4 + [small[3]] * 4,
        [small[4]] * 4,
        *[[big]] * 4,
    ]


def test_pending_batches_are_bounded(
    connection: ArrowConnection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pending_batches, "MAX_BATCHES", 5)
    one = shop(connection, "one", 6, 1)
    assert len(pending_batches.pending(connection, [one], LATER)) == 5
    assert pending_batches.pending_rows(connection, [one]) == 6
    assert pending_batches.pending(connection, [], LATER) == []


def test_all_that_is_in_is_forgotten_one_by_one(connection: ArrowConnection) -> None:
    one = shop(connection, "one", 500)
    while batches := pending_batches.pending(connection, [one], LATER):
        take(connection, batches, 1)
    pending_batches.compact(connection, [one])
    assert connection.value("SELECT COUNT(*) FROM edition_batch") == 0
    applied_through = connection.value("SELECT applied_through FROM edition")
    assert applied_through == connection.value("SELECT MAX(batch_id) FROM import_batch")
    connection.commit()
    assert (
        connection.value(
            f"SELECT COUNT(*) FROM import_batch WHERE {pending_batches.is_applied(str(one))}"
        )
        == 500
    )
    connection.commit()
    late = batch(connection, 1)
    connection.commit()
    assert [found["batch_id"] for found in pending_batches.pending(connection, [one], LATER)] == [
        late
    ]


def test_short_lists_of_many_shops_are_compacted_together(connection: ArrowConnection) -> None:
    some = [shop(connection, name, 70) for name in "abc"]
    left = pending_batches.pending(connection, [some[1]], LATER)[-1]
    batches = pending_batches.pending(connection, some, LATER)
    batches.remove(next(b for b in batches if b["batch_id"] == left["batch_id"]))
    take(connection, batches, 1)
    pending_batches.compact(connection, some[:2])
    assert connection.value("SELECT COUNT(*) FROM edition_batch") == 209
    connection.commit()
    pending_batches.compact(connection, some)
    assert connection.value("SELECT COUNT(*) FROM edition_batch") == 0
    connection.commit()
    assert [
        (one["edition"], one["batch_id"])
        for one in pending_batches.pending(connection, some, LATER)
    ] == [(some[1], left["batch_id"])]


def test_nothing_settles_over_what_is_missing(connection: ArrowConnection) -> None:
    one = shop(connection, "one", 450)
    batches = pending_batches.pending(connection, [one], LATER)
    missing = batches.pop(100)
    take(connection, batches, 1)
    pending_batches.compact(connection, [one])
    assert connection.value("SELECT applied_through FROM edition") == missing["batch_id"] - 1
    assert connection.value("SELECT COUNT(*) FROM edition_batch") == 349
    connection.commit()
    assert pending_batches.pending(connection, [one], LATER) == [missing]


def test_a_batch_that_commits_late_is_not_passed_by(postgres_url: str) -> None:
    with open_arrow(postgres_url) as connection, open_arrow(postgres_url) as importing:
        one = shop(connection, "one", 300)
        importing.keep_shops("1")
        late = batch(importing, 1)  # has its number, and is not committed
        batch(connection, 1)
        connection.commit()
        take(connection, pending_batches.pending(connection, [one], LATER), 1)
        pending_batches.compact(connection, [one])
        assert connection.value("SELECT applied_through FROM edition") == 0
        connection.commit()
        importing.commit()
        assert [
            found["batch_id"] for found in pending_batches.pending(connection, [one], LATER)
        ] == [late]
        connection.commit()
        pending_batches.compact(connection, [one])
        assert connection.value("SELECT applied_through FROM edition") == late - 1
        connection.commit()


def test_answers_are_the_same_once_settled(
    commands: Commands, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pending_batches, "_MIN_COMPACTED", 1)
    commands.take("shops", [{"shop_id": "a.example", "currency": "EUR"}])
    for number in range(3):
        commands.take("orders", [order(order_id=f"o{number}")])
        commands("rollup")
    assert commands.rows("SELECT COUNT(*) FROM edition_batch") == [0]
    assert "no differences" in commands("verify", "--all")
    assert "no differences" in commands("verify")
    commands("backfill", "--from", "2026-01-02", "--to", "2026-01-02")
    commands("rebuild")
    assert commands.rows("SELECT SUM(orders) FROM daily_attribution") == [3]


def test_an_import_says_for_whom_it_waits(commands: Commands) -> None:
    commands.take("shops", [{"shop_id": "a.example", "currency": "EUR"}])
    file = commands.folder / "shops.ndjson"
    with open_arrow(commands.url) as other:
        other.execute("UPDATE shop SET name = 'locked'")
        file.write_text('{"shop_id": "a.example", "currency": "USD"}\n')
        running = commands.start("import", "shops", str(file))
        running.says("waiting for another job (")
    running.finish()
    assert commands.rows("SELECT currency FROM shop") == ["USD"]
