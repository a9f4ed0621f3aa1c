"""Settings: what is refused, and in which words."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from warehouse import settings
from warehouse.settings import SETTINGS, SettingError


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("PORT", "abc", "PORT='abc': must be a port: a whole number from 1 to 65535"),
        ("PORT", "65536", "PORT='65536': must be a port: a whole number from 1 to 65535"),
        ("METRICS_PORT", "-1", "METRICS_PORT='-1': must be a port: a whole number from 1 to 65535"),
        ("WORKERS", "0", "WORKERS='0': must be a whole number from 1"),
        ("WORKERS", "1.5", "WORKERS='1.5': must be a whole number from 1"),
        ("PUBLIC_URL", "a.example", "PUBLIC_URL='a.example': must begin with http:// or https://"),
        (
            "TRUSTED_PROXIES",
            "nginx",
            "TRUSTED_PROXIES='nginx': must be addresses or networks such as 10.0.0.0/8",
        ),
        (
            "WAREHOUSE_URL",
            "postgresql://db:6432/warehouse?prepare_threshold=5",
            "WAREHOUSE_URL: has prepare_threshold=5: write prepare_threshold=None where the API reaches "
            "PostgreSQL through pgbouncer in transaction mode, or leave it out",
        ),
        (
            "SECRET_KEY",
            "x" * 31,
            "SECRET_KEY: must have at least 32 characters, such as `openssl rand -hex 32` prints",
        ),
        (
            "READ_WAREHOUSE_URL",
            "sqlite:///var/warehouse.db",
            "READ_WAREHOUSE_URL: must be postgresql://USER:PASSWORD@HOST:PORT/NAME: "
            "SQLite has no replicas",
        ),
        (
            "READ_WAREHOUSE_URL",
            "postgresql://replica.example/w",
            "READ_WAREHOUSE_URL: a read replica needs PostgreSQL, and WAREHOUSE_URL names an SQLite "
            "file; unset it, or set WAREHOUSE_URL to the replica's primary",
        ),
    ],
)
def test_a_wrong_value_is_quoted_with_what_it_must_be(
    name: str, text: str, message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WAREHOUSE_URL", "sqlite:///var/warehouse.db")
    monkeypatch.setenv(name, text)
    with pytest.raises(SettingError) as refused:
        settings.check_all()
    assert str(refused.value) == message


def test_a_value_may_be_in_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "port"
    file.write_text("8123\n")
    monkeypatch.delenv("PORT", raising=False)
    monkeypatch.setenv("PORT_FILE", str(file))
    assert settings.PORT.get() == 8123
    monkeypatch.setenv("PORT", "8124")
    assert settings.PORT.get() == 8124


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


def test_every_default_works(monkeypatch: pytest.MonkeyPatch) -> None:
    for setting in SETTINGS:
        monkeypatch.delenv(setting.name, raising=False)
    settings.check_all()


@pytest.mark.parametrize("command", [["jobs", "status"], ["web", "serve"], ["web", "keys", "list"]])
def test_a_setting_under_its_former_name_is_refused_by_every_command(command: list[str]) -> None:
    done = subprocess.run(
        [sys.executable, "-m", *command],
        env={**os.environ, "WAREHOUSE_URL": "sqlite://", "IMPORT_SECONDS": "5"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        "Error: IMPORT_SECONDS is now called LANDING_POLL_SECONDS: rename it in the environment\n"
    )
