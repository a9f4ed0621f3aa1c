"""Events that were answered 200 are in the figures once, whatever happens to the collector under load."""

import re
import subprocess
import sys

import pytest

from tests.conftest import WITHOUT_SMALL_DISK
from tests.support.waiting import PATIENCE_SECONDS


@pytest.mark.deep
def test_what_was_answered_is_counted_once() -> None:
    ended = subprocess.run(
        [sys.executable, "-m", "tests.system.collector_load", "--seconds", "20", "--clients", "30"],
        capture_output=True,
        text=True,
        timeout=PATIENCE_SECONDS,
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert re.search(r"workers killed \d.*files torn \d.*collectors killed \d", ended.stdout)
    if never := re.search(r"cannot be mounted \((.*)\)", ended.stdout):
        pytest.skip(f"{WITHOUT_SMALL_DISK}{never[1]}")
    assert "times the disk was full" in ended.stdout
