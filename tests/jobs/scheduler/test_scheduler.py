"""The scheduler: its jobs run as child processes, one of each at a time, and stop with it."""

import json
import re
import signal
import time
from datetime import UTC, datetime

import psutil
import pytest

from jobs.scheduler.child_processes import ChildProcesses
from jobs.scheduler.schedule import cron, schedule
from tests.support.commands import children
from tests.support.import_files import as_ndjson, order
from tests.support.job_commands import SHOP, Commands
from tests.support.shop_builder import writing
from tests.support.waiting import PATIENCE_SECONDS, wait_until
from warehouse.connections.arrow import open_arrow
from warehouse.connections.engine import open_engine
from warehouse.operations import job_runs
from warehouse.operations.process_id import display_name
from warehouse.setting_values import SettingError

NOW = datetime(2026, 3, 4, 5, 6, 7, tzinfo=UTC)  # a Wednesday


def test_files_that_land_are_imported_and_rolled_up(commands: Commands) -> None:
    commands.settings |= {"LANDING_POLL_SECONDS": "1", "REFRESH_MINUTES": "60"}
    assert commands.status()["landing"]["waiting"] == []
    commands.land("orders", "o.ndjson", as_ndjson([order()]))
    commands.land("shops", "s.ndjson", as_ndjson([SHOP]))
    scheduler = commands.start("scheduler")
    commands.wait_until("SELECT COUNT(*) FROM raw_order")
    scheduler.terminate()
    assert "jobs rollup --refresh, every 60 minutes" in scheduler.finish()
    # A scheduler begins with a refresh.
    scheduler = commands.start("scheduler")
    commands.wait_until("SELECT COUNT(*) FROM daily_attribution")
    scheduler.send(signal.SIGINT)
    scheduler.finish()
    assert {run["job"] for run in commands.status()["runs"]} == {"landing", "refresh"}


def test_a_missed_nightly_runs_when_a_scheduler_starts(commands: Commands) -> None:
    commands.take("shops", [SHOP])
    commands("run", "nightly")
    commands.change("UPDATE job_run SET started_at = 1")
    scheduler = commands.start("scheduler")
    commands.wait_until("SELECT COUNT(*) FROM job_run WHERE job = 'nightly' AND started_at > 1")
    scheduler.terminate()
    scheduler.finish()
    assert commands.rows("SELECT COUNT(*) FROM job_run WHERE job = 'verify'") == [0]


@pytest.mark.deep
def test_after_its_host_was_suspended_what_was_due_runs_once(commands: Commands) -> None:
    """For longer than a refresh is apart, as a laptop that was closed."""
    commands.settings |= {"LANDING_POLL_SECONDS": "1", "REFRESH_MINUTES": "1"}
    commands.take("shops", [SHOP])
    scheduler = commands.start("scheduler")
    count = "SELECT COUNT(*) FROM job_run WHERE job = 'refresh' AND ended_at > 0"
    commands.wait_until(count)
    scheduler.send(signal.SIGSTOP)
    (before,) = commands.rows(count)
    commands.land("orders", "o.ndjson", as_ndjson([order()]))
    time.sleep(150)
    assert commands.rows("SELECT COUNT(*) FROM raw_order") == [0]
    scheduler.send(signal.SIGCONT)
    resumed = time.monotonic()
    commands.wait_until("SELECT COUNT(*) FROM daily_attribution")
    (after,) = commands.rows(count)
    # One for those that were missed, and one for each minute since.
    assert after - before <= 2 + (time.monotonic() - resumed) // 60
    scheduler.terminate()
    scheduler.finish()
    assert commands.status()["conditions"] == []


def test_the_current_job_stops_with_the_scheduler(commands: Commands) -> None:
    commands.make_backlog()
    commands.one_batch_at_a_time()
    scheduler = commands.start("scheduler")
    commands.wait_until("SELECT COUNT(*) FROM edition_batch")
    (child,) = children(scheduler.pid)
    # Nobody else writes meanwhile, so that batches are left when the job hears of it.
    with writing(open_engine(commands.url)):
        scheduler.terminate()
        wait_until(lambda: scheduler.errors.count("SIGTERM received") == 2)
    output = scheduler.finish()
    assert not child.is_running()
    assert "stopped by SIGTERM" in output
    assert commands.rows("SELECT COUNT(*) FROM job_run WHERE state = 'running'") == [0]


def test_a_child_that_outlives_a_killed_scheduler_does_no_harm(commands: Commands) -> None:
    commands.make_backlog()
    commands.one_batch_at_a_time()
    scheduler = commands.start("scheduler")
    commands.wait_until("SELECT COUNT(*) FROM edition_batch")
    (child,) = children(scheduler.pid)
    scheduler.kill()
    # The child is still at work, or is done.
    with open_arrow(commands.url) as connection:
        holder = display_name(job_runs.holder(connection, "refresh"))
    assert holder.endswith(f":{child.pid}") or not child.is_running()
    child.kill()
    scheduler.wait()
    commands("run", "refresh")
    assert commands.status()["queued"]["rows"] == 0


def test_nothing_of_a_test_goes_on_in_the_next_one(commands: Commands) -> None:
    """Its database may be the next one's too."""
    commands.make_backlog()
    commands.one_batch_at_a_time()
    scheduler = commands.start("scheduler")
    commands.wait_until("SELECT COUNT(*) FROM edition_batch")
    (job,) = children(scheduler.pid)
    job.suspend()  # so that it does not end by itself
    scheduler.kill()
    scheduler.wait()
    commands.end()
    psutil.wait_procs([job], timeout=PATIENCE_SECONDS)
    assert not job.is_running()


def test_one_run_of_a_job_at_a_time(commands: Commands) -> None:
    commands.take("shops", [SHOP])
    commands("run", "nightly")
    commands.run_elsewhere()
    assert "nightly is already running (elsewhere:1)" in commands("run", "nightly", status=75)
    # Another job, and the same command by hand, may run.
    commands("run", "refresh")
    commands("rollup")
    # So may a job whose last run has died.
    commands.change("UPDATE job_run SET seen_at = 1")
    commands("run", "nightly")
    assert commands("run", "lunch", status=2).splitlines()[-1].startswith("Error: no job 'lunch'")


def test_files_that_another_scheduler_imports_are_looked_at_again(
    commands: Commands, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    commands("run", "landing")
    commands.land("orders", "o.ndjson", as_ndjson([order()]))
    commands.run_elsewhere()
    for name, value in commands.settings.items():
        monkeypatch.setenv(name, value)
    (landing,) = (job for job in schedule() if job.name == "landing")
    processes = ChildProcesses("", commands.landing)
    for _ in range(3):
        processes.run(landing)
    # The first look only saw the file.
    assert capfd.readouterr().err.count("landing is already running") == 2


def test_a_scheduled_run_logs_the_time_and_its_name(commands: Commands) -> None:
    commands.take("shops", [SHOP])
    commands.take("orders", [order()])
    (line,) = commands("run", "refresh").splitlines()
    logged = json.loads(line)
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", logged.pop("time"))
    assert logged == {"job": "refresh", "message": "rolled up 1 rows"}
    assert commands("rollup", "--refresh") == "rolled up 0 rows\n"


def test_nothing_is_logged_where_nothing_happened(commands: Commands) -> None:
    for job in ("refresh", "nightly", "verify", "purge", "landing"):
        assert commands("run", job) == "", job


def test_every_line_of_a_scheduler_is_json_with_its_time(commands: Commands) -> None:
    commands.take("shops", [SHOP])
    commands.take("orders", [order()])
    scheduler = commands.start("scheduler")
    commands.wait_until("SELECT COUNT(*) FROM job_run WHERE job = 'refresh' AND state = 'done'")
    scheduler.terminate()
    lines = [json.loads(line) for line in scheduler.finish().splitlines()]
    assert {"job": "refresh", "message": "rolled up 1 rows"} in [
        {name: line[name] for name in ("job", "message")} for line in lines
    ]
    assert {tuple(line) for line in lines} == {("time", "job", "message")}


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("15 2 * * *", "2026-03-05T02:15"),
        ("0 3 * * 0", "2026-03-08T03:00"),
        ("0 3 * * 7", "2026-03-08T03:00"),
        ("0 3 * * 1-5", "2026-03-05T03:00"),
        ("0 3 * * 5-7", "2026-03-06T03:00"),
        ("0 3 * * 0,6", "2026-03-07T03:00"),
        ("*/20 * * * *", "2026-03-04T05:20"),
        ("0 0 1 * *", "2026-04-01T00:00"),
    ],
)
def test_cron_expressions_mean_what_cron_means(text: str, first: str) -> None:
    assert cron(text).get_next_fire_time(None, NOW).isoformat()[:16] == first


@pytest.mark.parametrize("text", ["nightly", "0 25 * * *", "* * * *", "0 3 * * 6-2"])
def test_any_other_text_is_a_wrong_setting(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NIGHTLY_CRON", text)
    with pytest.raises(SettingError, match="NIGHTLY_CRON"):
        schedule()


def test_the_next_times_of_the_jobs(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("NIGHTLY_CRON", "VERIFY_CRON", "PURGE_CRON"):
        monkeypatch.delenv(name)
    following = {job.name: job.next_time(NOW) for job in schedule()}
    assert {name: str(time)[:19] for name, time in following.items()} == {
        "nightly": "2026-03-05 02:15:00",
        "refresh": "2026-03-04 05:10:00",
        "verify": "2026-03-05 04:15:00",
        "purge": "2026-03-05 03:45:00",
        "landing": "2026-03-04 05:06:10",
        "dropped": "2026-03-04 05:06:07",
    }
