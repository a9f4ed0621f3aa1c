"""The start of a small command: what it imports, and what it shows to whom."""

import os
import pty
import subprocess
import sys
import termios

from tests.importing.files import event
from tests.jobs.conftest import Commands

# What a rollup has no use for: some of it takes longer to import than a small one takes to run.
NEEDLESS = (
    "alembic",
    "apscheduler",
    "jobs.demo",
    "jobs.importing",
    "multiprocessing",
    "psycopg",
    "sqlalchemy",
    "sqlite3",
    "tqdm",
)


def waiting(commands: Commands) -> None:
    commands.take("shops", [{"shop_id": "a.example", "currency": "EUR"}])
    commands.take("events", [event(shop_id="a.example")])


def test_a_rollup_imports_what_it_needs(commands: Commands) -> None:
    waiting(commands)
    took = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "jobs", "rollup"],
        env={**os.environ, **commands.settings},
        capture_output=True,
        text=True,
    )
    assert took.stdout == "rolled up 1 rows\n", took.stderr
    imported = {line.rpartition("|")[2].strip() for line in took.stderr.splitlines()}
    assert {"pandas", "jobs.pipeline", "warehouse.bulk"} <= imported
    assert [name for name in sorted(imported) if name.startswith(NEEDLESS)] == []


def test_who_watches_is_shown_a_bar(sqlite_commands: Commands) -> None:
    waiting(sqlite_commands)
    ours, theirs = pty.openpty()
    termios.tcsetwinsize(theirs, (24, 80))
    process = subprocess.Popen(
        [sys.executable, "-m", "jobs", "rollup"],
        env={**os.environ, **sqlite_commands.settings},
        stdout=subprocess.DEVNULL,
        stderr=theirs,
    )
    os.close(theirs)
    shown = b""
    try:
        while more := os.read(ours, 4096):
            shown += more
    except OSError:  # Linux: the other end is closed
        pass
    os.close(ours)
    assert process.wait() == 0
    assert b"rollup: 100%" in shown
