"""The command line: its help, its progress bars, and what a small command imports."""

import os
import pty
import subprocess
import sys

from jobs.cli import COMMANDS
from tests.jobs.conftest import Commands
from tests.support.import_files import event

# A rollup does not need these, and some take longer to import than a small rollup takes to run.
NEEDLESS = (
    "alembic",
    "apscheduler",
    "jobs.demo",
    "jobs.importing",
    "multiprocessing",
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
    assert {"pandas", "jobs.pipeline.apply_batch", "warehouse.connections.arrow"} <= imported
    assert [name for name in sorted(imported) if name.startswith(NEEDLESS)] == []


SHOW_BAR = """
import time
from jobs.run.console import bar
with bar("rollup", " rows", 3) as shown:
    time.sleep(1.1)
    shown.advance(3)
"""


def test_a_terminal_shows_a_progress_bar() -> None:
    ours, theirs = pty.openpty()
    process = subprocess.Popen([sys.executable, "-c", SHOW_BAR], stderr=theirs)
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
    assert b"3/3" in shown


def test_the_help_has_each_command_with_its_first_sentence(sqlite_commands: Commands) -> None:
    words = " ".join(sqlite_commands("--help").split())
    for name in COMMANDS:
        assert f" {name} " in words
        assert f"Usage: main {name} " in sqlite_commands(name, "--help")
    assert "Bring the answers up to date with everything imported since the last rollup." in words
