"""The commands as processes at once; the answers are the same. What they withstand is in `faults/`."""

import json
import os
import subprocess
import sys
from pathlib import Path

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


def test_two_rollups_and_two_imports_at_once(warehouse_url: str, tmp_path: Path) -> None:
    given = world(5, 30)
    product = Product(warehouse_url)
    for kind in ("shops", "forms", "orders", "ad-spend", "ad-accounts", "exchange-rates"):
        product.load(kind, given.records[kind])
    events = str(written(given, tmp_path)["events"])
    finish(
        start(warehouse_url, "rollup"),
        start(warehouse_url, "import", "events", events),
        start(warehouse_url, "import", "events", events),
        start(warehouse_url, "rollup"),
    )
    finish(start(warehouse_url, "rollup"), start(warehouse_url, "rollup"))
    assert_answers(product, given, "after all at once")
