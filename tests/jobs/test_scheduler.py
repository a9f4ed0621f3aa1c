"""The scheduler: its jobs run as processes of their own, one of each at a time, and end with it."""

import signal
import time
from datetime import UTC, datetime

import pytest

from jobs.schedule import cron, schedule
from tests.importing.files import as_ndjson, order
from tests.jobs.conftest import Commands
from tests.jobs.processes import children
from tests.jobs.test_ending import backlog, small_portions, until
from warehouse import leases
from warehouse.bulk import open_bulk
from warehouse.owners import LEASE_MICROS
from warehouse.settings import SettingError

SHOP = {"shop_id": "a.example", "currency": "EUR"}
NOW = datetime(2026, 3, 4, 5, 6, 7, tzinfo=UTC)  # a Wednesday


def test_what_lands_is_imported_and_rolled_up_by_itself(commands: Commands) -> None:
    commands.settings |= {"IMPORT_SECONDS": "1", "REFRESH_MINUTES": "60"}
    assert commands.status()["landing"]["waiting"] == []
    commands.land("orders", "o.ndjson", as_ndjson([order()]))
    commands.land("shops", "s.ndjson", as_ndjson([SHOP]))
    scheduler = commands.start("scheduler")
    until(commands, "SELECT COUNT(*) FROM raw_order")
    scheduler.terminate()
    assert "jobs rollup --refresh, every 60 minutes" in commands.finish(scheduler)
    # What was missed is made up for when a scheduler starts.
    scheduler = commands.start("scheduler")
    until(commands, "SELECT COUNT(*) FROM daily_attribution")
    begun = time.monotonic()
    scheduler.send_signal(signal.SIGINT)
    commands.finish(scheduler)
    assert time.monotonic() - begun < 10
    assert {run["job"] for run in commands.status()["runs"]} == {"landing", "refresh"}


def test_a_nightly_that_was_missed_is_made_up_for_once(commands: Commands) -> None:
    commands.take("shops", [SHOP])
    commands("run", "nightly")
    commands.change("UPDATE run SET started_at = 1")
    scheduler = commands.start("scheduler")
    until(commands, "SELECT COUNT(*) FROM run WHERE job = 'nightly' AND started_at > 1")
    scheduler.terminate()
    commands.finish(scheduler)
    assert commands.rows("SELECT COUNT(*) FROM run WHERE job = 'verify'") == [0]


def test_the_job_in_hand_ends_with_the_scheduler(commands: Commands) -> None:
    backlog(commands)
    small_portions(commands)
    scheduler = commands.start("scheduler")
    until(commands, "SELECT COUNT(*) FROM edition_batch")
    (child,) = children(scheduler.pid)
    begun = time.monotonic()
    scheduler.terminate()
    said = commands.finish(scheduler)
    assert time.monotonic() - begun < 10
    assert not child.is_running()
    assert "ended by SIGTERM" in said
    assert commands.rows("SELECT owner FROM job_lease") == [""]


def test_a_child_outlives_a_killed_scheduler_and_is_no_trouble(commands: Commands) -> None:
    backlog(commands)
    small_portions(commands)
    scheduler = commands.start("scheduler")
    until(commands, "SELECT COUNT(*) FROM edition_batch")
    (child,) = children(scheduler.pid)
    scheduler.kill()
    # It is still its turn, or it is done.
    with open_bulk(commands.url) as bulk:
        holder = leases.holder(bulk, "refresh")
    assert holder.endswith(f":{child.pid}") or not child.is_running()
    child.kill()
    scheduler.communicate()
    commands("run", "refresh")
    assert commands.status()["queued"]["rows"] == 0


def test_one_run_of_a_job_at_a_time(commands: Commands) -> None:
    commands.take("shops", [SHOP])
    commands("run", "nightly")
    commands.change("UPDATE job_lease SET owner = 'elsewhere:1:x', until = 9000000000000000")
    assert "nightly: elsewhere:1 has its turn" in commands("run", "nightly", status=75)
    assert commands("run", "nightly", "--quiet", status=75) == ""
    # Another job, and the same by hand, are free.
    commands("run", "refresh")
    commands("rollup")
    # A lease that has run out is free.
    commands.change("UPDATE job_lease SET until = 1")
    commands("run", "nightly")
    assert commands("run", "lunch", status=2).splitlines()[-1].startswith("Error: no job 'lunch'")


def test_a_lease_is_held_renewed_and_released(commands: Commands) -> None:
    commands.take("shops", [SHOP])
    with open_bulk(commands.url) as bulk:
        assert leases.take(bulk, "job", 1)
        assert not leases.take(bulk, "job", LEASE_MICROS)
        leases.renew(bulk, LEASE_MICROS)
        assert not leases.take(bulk, "job", 2 * LEASE_MICROS)
        leases.release(bulk, "job")
        assert leases.take(bulk, "job", 3)


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
def test_cron_is_that_of_cron(text: str, first: str) -> None:
    assert cron(text).get_next_fire_time(None, NOW).isoformat()[:16] == first


@pytest.mark.parametrize("text", ["nightly", "0 25 * * *", "* * * *", "0 3 * * 6-2"])
def test_what_is_no_cron_expression_is_a_wrong_setting(
    text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NIGHTLY", text)
    with pytest.raises(SettingError, match="NIGHTLY"):
        schedule()


def test_the_next_times_are_those_of_any_scheduler() -> None:
    following = {job.name: job.next_time(NOW) for job in schedule()}
    assert {name: str(time)[:19] for name, time in following.items()} == {
        "nightly": "2026-03-05 02:15:00",
        "refresh": "2026-03-04 05:10:00",
        "verify": "2026-03-05 04:15:00",
        "purge": "2026-03-05 03:45:00",
        "landing": "2026-03-04 05:06:10",
    }
