"""A wrong setting of a page ends `serve` at its start, and not the page when somebody opens it."""

from pathlib import Path

import pytest

from tests.support.commands import run_web


@pytest.mark.parametrize("setting", ["CREDENTIALS_KEY=abc", "COLLECT_PORT=x", "COLLECT_HOST=a b"])
def test_serve_refuses_what_only_pages_use(
    setting: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name, _, value = setting.partition("=")
    monkeypatch.setenv(name, value)
    done = run_web(f"sqlite:///{tmp_path / 'warehouse.db'}", "serve")
    assert (done.status, done.output) == (2, "")
    assert done.errors.startswith(f"Error: {name}")
    assert list(tmp_path.iterdir()) == []
