"""The command line: its help, its progress bars, and what a small command imports."""

import os
import pty
import subprocess
import sys
from itertools import chain

import pytest

from jobs.cli import SECTIONS
from tests.support.import_files import event
from tests.support.job_commands import Commands

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


@pytest.mark.parametrize(
    ("words", "settings", "status", "heavy"),
    [
        ([], {}, 2, "sqlalchemy"),
        (["--help"], {}, 0, "sqlalchemy"),
        (["rollup", "--help"], {}, 0, "pandas"),
        (["rolup"], {}, 2, "pandas"),
        (["rollup", "--refesh"], {}, 2, "pandas"),
        (["backfill", "--from", "yesterday"], {}, 2, "pandas"),
        (["status"], {"RAW_DAYS": "x"}, 2, "pandas"),
    ],
)
def test_a_question_or_a_mistake_is_answered_without_the_heavy_libraries(
    words: list[str], settings: dict[str, str], status: int, heavy: str
) -> None:
    took = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "jobs", *words],
        env={**os.environ, **settings},
        capture_output=True,
        text=True,
    )
    assert took.returncode == status, took.stderr
    imported = {line.rpartition("|")[2].strip() for line in took.stderr.splitlines()}
    assert "jobs.cli" in imported
    # SQLAlchemy reads the URL of the warehouse where the settings are checked, and takes half of the time.
    assert imported.isdisjoint({"pandas", "pyarrow", "numpy", "adbc_driver_manager", heavy})


SHOW_BAR = """
from jobs.run import console
console._BAR_AFTER_SECONDS = 0
with console.bar("rollup", " rows", 3) as shown:
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
    for name in chain(*SECTIONS.values()):
        assert f" {name} " in words
        assert f"Usage: main {name} " in sqlite_commands(name, "--help")
    assert "Bring the answers up to date with everything imported since the last rollup." in words
