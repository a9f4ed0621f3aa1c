"""Pauses between retries are short here."""

import pytest

from jobs.landing import turns
from jobs.pulls import http


@pytest.fixture(autouse=True)
def short_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http, "_FIRST_PAUSE_SECONDS", 0.001)
    monkeypatch.setattr(turns, "_SETTLE_SECONDS", 0.01)
