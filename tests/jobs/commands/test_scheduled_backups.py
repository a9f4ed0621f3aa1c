"""Backups on a schedule: each is read to its end before it counts, and older ones go after that."""

import fcntl
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.jobs.scheduler.conftest import findings, gauges, needs, ready
from tests.support.commands import kill_at_call
from tests.support.import_files import order
from tests.support.job_commands import SHOP, Commands
from warehouse.backups import folder, postgresql, sqlite
from warehouse.domain.time import MICROS_PER_DAY, now_micros

NOW = now_micros()
DAILY, WEEKLY = "0 3 * * *", "0 3 * * 0"


@pytest.fixture(autouse=True)
def its_programs(programs: None) -> None:
    """Every test here takes a backup."""


def names(commands: Commands) -> list[str]:
    return sorted(path.name for path in commands.backups.glob("warehouse*"))


def name_of(days: int) -> str:
    """A backup that was taken so many days ago."""
    return folder.next_file(Path(), NOW - days * MICROS_PER_DAY).name


def test_they_are_kept_by_number_and_by_age_and_can_be_restored(commands: Commands) -> None:
    commands.settings |= {"BACKUP_CRON": DAILY, "BACKUP_KEEP": "3", "BACKUP_DAYS": "10"}
    commands.take("shops", [SHOP])
    commands.backups.mkdir()
    for name in (*map(name_of, (1, 2, 3, 11)), "warehouse-mine.backup", "other"):
        (commands.backups / name).touch()
    said = commands("run", "backup")
    assert ", and read to its end" in said
    assert "deleted 2 older backups" in said
    first = names(commands)
    assert first[:2] + first[3:] == [name_of(2), name_of(1), "warehouse-mine.backup"]
    commands.take("orders", [order()])
    commands("rollup")
    commands.settings |= {"BACKUP_KEEP": "14", "BACKUP_DAYS": "1"}
    time.sleep(1)  # names tell seconds
    commands("backup")
    # Those of yesterday are older than a day now.
    newest = names(commands)[1]
    assert names(commands) == [first[2], newest, "warehouse-mine.backup"]
    assert (commands.backups / "other").exists()
    commands.change("DELETE FROM daily_attribution")
    commands("restore", str(commands.backups / newest), "--force")
    assert commands.orders_of_shops() == {"a.example": 1}


def damaging(back_up: Callable[..., None], change: Callable[[Path], object]) -> Callable[..., None]:
    def back_up_and_damage(url: Any, file: Path, progress: Any) -> None:
        back_up(url, file, progress)
        change(file)

    return back_up_and_damage


def cut(file: Path) -> None:
    os.truncate(file, file.stat().st_size * 9 // 10)


def overwrite(file: Path) -> None:
    with file.open("r+b") as opened:
        opened.seek(file.stat().st_size // 3)
        opened.write(bytes(range(256)) * 64)


@pytest.mark.parametrize("change", [cut, overwrite])
def test_one_that_cannot_be_read_does_not_count_and_nothing_is_deleted_for_it(
    commands: Commands, monkeypatch: pytest.MonkeyPatch, change: Callable[[Path], object]
) -> None:
    """So a disk may lose what was written."""
    commands.settings |= {"BACKUP_CRON": DAILY, "BACKUP_KEEP": "1", "BACKUP_DAYS": "1"}
    commands.take("shops", [SHOP])
    commands.backups.mkdir()
    (commands.backups / name_of(5)).touch()
    for module in (sqlite, postgresql):
        monkeypatch.setattr(module, "back_up", damaging(module.back_up, change))
    said = commands("run", "backup", status=1)
    assert ".backup is " in said
    assert names(commands) == [name_of(5)]
    assert commands.rows("SELECT state FROM job_run WHERE job = 'backup'") == ["failed"]


def test_one_that_is_killed_leaves_nothing_for_long(commands: Commands) -> None:
    commands.settings |= {"BACKUP_CRON": DAILY}
    commands.take("shops", [SHOP])
    killed = kill_at_call("warehouse.backups.files._sync", 1)
    assert commands.start("run", "backup", before=killed).wait() == -9
    (partial,) = names(commands)
    assert partial.endswith(".partial")
    commands("run", "backup")
    (whole,) = names(commands)
    assert whole.endswith("Z.backup")


def test_one_process_at_a_time_writes_into_a_folder(commands: Commands) -> None:
    commands.take("shops", [SHOP])
    commands("backup")
    with (commands.backups / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        assert "backup is already running" in commands("backup", status=75)
    assert commands.rows("SELECT state FROM job_run WHERE job = 'backup'") == ["done"]


def test_a_folder_in_which_nobody_may_write_is_told(commands: Commands) -> None:
    commands.take("shops", [SHOP])
    commands.settings["BACKUP_DIR"] = "/proc/backups"
    assert "/proc/backups" in commands("backup", status=1)
    assert commands.rows("SELECT state FROM job_run WHERE job = 'backup'") == ["failed"]


def test_no_backup_for_two_days(commands: Commands) -> None:
    """A scheduler takes the first one at once; without a scheduled one nobody misses any."""
    commands.take("shops", [SHOP])
    commands("rollup")
    later = now_micros() + 2 * MICROS_PER_DAY
    assert "no-backup" not in needs(commands, later)
    assert "Error: no job 'backup'" in commands("run", "backup", status=2)
    commands.settings["BACKUP_CRON"] = DAILY
    commands.start("scheduler")
    commands.wait_until("SELECT COUNT(*) FROM job_run WHERE job = 'backup' AND state = 'done'")
    commands.wait_until("SELECT COUNT(*) FROM scheduler")
    commands.end()
    assert "backup   0 3 * * * (UTC); next 20" in commands("status")
    assert "no-backup" not in needs(commands, later - MICROS_PER_DAY)
    later += MICROS_PER_DAY // 24
    assert needs(commands, later)["no-backup"] == [""]
    assert "no-backup" in ready(commands, later)
    assert gauges(commands, later)["no-backup"] == 1
    (found,) = (one for one in findings(commands, later) if one.condition == "no-backup")
    assert found.message.startswith("no backup was checked for 2 days, and they are scheduled. ")
    commands.change("UPDATE job_run SET ended_at = ended_at - 200000000000 WHERE job = 'backup'")
    assert "NEEDS YOU: no backup was checked for 2 days" in commands("status", status=1)
    commands("backup")
    assert needs(commands) == {}


def test_those_that_were_never_checked_and_rare_ones(commands: Commands) -> None:
    commands.take("shops", [SHOP])
    commands("rollup")
    commands.settings["BACKUP_CRON"] = WEEKLY
    commands.start("scheduler")
    commands.wait_until("SELECT COUNT(*) FROM job_run WHERE job = 'backup'")
    commands.wait_until("SELECT COUNT(*) FROM scheduler")
    commands.end()
    commands.change("DELETE FROM job_run WHERE job = 'refresh'")
    now = now_micros()
    # Sunday is at most a week away, and a day more is given.
    assert "no-backup" not in needs(commands, now + MICROS_PER_DAY)
    assert "no-backup" in needs(commands, now + 8 * MICROS_PER_DAY)
    commands.change("UPDATE job_run SET state = 'failed' WHERE job = 'backup'")
    assert "no-backup" in needs(commands, now + 8 * MICROS_PER_DAY)
    # The scheduler was started anew since, and the record of tries tells how long none was checked.
    commands.change("UPDATE scheduler SET started_at = 4000000000000000")
    assert "no-backup" in needs(commands, now + 8 * MICROS_PER_DAY)
    commands.change("DELETE FROM job_run WHERE job = 'backup'")
    assert "no-backup" not in needs(commands, now + 8 * MICROS_PER_DAY)
