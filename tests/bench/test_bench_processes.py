"""The benchmark measures the process that it starts, and no other."""

from itertools import repeat

import pytest

from tests.bench import load
from tests.bench.processes import Took, run
from tests.bench.servers import serving

MB = 1_000_000


def test_the_memory_of_a_process_is_not_that_of_its_parent() -> None:
    ours = b"x" * (300 * MB)
    assert run("", "platform").peak_mb < 100
    held = f"x = b'x' * {200 * MB}; __import__('time').sleep(0.3)"
    assert 200 < run("", "timeit", "-n", "1", "-r", "1", held).peak_mb < 300
    assert len(ours) == 300 * MB


def test_the_processor_time_of_a_process_is_known_and_adds_up() -> None:
    busy = "sum(range(10_000_000))"
    took = run("", "timeit", "-n", "1", "-r", "1", busy)
    assert 0.05 < took.cpu < took.seconds + 1
    assert took + Took(1, 2, 3) == Took(took.seconds + 1, max(took.peak_mb, 2), took.cpu + 3)


def test_a_process_that_fails_says_why() -> None:
    with pytest.raises(RuntimeError, match=r"(?s)^jobs import sales x\.csv: exit 2: .*'sales'"):
        run("", "jobs", "import", "sales", "x.csv")


def test_load_is_that_of_answers_with_the_status_that_was_meant() -> None:
    with serving("", "tests.bench.bare") as server:

        def asked(path: str) -> load.Load:
            request = f"GET {path} HTTP/1.1\r\nHost: bench\r\n\r\n".encode()
            return load.run(server.port, server.process, repeat(request), 200, 0.3)

        found = asked("/100000")
        assert found.requests_per_second > 0
        assert 0 < found.p99_ms < 10_000
        assert found.cpu_us > 0
        with pytest.raises(RuntimeError, match="answered with 404 instead of 200"):
            asked("/nowhere")
