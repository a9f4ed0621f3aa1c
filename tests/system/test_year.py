"""Nothing grows in a year but what data make, and no night of it needs a person (`year.py`)."""

from pathlib import Path

import pytest

from tests.system.year import Year, grown


def test_twenty_days_of_which_five_are_kept(sqlite_url: str, tmp_path: Path) -> None:
    year = Year(sqlite_url, tmp_path, shops=2, days=20, events=50, keep=5)
    assert grown(list(year.run(every=2)), keep=5) == []


@pytest.mark.deep
def test_a_year_of_fifty_shops(sqlite_url: str, tmp_path: Path) -> None:
    year = Year(sqlite_url, tmp_path, shops=50, days=365, events=200, keep=30)
    assert grown(list(year.run(every=10)), keep=30) == []
