"""The queue: shops take turns, portions are bounded, `taken_to` passes nothing by."""

from collections.abc import Iterator

import pytest

from jobs.portions import BATCH_ROWS, portion
from tests.importing.files import order
from tests.jobs.conftest import Commands
from warehouse import editions, queue
from warehouse.bulk import Bulk, open_bulk
from warehouse.engine import open_engine
from warehouse.migrate import migrate

LATER = 2**60


@pytest.fixture
def bulk(warehouse_url: str) -> Iterator[Bulk]:
    migrate(open_engine(warehouse_url))
    with open_bulk(warehouse_url) as found:
        yield found


def shop(bulk: Bulk, name: str, batches: int, rows: int = 10) -> int:
    """A shop with an edition and batches that wait; the edition."""
    key = bulk.value(
        "INSERT INTO shop (shop_id, currency, timezone) VALUES ($1, 'EUR', 'UTC') RETURNING shop_key",
        name,
    )
    bulk.commit()
    editions.create(bulk, [key], 30, 1)
    for _ in range(batches):
        batch(bulk, key, rows)
    bulk.commit()
    return int(bulk.value("SELECT edition FROM edition WHERE shop_key = $1", key))


def batch(bulk: Bulk, key: int, rows: int = 10) -> int:
    return int(
        bulk.value(
            "INSERT INTO import_batch (shop_key, kind, rows, imported_at) "
            "VALUES ($1, 'events', $2, 1) RETURNING batch_id",
            key,
            rows,
        )
    )


def take(bulk: Bulk, batches: list[queue.Batch], now: int) -> None:
    for one in batches:
        bulk.execute(
            "INSERT INTO edition_batch (edition, batch_id) VALUES ($1, $2)",
            one["edition"],
            one["batch_id"],
        )
        editions.done(bulk, [one["edition"]], now)
    bulk.commit()


def test_a_backlog_of_one_shop_keeps_no_other_waiting(bulk: Bulk) -> None:
    big = shop(bulk, "big", 20, BATCH_ROWS)
    served = []
    for now in range(1, 7):
        if now == 3:  # small shops come while the big one is at it
            small = [shop(bulk, f"small {number}", 2) for number in range(3)]
        numbers = [big] if now < 3 else [big, *small]
        batches = portion(queue.pending(bulk, numbers, LATER), BATCH_ROWS)
        assert sum(one["rows"] for one in batches) <= BATCH_ROWS
        take(bulk, batches, now)
        served.append({one["edition"] for one in batches})
    assert served == [{big}, {big}, set(small), {big}, {big}, {big}]
    left = queue.pending(bulk, small, LATER)
    assert left == []


def test_each_of_many_small_shops_is_worked_on_once(bulk: Bulk) -> None:
    small = [shop(bulk, f"small {number}", 4) for number in range(5)]
    big = shop(bulk, "big", 4, 15_000)
    waiting = queue.pending(bulk, [big, *small], LATER)
    parts = []
    while waiting:
        part = portion(waiting, 100)
        parts.append([one["edition"] for one in part])
        waiting = [one for one in waiting if one not in part]
    assert parts == [
        [small[0]] * 4 + [small[1]] * 4,
        [small[2]] * 4 + [small[3]] * 4,
        [small[4]] * 4,
        # Its batches begin at its rows 0 and 15,000, 30,000, 45,000.
        [big] * 2,
        [big],
        [big],
    ]


def test_a_portion_is_bounded_whatever_waits(bulk: Bulk) -> None:
    one = shop(bulk, "one", 600, 1)
    assert len(queue.pending(bulk, [one], LATER)) == 500
    assert queue.waiting_rows(bulk, [one]) == 600
    assert queue.pending(bulk, [], LATER) == []


def test_all_that_is_in_is_forgotten_one_by_one(bulk: Bulk) -> None:
    one = shop(bulk, "one", 500)
    while batches := queue.pending(bulk, [one], LATER):
        take(bulk, batches, 1)
    queue.settle(bulk, [one])
    assert bulk.value("SELECT COUNT(*) FROM edition_batch") == 0
    taken_to = bulk.value("SELECT taken_to FROM edition")
    assert taken_to == bulk.value("SELECT MAX(batch_id) FROM import_batch")
    bulk.commit()
    assert bulk.value(f"SELECT COUNT(*) FROM import_batch WHERE {queue.taken_in(one)}") == 500
    bulk.commit()
    late = batch(bulk, 1)
    bulk.commit()
    assert [found["batch_id"] for found in queue.pending(bulk, [one], LATER)] == [late]


def test_nothing_settles_over_what_is_missing(bulk: Bulk) -> None:
    one = shop(bulk, "one", 450)
    batches = queue.pending(bulk, [one], LATER)
    missing = batches.pop(100)
    take(bulk, batches, 1)
    queue.settle(bulk, [one])
    assert bulk.value("SELECT taken_to FROM edition") == missing["batch_id"] - 1
    assert bulk.value("SELECT COUNT(*) FROM edition_batch") == 349
    bulk.commit()
    assert queue.pending(bulk, [one], LATER) == [missing]


def test_a_batch_that_commits_late_is_not_passed_by(postgres_url: str) -> None:
    migrate(open_engine(postgres_url))
    with open_bulk(postgres_url) as bulk, open_bulk(postgres_url) as importing:
        one = shop(bulk, "one", 300)
        late = batch(importing, 1)  # has its number, and is not committed
        batch(bulk, 1)
        bulk.commit()
        take(bulk, queue.pending(bulk, [one], LATER), 1)
        queue.settle(bulk, [one])
        assert bulk.value("SELECT taken_to FROM edition") == 0
        bulk.commit()
        importing.commit()
        assert [found["batch_id"] for found in queue.pending(bulk, [one], LATER)] == [late]
        bulk.commit()
        queue.settle(bulk, [one])
        assert bulk.value("SELECT taken_to FROM edition") == late - 1
        bulk.commit()


def test_answers_are_the_same_once_settled(
    commands: Commands, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(queue, "_MANY", 1)
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
    with open_bulk(commands.url) as other:
        other.execute("UPDATE shop SET name = 'locked'")
        file.write_text('{"shop_id": "a.example", "currency": "USD"}\n')
        running = commands.start("import", "shops", str(file))
        assert running.stderr is not None
        assert running.stderr.readline().startswith("waiting for another job (")
    commands.finish(running)
    assert commands.rows("SELECT currency FROM shop") == ["USD"]
