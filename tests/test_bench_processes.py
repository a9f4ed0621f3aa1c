"""What the benchmark says of a process is that process's own."""

import pytest

from tests.bench.processes import run

MB = 1_000_000


def test_the_memory_of_a_process_is_not_that_of_its_parent() -> None:
    ours = b"x" * (300 * MB)
    assert run("", "platform").peak_mb < 100
    held = f"x = b'x' * {200 * MB}; __import__('time').sleep(0.3)"
    assert 200 < run("", "timeit", "-n", "1", "-r", "1", held).peak_mb < 300
    assert len(ours) == 300 * MB


def test_a_process_that_fails_says_why() -> None:
    with pytest.raises(RuntimeError, match=r"(?s)^jobs import sales x\.csv: exit 2: .*'sales'"):
        run("", "jobs", "import", "sales", "x.csv")
