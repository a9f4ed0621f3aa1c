"""The commands as processes: at once, and killed in the middle; the answers are the same."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.product import Product
from tests.test_invariants import assert_answers
from tests.worlds import World, world


def start(url: str, *args: str) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, "-m", "jobs", *args],
        env={**os.environ, "WAREHOUSE_URL": url},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def finish(*running: "subprocess.Popen[str]") -> None:
    for process in running:
        output = process.communicate(timeout=120)
        assert process.returncode == 0, output


def written(given: World, folder: Path) -> dict[str, Path]:
    """The world's records as one file of each kind."""
    files = {}
    for kind, rows in given.records.items():
        files[kind] = folder / f"{kind}.ndjson"
        files[kind].write_text("".join(json.dumps(row) + "\n" for row in rows))
    return files


def import_all_but_events(url: str, files: dict[str, Path]) -> None:
    for kind in ("shops", "forms", "orders", "ad-spend", "ad-accounts", "exchange-rates"):
        finish(start(url, "import", kind, str(files[kind])))


def test_two_rollups_and_two_imports_at_once(warehouse_url: str, tmp_path: Path) -> None:
    given = world(5, 30)
    files = written(given, tmp_path)
    import_all_but_events(warehouse_url, files)
    events = str(files["events"])
    finish(
        start(warehouse_url, "rollup"),
        start(warehouse_url, "import", "events", events),
        start(warehouse_url, "import", "events", events),
        start(warehouse_url, "rollup"),
    )
    finish(start(warehouse_url, "rollup"), start(warehouse_url, "rollup"))
    assert_answers(Product(warehouse_url), given, "after all at once")


@pytest.mark.parametrize("command", ["import", "rollup", "rebuild"])
def test_killed_in_the_middle_and_started_again(
    warehouse_url: str, tmp_path: Path, command: str
) -> None:
    given = world(6, 30)
    files = written(given, tmp_path)
    import_all_but_events(warehouse_url, files)
    args = (command, "events", str(files["events"])) if command == "import" else (command,)
    if command != "import":
        finish(start(warehouse_url, "import", "events", str(files["events"])))
    for _ in range(3):
        running = start(warehouse_url, *args)
        time.sleep(random.uniform(0.5, 2.5))
        running.send_signal(signal.SIGKILL)
        running.communicate()
    finish(start(warehouse_url, *args))
    finish(start(warehouse_url, "rollup"))
    assert_answers(Product(warehouse_url), given, f"after a killed {command}")
    finish(start(warehouse_url, "verify", "--all"))
