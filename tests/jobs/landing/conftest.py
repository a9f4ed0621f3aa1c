"""Files in these tests are put into the folder whole."""

import pytest

from jobs.landing import folder


@pytest.fixture(autouse=True)
def no_settling(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(folder, "_SETTLE_SECONDS", 0.01)
