"""Pauses between retries are short here."""

import pytest

from jobs.pulls import http


@pytest.fixture(autouse=True)
def short_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http, "_FIRST_PAUSE_SECONDS", 0.001)
