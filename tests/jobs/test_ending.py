"""SIGTERM: the batch in hand is finished, what was done is kept, the process is gone in ten seconds."""

import signal
import time

from tests.importing.files import as_ndjson, event, order
from tests.jobs.conftest import Commands, Process
from warehouse.bulk import open_bulk

SHOP = {"shop_id": "a.example", "currency": "EUR"}
BATCHES = 15  # enough that a rollup is still at them when a test has seen the first one done


def backlog(commands: Commands) -> None:
    """Many batches, each too large to go with another (see `small_portions`)."""
    commands.take("shops", [SHOP])
    for number in range(BATCHES):
        commands.take("orders", [order(order_id=f"o{number}")])


def small_portions(commands: Commands) -> None:
    """One batch at a time: what a batch of any size is to a backlog."""
    commands.change("UPDATE import_batch SET rows = 400000")


def ended(process: Process, number: int = signal.SIGTERM) -> str:
    process.send_signal(number)
    begun = time.monotonic()
    printed, said = process.communicate(timeout=30)
    assert process.returncode == 128 + number, (printed, said)
    assert time.monotonic() - begun < 10
    return said


def until(commands: Commands, sql: str) -> None:
    deadline = time.monotonic() + 60
    while not commands.rows(sql)[0]:
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_a_rollup_ends_after_its_batch(commands: Commands) -> None:
    ends_after_its_batch(commands, signal.SIGTERM)


def test_ctrl_c_is_the_same(sqlite_commands: Commands) -> None:
    ends_after_its_batch(sqlite_commands, signal.SIGINT)


def ends_after_its_batch(commands: Commands, number: int) -> None:
    backlog(commands)
    small_portions(commands)
    running = commands.start("rollup")
    until(commands, "SELECT COUNT(*) FROM edition_batch")
    said = ended(running, number)
    assert f"ended by {signal.Signals(number).name}" in said
    done = commands.rows("SELECT COUNT(*) FROM edition_batch")[0]
    assert 0 < done < BATCHES
    assert commands.rows("SELECT lease_owner FROM edition") == [""]
    (run,) = [run for run in commands.status()["runs"] if run["job"] == "rollup"]
    assert (run["state"], run["batches"]) == ("stopped", done)
    commands("rollup")
    assert commands.status()["queued"] == {"rows": 0, "batches": 0}


def test_an_import_ends_after_its_portion(commands: Commands) -> None:
    commands.take("shops", [SHOP])
    file = commands.folder / "events.ndjson"
    rows = as_ndjson([event(event_id="ID", form_session_id="SID")])
    with file.open("wb") as stream:
        for number in range(400_000):
            stream.write(rows.replace(b"ID", b"%d" % number))
    running = commands.start("import", "events", str(file))
    until(commands, "SELECT COUNT(*) FROM import_batch")
    ended(running)
    taken = commands.rows("SELECT SUM(rows) FROM import_batch")[0]
    assert 0 < taken < 400_000
    assert commands.rows("SELECT COUNT(*) FROM raw_event") == [taken]


def test_a_batch_that_takes_too_long_is_undone(commands: Commands) -> None:
    backlog(commands)
    commands("rollup")
    commands.take("orders", [order(order_id="late")])
    with open_bulk(commands.url) as other:
        # Its row is needed at the end of the batch, and not to be had.
        other.execute("UPDATE shop SET name = 'locked'")
        running = commands.start("rollup")
        assert running.stderr is not None
        assert "waiting for another job" in running.stderr.readline()
        said = ended(running)
    assert "the batch in hand takes too long" in said
    commands("rollup")
    assert commands.rows("SELECT SUM(orders) FROM daily_attribution") == [BATCHES + 1]


def test_a_backfill_and_a_rebuild_end_too(commands: Commands) -> None:
    backlog(commands)
    commands("rollup")
    small_portions(commands)
    running = commands.start("rebuild")
    until(commands, "SELECT COUNT(*) FROM edition_batch WHERE edition = 2")
    ended(running)
    assert commands.rows("SELECT edition FROM shop") == [1]
    commands("rebuild")
    assert commands.rows("SELECT edition FROM shop") == [2]
    assert commands.rows("SELECT SUM(orders) FROM daily_attribution") == [BATCHES]
