"""schemathesis over the API's description: a real server, a real key, the demo's shop."""

import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy import make_url

from tests.support.depth import REQUEST_EXAMPLES
from tests.support.serving import served
from tests.web.openapi.described import Described
from web.reports import ENDPOINTS

ROOT = Path(__file__).parent.parent.parent.parent


@pytest.mark.timeout(600)
def test_the_service_keeps_to_its_description(sqlite_service: Described, tmp_path: Path) -> None:
    url = copied(sqlite_service.url, tmp_path)
    with served(url) as (_, port):
        finished = subprocess.run(
            [
                *(sys.executable, "-m", "schemathesis.cli", "run", "--no-color"),
                *("--header", f"Authorization: Bearer {sqlite_service.key}"),
                *("--phases", "examples,coverage,fuzzing", "--max-examples", str(REQUEST_EXAMPLES)),
                # No text that is stored has a NUL.
                *("--generation-deterministic", "--generation-allow-x00", "false"),
                f"http://127.0.0.1:{port}/v1/openapi.json",
            ],
            cwd=tmp_path,
            env={
                **os.environ,
                "PYTHONPATH": str(ROOT),
                "SCHEMATHESIS_HOOKS": "tests.web.openapi.request_rules",
            },
            capture_output=True,
            text=True,
        )
    assert finished.returncode == 0, finished.stdout[-8000:] + finished.stderr
    assert f"Tested: {len(ENDPOINTS)}" in finished.stdout


def copied(url: str, folder: Path) -> str:
    """A warehouse of one's own, with the same in it."""
    copy = folder / "copy.db"
    source = make_url(url).database
    assert source
    with closing(sqlite3.connect(source)) as there, closing(sqlite3.connect(copy)) as here:
        there.backup(here)
    return f"sqlite:///{copy}"
