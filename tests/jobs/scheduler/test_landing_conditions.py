"""The conditions of the landing folder that need an operator."""

import os
import subprocess
import sys

import pytest
from sqlalchemy import make_url

from jobs.landing.held_file import report_name
from tests.jobs.scheduler.conftest import MINUTE, needs, seen_by_scheduler, started
from tests.support.import_files import as_ndjson, order
from tests.support.job_commands import SHOP, Commands
from warehouse.connections.arrow import PostgresConnection, SqliteConnection, open_arrow
from warehouse.domain.time import now_micros
from warehouse.operations import conditions


def status_later(commands: Commands, minutes: int, status: int) -> str:
    """The output of `status` when so many minutes have passed: nobody can set back when a file landed."""
    with pytest.MonkeyPatch.context() as clock:
        later = lambda _connection: now_micros() + minutes * MINUTE  # noqa: E731
        for connection in (SqliteConnection, PostgresConnection):
            clock.setattr(connection, "now_micros", later)
        return commands("status", status=status)


# Hours by which the clock of whoever wrote a file may differ.
@pytest.mark.parametrize("hours", [-9000, 0, 9000])
def test_a_landed_file_that_nobody_imports(commands: Commands, hours: int) -> None:
    """It landed when it came into the folder, however old the time is that it brought along."""
    commands.take("shops", [SHOP])
    sent = commands.folder / "sent.ndjson"
    sent.write_bytes(as_ndjson([order()]))
    written_at = sent.stat().st_mtime + hours * 3600
    os.utime(sent, (written_at, written_at))
    file = commands.landing / "orders/o.ndjson"
    file.parent.mkdir(parents=True)
    # As `rsync -t` does: a copy with the times of the file, under another name first.
    subprocess.run(["cp", "-p", sent, file.with_name(".o.ndjson")], check=True)
    file.with_name(".o.ndjson").rename(file)
    assert abs(file.stat().st_mtime - written_at) < 1
    assert needs(commands) == {}
    assert f"\n  {file}\n" in status_later(commands, 9, status=0)
    said = status_later(commands, 11, status=1)
    assert (
        f"NEEDS YOU: 1 landed file waits in {commands.landing}, the oldest for 11 minutes. "
        "`python -m jobs landing` imports them; a running scheduler does so by itself\n"
    ) in said
    assert f"1 waiting, 0 being imported\n  {file}\n" in said
    commands("landing")
    assert "NEEDS YOU" not in status_later(commands, 11, status=0)


def test_landed_files_that_cannot_be_moved(commands: Commands) -> None:
    commands.take("shops", [SHOP])
    for name in ("o.ndjson", "p.ndjson"):
        commands.land("orders", name, as_ndjson([order(order_id=name)]))
        blocked = commands.landing / "orders/done" / f".{report_name(name)}"
        blocked.mkdir(parents=True)
    commands("landing", status=1)
    (problem,) = commands.status(1)["conditions"]
    assert problem["condition"] == conditions.LANDING_FAILED
    seen_by_scheduler(commands)
    assert needs(commands) == {"landing-failed": [""]}
    assert "2 landed files wait in " in status_later(commands, 11, status=1)


def test_a_failed_import_is_told_of_its_own_folder_alone(commands: Commands) -> None:
    commands.take("shops", [SHOP])
    commands.land("orders", "o.ndjson", as_ndjson([order()]))
    seen_by_scheduler(commands)
    now = now_micros()
    commands.change(
        "INSERT INTO job_run (job, owner, started_at, seen_at, ended_at, state, error) VALUES "
        f"('landing', 'another:1:elsewhere:1:x', {now}, {now}, {now}, 'failed', 'its disk is full')"
    )
    assert needs(commands) == {}
    commands.change(
        "UPDATE scheduler SET owner = 'another:2:elsewhere:1:x', landing_folder = '/srv/landing', "
        f"landed_files = 1, landed_since = {now}"
    )
    (problem,) = commands.status(1)["conditions"]
    assert problem["condition"] == conditions.LANDING_FAILED
    assert "its disk is full; 1 wait in /srv/landing" in problem["message"]


def test_landed_files_that_another_host_sees(commands: Commands) -> None:
    """A scheduler tells the API, and `status` on another host, where a folder of that path may be empty."""
    commands.take("shops", [SHOP])
    commands.settings["LANDING_POLL_SECONDS"] = "3600"
    file = commands.land("orders", "o.ndjson", as_ndjson([order()]))
    scheduler = started(commands)
    (files, since) = commands.rows("SELECT landed_files, landed_since FROM scheduler")[0]
    assert (files, now_micros() - since < MINUTE) == (1, True)
    scheduler.kill()
    scheduler.wait()
    # So it is when ten minutes have passed.
    commands.change(f"UPDATE scheduler SET landed_since = landed_since - {11 * MINUTE}")
    with open_arrow(commands.url) as connection:
        (found,) = conditions.find(lambda sql: connection.table(sql).to_pylist(), now_micros(), 5)
    assert found.condition == conditions.LANDING_WAITS
    # This host sees its own folder by itself.
    assert commands.status()["conditions"] == []
    file.unlink()
    commands.change("UPDATE scheduler SET owner = 'elsewhere:1:2:3:4'")
    assert needs(commands) == {"landing-waits": [""]}


def test_what_lies_in_the_folder_is_told_at_every_door(commands: Commands) -> None:
    """A file that failed, a link, and a full disk: the API learns of them from the scheduler."""
    commands.settings["LANDING_POLL_SECONDS"] = "3600"
    commands.land("orders", "o.ndjson", b"")
    bad = commands.landing / "orders/failed/p.ndjson"
    bad.parent.mkdir()
    (commands.landing / "orders/o.ndjson").rename(bad)
    (commands.landing / "orders/link").symlink_to("/etc")
    seen_by_scheduler(commands)
    found = {"failed-files": [""], "left-alone": [""]}
    assert needs(commands) == found
    assert {one["condition"] for one in commands.status(1)["conditions"]} == found.keys()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("jobs.scheduler.host_findings.LEAST_FREE_PERCENT", 101)
        seen_by_scheduler(commands)
        assert needs(commands).keys() == found.keys() | {"disk-low"}
        (full,) = [
            one for one in commands.status(1)["conditions"] if one["condition"] == "disk-low"
        ]
    assert f"the disk of {commands.landing} has " in full["message"]
    bad.unlink()
    (commands.landing / "orders/link").unlink()
    assert commands.status()["conditions"] == []


_READER = """
import sqlite3, sys
connection = sqlite3.connect(sys.argv[1])
connection.execute("BEGIN")
connection.execute("SELECT COUNT(*) FROM shop").fetchall()
print("reads", flush=True)
sys.stdin.read()
"""


def test_a_reader_that_keeps_the_log_of_the_warehouse_from_its_file(
    sqlite_commands: Commands, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Such as a notebook that was left open: all that is written stays in the log, which grows."""
    commands = sqlite_commands
    monkeypatch.setattr("jobs.scheduler.host_findings.MOST_LOG_BYTES", 300_000)
    commands.take("shops", [SHOP])
    file = make_url(commands.url).database
    rows = [order(order_id=f"o{number}", customer_id="c" * 200) for number in range(1_000)]
    words = [sys.executable, "-c", _READER, str(file)]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as reader:
        assert reader.stdout
        reader.stdout.readline()
        commands.take("orders", rows)
        seen_by_scheduler(commands)
        assert needs(commands) == {"log-kept": [""]}
        (kept,) = commands.status(1)["conditions"]
        assert kept["message"].startswith(f"{file}-wal has ")
        assert f" MB that a reader keeps from being taken into {file}: " in kept["message"]
    # The reader has ended, and the next look takes the log into the file.
    assert commands.status()["conditions"] == []
