"""The secret of e-mail hashes: created once or of HASH_SECRET, the same for all, and not in a copy."""

import hmac
import sys
from concurrent.futures import ThreadPoolExecutor
from hashlib import sha256
from pathlib import Path

import pytest
from sqlalchemy import delete, select

from tests.support.commands import ForkedProcess
from warehouse.connections.arrow import open_arrow
from warehouse.connections.engine import open_engine
from warehouse.migrations.migrate import migrate
from warehouse.persons.hash_secret import email_hasher
from warehouse.setting_values import SettingError
from warehouse.tables import secret

SECRET, OTHER = "s" * 32, "o" * 40
PLAIN = sha256(b"ada@mail.example").hexdigest()
NOT_THIS = "HASH_SECRET is not the secret with which this warehouse hashes e-mail addresses"


@pytest.fixture(autouse=True)
def _none_is_set(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HASH_SECRET", "HASH_SECRET_FILE"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def fresh(warehouse_url: str) -> str:
    """A warehouse with tables, and no secret yet."""
    engine = open_engine(warehouse_url)
    with engine.begin() as connection:
        connection.execute(delete(secret))
    engine.dispose()
    return warehouse_url


def agree(url: str) -> str:
    """Do what every command does first; what is stored then."""
    engine = open_engine(url)
    try:
        migrate(engine)
        with engine.connect() as connection:
            stored: str = connection.execute(select(secret.c.value)).scalar_one()
            return stored
    finally:
        engine.dispose()


def keyed(url: str) -> str:
    with open_arrow(url) as connection:
        return email_hasher(connection).keyed(PLAIN)


def hmac_of(key: str) -> str:
    return hmac.new(key.encode(), PLAIN.encode(), sha256).hexdigest()


def test_one_that_is_created_stays(fresh: str) -> None:
    created = agree(fresh)
    assert len(created) == 64
    assert agree(fresh) == created
    assert keyed(fresh) == hmac_of(created)


def test_of_a_stated_one_only_a_fingerprint_is_stored(
    fresh: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    file = tmp_path / "secret"
    file.write_text(f"{SECRET}\n")
    monkeypatch.setenv("HASH_SECRET_FILE", str(file))
    stored = agree(fresh)
    assert keyed(fresh) == hmac_of(SECRET)
    assert SECRET not in stored
    monkeypatch.setenv("HASH_SECRET", SECRET)
    assert agree(fresh) == stored


def test_another_one_is_refused(fresh: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HASH_SECRET", SECRET)
    stored = agree(fresh)
    monkeypatch.setenv("HASH_SECRET", OTHER)
    with pytest.raises(SettingError, match=f"{NOT_THIS}: set the one with which") as refused:
        agree(fresh)
    assert OTHER not in str(refused.value)
    with pytest.raises(SettingError):
        keyed(fresh)
    monkeypatch.delenv("HASH_SECRET")
    with pytest.raises(SettingError, match="HASH_SECRET is not set, and this warehouse"):
        agree(fresh)
    # The fingerprint is not a way in.
    monkeypatch.setenv("HASH_SECRET", stored)
    with pytest.raises(SettingError):
        agree(fresh)


def test_a_stated_one_is_refused_where_one_was_created(
    fresh: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    created = agree(fresh)
    monkeypatch.setenv("HASH_SECRET", OTHER)
    with pytest.raises(SettingError, match=f"{NOT_THIS}: unset it"):
        agree(fresh)
    monkeypatch.delenv("HASH_SECRET")
    assert agree(fresh) == created


def test_a_created_one_can_be_taken_out(fresh: str, monkeypatch: pytest.MonkeyPatch) -> None:
    created = agree(fresh)
    before = keyed(fresh)
    monkeypatch.setenv("HASH_SECRET", created)
    assert created not in agree(fresh)
    assert keyed(fresh) == before
    monkeypatch.delenv("HASH_SECRET")
    with pytest.raises(SettingError):
        agree(fresh)


def test_processes_that_start_at_once_agree(fresh: str) -> None:
    program = f"{__package__}.agreeing"
    processes = [ForkedProcess([sys.executable, "-m", program, fresh]) for _ in range(4)]
    # Each waits for its line: they begin together.
    with ThreadPoolExecutor() as threads:
        printed = {text for text, _ in threads.map(lambda one: one.communicate("\n"), processes)}
    assert len(printed) == 1
    assert len(printed.pop().strip()) == 64
