"""Files in these tests are put into the folder whole."""

import pytest

from jobs.landing import turns


@pytest.fixture(autouse=True)
def no_settling(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(turns, "_SETTLE_SECONDS", 0.01)
