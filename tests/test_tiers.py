"""The lists of the tiers name tests that exist: a test that was renamed would come back to `make test`, or
leave the core, without a word."""

from pathlib import Path

import pytest

from tests.tiers import POSTGRES_CORE, THOROUGH


@pytest.mark.parametrize("entry", [*THOROUGH, *POSTGRES_CORE])
def test_each_entry_is_there(entry: str) -> None:
    place, _, test = entry.partition("[")[0].partition("::")
    path = Path(__file__).parent / place
    assert path.exists()
    assert not test or f"def {test}(" in path.read_text()
