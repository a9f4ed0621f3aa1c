"""A thousand random requests; `make test-deep` sends a hundred thousand."""

from pathlib import Path

from tests.system.fuzz import fuzzed


def test_random_requests_harm_nothing(tmp_path: Path) -> None:
    with fuzzed(tmp_path) as fuzzer:
        outcome = fuzzer.fuzz(range(1_000), seed=1)
    assert outcome.wrong == []
    assert outcome.statuses.total() == 1_000
    # They get behind the door.
    assert outcome.statuses[200] > 50
