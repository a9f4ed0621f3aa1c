"""After SIGTERM or Ctrl-C a process ends after its current batch, or without it."""

import signal
import subprocess
import sys
from threading import Event

import pytest

from jobs.run import signals
from tests.support.commands import Command
from tests.support.import_files import as_ndjson, event, order
from tests.support.job_commands import BACKLOG_BATCHES, SHOP, Commands, slow_batches
from tests.support.waiting import PATIENCE_SECONDS
from warehouse.connections.arrow import open_arrow

SIGNALS_ITSELF = """
import signal, threading, time
from jobs.run.signals import graceful_stop, run_interruptibly, wait_for_signal

def command():
    with graceful_stop(lambda: None):
        # The main thread sleeps by then. Where it does not yet, this shows nothing, and fails nothing.
        time.sleep(0.2)
        signal.pthread_kill(threading.get_ident(), signal.SIGTERM)
        wait_for_signal()

run_interruptibly(command)
"""


def stop(command: Command, number: int = signal.SIGTERM) -> str:
    """Send a signal and wait for the end; returns what was printed."""
    command.send(number)
    return command.finish(128 + number)


def test_sigterm_stops_a_rollup_after_its_batch(commands: Commands) -> None:
    stops_after_its_batch(commands, signal.SIGTERM)


def test_a_signal_that_another_thread_gets_is_seen() -> None:
    command = [sys.executable, "-c", SIGNALS_ITSELF]
    ended = subprocess.run(command, capture_output=True, timeout=PATIENCE_SECONDS, check=True)
    assert b"SIGTERM received" in ended.stderr


def test_ctrl_c_stops_a_rollup_after_its_batch(sqlite_commands: Commands) -> None:
    stops_after_its_batch(sqlite_commands, signal.SIGINT)


def stops_after_its_batch(commands: Commands, number: int) -> None:
    commands.make_backlog()
    commands.one_batch_at_a_time()
    running = commands.start("rollup", before=slow_batches)
    commands.wait_until("SELECT COUNT(*) FROM edition_batch")
    errors = stop(running, number)
    assert f"stopped by {signal.Signals(number).name}" in errors
    done = commands.rows("SELECT COUNT(*) FROM edition_batch")[0]
    assert 0 < done < BACKLOG_BATCHES
    assert commands.rows("SELECT lease_owner FROM edition") == [""]
    (run,) = [run for run in commands.status()["runs"] if run["job"] == "rollup"]
    assert (run["state"], run["batches"]) == ("stopped", done)
    commands.many_batches_at_a_time()
    commands("rollup")
    assert commands.status()["queued"] == {"rows": 0, "batches": 0}


def test_a_block_in_another_one_has_both_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """An undo that a rollup ends is a run in a run."""
    monkeypatch.setattr(signals, "_state", signals._State())
    monkeypatch.setattr(signals, "_signalled", Event())
    given_up: list[str] = []
    with signals.graceful_stop(lambda: given_up.append("outer"), seconds=0):
        with signals.graceful_stop(lambda: given_up.append("inner"), seconds=0):
            signals.stop_in_time()
        signals.stop_in_time()
    signals.stop_in_time()
    assert given_up == ["inner", "outer", "outer"]


def test_sigterm_stops_an_import_after_its_chunk(commands: Commands) -> None:
    commands.take("shops", [SHOP])
    file = commands.folder / "events.ndjson"
    rows = as_ndjson([event(event_id="ID", form_session_id="SID")])
    with file.open("wb") as stream:
        for number in range(400_000):
            stream.write(rows.replace(b"ID", b"%d" % number))
    running = commands.start("import", "events", str(file))
    commands.wait_until("SELECT COUNT(*) FROM import_batch")
    stop(running)
    taken = commands.rows("SELECT SUM(rows) FROM import_batch")[0]
    assert 0 < taken < 400_000
    assert commands.rows("SELECT COUNT(*) FROM raw_event") == [taken]


def test_a_batch_that_takes_too_long_is_rolled_back(commands: Commands) -> None:
    commands.make_backlog()
    commands("rollup")
    commands.take("orders", [order(order_id="late")])
    with open_arrow(commands.url) as other:
        # The batch needs this row at its end, and cannot lock it.
        other.execute("UPDATE shop SET name = 'locked'")
        running = commands.start("rollup")
        running.says("waiting for another job")
        errors = stop(running)
    assert "the current batch takes longer than 7 s" in errors
    commands("rollup")
    assert commands.rows("SELECT SUM(orders) FROM daily_attribution") == [BACKLOG_BATCHES + 1]


def test_sigterm_stops_a_rebuild_after_its_batch(commands: Commands) -> None:
    commands.make_backlog()
    commands("rollup")
    commands.one_batch_at_a_time()
    running = commands.start("rebuild", before=slow_batches)
    commands.wait_until("SELECT COUNT(*) FROM edition_batch WHERE edition = 2")
    stop(running)
    assert commands.rows("SELECT edition FROM shop") == [1]
    commands.many_batches_at_a_time()
    commands("rebuild")
    assert commands.rows("SELECT edition FROM shop") == [2]
    assert commands.rows("SELECT SUM(orders) FROM daily_attribution") == [BACKLOG_BATCHES]
