"""Settings that are in a file of their own."""

from pathlib import Path

import pytest

from warehouse import settings
from warehouse.setting_values import SettingError


def test_a_value_may_be_in_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "port"
    file.write_text("8123\n")
    monkeypatch.delenv("PORT", raising=False)
    monkeypatch.setenv("PORT_FILE", str(file))
    assert settings.PORT.get() == 8123
    monkeypatch.setenv("PORT", "8124")
    assert settings.PORT.get() == 8124


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "[::]"])
def test_no_link_leads_to_an_address_that_stands_for_all(
    host: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So a container listens."""
    for name in ("PUBLIC_URL", "COLLECT_URL", "PORT", "COLLECT_PORT"):
        monkeypatch.delenv(name, raising=False)
    for name in ("HOST", "COLLECT_HOST"):
        monkeypatch.setenv(name, host)
    assert settings.public_url() == "http://localhost:8000"
    assert settings.collect_url() == "http://localhost:8001"


def test_a_file_that_cannot_be_read_is_named_but_not_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "url"
    monkeypatch.delenv("WAREHOUSE_URL", raising=False)
    monkeypatch.setenv("WAREHOUSE_URL_FILE", str(file))
    with pytest.raises(SettingError, match=r"WAREHOUSE_URL_FILE='.*' cannot be read: "):
        settings.WAREHOUSE_URL.get()
    file.write_text("mysql://me:secret@localhost/x")
    with pytest.raises(SettingError) as refused:
        settings.WAREHOUSE_URL.get()
    assert "secret" not in str(refused.value)


@pytest.mark.parametrize("text", ["https://shop.example/analytics", "http://127.0.0.1:8080/a/b/"])
def test_pages_are_not_below_a_path(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """They would link to the shop's own pages, and a sign-in link would be used up."""
    monkeypatch.setenv("PUBLIC_URL", text)
    with pytest.raises(SettingError) as refused:
        settings.PUBLIC_URL.get()
    assert str(refused.value) == (
        f"PUBLIC_URL='{text}': must have no path: the pages and their cookies need a host (or a port) of "
        "their own, of which the proxy passes on every path, as in PUBLIC_URL=https://forms.example.com"
    )
    monkeypatch.setenv("COLLECT_URL", text)
    assert settings.collect_url() == text.rstrip("/")
