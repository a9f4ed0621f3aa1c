"""The record of runs: a row for each, `died` if its process did; never a reason for a job to fail."""

import signal

import pytest

from tests.support.import_files import event, order
from tests.support.job_commands import SHOP, Commands, slow_batches
from warehouse.domain.time import MICROS_PER_DAY
from warehouse.operations import job_runs


def test_every_run_is_recorded(commands: Commands) -> None:
    commands.take("shops", [SHOP])
    commands.take("orders", [order()])
    commands("rollup", "--shop", "a.example")
    commands("rollup", "--refresh")
    commands("rebuild")
    commands("backfill", "--from", "2026-01-01", "--to", "2026-01-03")
    commands("verify")
    commands("purge")
    commands("run", "nightly")
    ran = {run["job"]: run for run in commands.status()["runs"]}
    assert set(ran) == {
        "backfill", "import", "nightly", "purge", "rebuild", "refresh", "rollup", "verify",
    }  # fmt: skip
    assert {run["state"] for run in ran.values()} == {"done"}
    assert ran["import"]["arguments"] == f"orders {commands.folder}/orders.ndjson"
    rollup = ran["rollup"]
    assert (rollup["arguments"], rollup["shops"], rollup["batches"]) == ("--shop a.example", 1, 1)
    assert {"read", "derive", "write"} <= set(rollup["phases"])
    assert rollup["started_at"] < rollup["ended_at"]
    assert commands.status()["verify"] == ran["verify"]


def test_a_failed_run_says_why(commands: Commands) -> None:
    commands("import", "shops", "nowhere.ndjson", status=1)
    commands("rollup", "--shop", "nobody.example", status=1)
    ran = {run["job"]: run for run in commands.status()["runs"]}
    assert ran["import"]["state"] == ran["rollup"]["state"] == "failed"
    assert ran["import"]["error"] == "nowhere.ndjson: No such file or directory"
    assert ran["rollup"]["error"] == "no shop 'nobody.example'; import it first (kind shops)"


def test_a_defect_is_one_line_that_says_where(
    sqlite_commands: Commands, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> None:
        raise KeyError("nobody foresaw this")

    monkeypatch.setattr("jobs.commands.purge.purge_rejects", broken)
    (line,) = sqlite_commands("purge", status=1).splitlines()
    assert line.startswith("Error: a defect of this program, please report it: KeyError: ")
    assert "nobody foresaw this" in line
    assert "(jobs/commands/purge.py:" in line
    (run,) = (run for run in sqlite_commands.status()["runs"] if run["job"] == "purge")
    # The record is written where fewer lines have led to it.
    assert line.startswith(f"Error: {run['error'].removesuffix(')')}")


def test_a_run_whose_process_died_shows_as_died(commands: Commands) -> None:
    commands.make_backlog()
    commands.one_batch_at_a_time()
    running = commands.start("rollup", before=slow_batches)
    commands.wait_until("SELECT COUNT(*) FROM edition_batch")
    running.send(signal.SIGSTOP)  # so that it cannot end before status looks at it
    states = []
    for _ in range(2):
        states += [run["state"] for run in commands.status()["runs"] if run["job"] == "rollup"]
        running.send(signal.SIGKILL)
        running.wait()
    assert states == ["running", "died"]


def test_a_run_of_another_machine_is_believed_for_as_long_as_a_lease(commands: Commands) -> None:
    commands.take("shops", [SHOP])
    commands.run_elsewhere()
    assert commands.status()["runs"][0]["state"] == "running"
    commands.change("UPDATE job_run SET seen_at = seen_at - 121000000")
    assert commands.status()["runs"][0]["state"] == "died"


def test_records_are_purged_in_time(commands: Commands) -> None:
    commands.settings["RUNS_DAYS"] = "7"
    commands.take("shops", [SHOP])
    commands("rollup")
    commands.change(
        f"UPDATE job_run SET started_at = started_at - {8 * MICROS_PER_DAY} WHERE job = 'import'"
    )
    commands("purge")
    assert commands.rows("SELECT job FROM job_run ORDER BY run_id") == ["rollup", "purge"]


def test_a_record_that_cannot_be_written_does_not_stop_the_job(
    commands: Commands, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError

    commands.take("shops", [SHOP])
    commands.take("events", [event()])
    monkeypatch.setattr(job_runs, "begin", fail)
    monkeypatch.setattr(job_runs, "update", fail)
    commands("rollup")
    monkeypatch.undo()
    # The form of the event is not known.
    assert commands.status(1)["queued"]["rows"] == 0
    assert commands.rows("SELECT COUNT(*) FROM job_run WHERE job = 'rollup'") == [0]
