"""HASH_SECRET at the command line: refused in one line where it is another one, and in no backup."""

from pathlib import Path

import pytest

from tests.support.import_files import event
from tests.support.job_commands import Commands
from warehouse.domain.email_hash import EmailHasher, hashed_email

SECRET, OTHER = "the operator's own secret of e-mails", "another secret of as many characters"
SHOP = {"shop_id": "a.example", "currency": "EUR"}
ADA = "ada@mail.example"
STORED = "SELECT email_sha256 FROM raw_event"


@pytest.fixture
def migrated() -> bool:
    """A warehouse that is migrated already has a secret."""
    return False


@pytest.mark.parametrize(
    ("set_to", "says"),
    [
        (
            OTHER,
            "HASH_SECRET is not the secret with which this warehouse hashes e-mail addresses: ",
        ),
        ("", "HASH_SECRET is not set, and this warehouse hashes e-mail addresses with it: "),
    ],
)
def test_commands_that_write_refuse_another_secret(
    sqlite_commands: Commands, set_to: str, says: str
) -> None:
    sqlite_commands.settings["HASH_SECRET"] = SECRET
    sqlite_commands.take("shops", [SHOP])
    before = sqlite_commands.rows("SELECT * FROM shop")
    sqlite_commands.settings["HASH_SECRET"] = set_to
    file = str(sqlite_commands.folder / "shops.ndjson")
    for command in (
        ("import", "shops", file),
        ("rollup",),
        ("rebuild",),
        ("rejects", "--retry"),
        ("purge",),
        ("scheduler",),
        ("run", "landing"),
        ("pulls", "add", "ecb"),
    ):
        (line,) = sqlite_commands(*command, status=1).splitlines()
        assert f"Error: {says}set the one with which it was first used" in line
        assert SECRET not in line
        assert OTHER not in line
    assert sqlite_commands.rows("SELECT * FROM shop") == before


def test_a_backup_has_the_hashes_and_not_the_secret(
    sqlite_commands: Commands, tmp_path: Path
) -> None:
    commands, backup = sqlite_commands, tmp_path / "warehouse.backup"
    commands.settings["HASH_SECRET"] = SECRET
    commands.take("shops", [SHOP])
    commands.take("events", [event(email=ADA)])
    hashed = EmailHasher(SECRET).keyed(hashed_email(ADA))
    commands("backup", str(backup))
    assert hashed.encode() in backup.read_bytes()
    assert SECRET.encode() not in backup.read_bytes()
    commands.url = commands.settings["WAREHOUSE_URL"] = f"sqlite:///{tmp_path}/restored.db"
    commands("restore", str(backup))
    commands.take("events", [event(email=ADA, event_id="later")])
    assert commands.rows(STORED) == [hashed, hashed]
    del commands.settings["HASH_SECRET"]
    assert "HASH_SECRET is not set" in commands("rollup", status=1)


def test_a_backup_carries_a_secret_that_was_created(
    sqlite_commands: Commands, tmp_path: Path
) -> None:
    commands, backup = sqlite_commands, tmp_path / "warehouse.backup"
    commands.take("shops", [SHOP])
    commands.take("events", [event(email=ADA)])
    commands("backup", str(backup))
    commands.url = commands.settings["WAREHOUSE_URL"] = f"sqlite:///{tmp_path}/restored.db"
    # Its own secret goes with the rest of it: there is no data under it.
    commands("purge")
    commands("restore", str(backup))
    commands.take("events", [event(email=ADA, event_id="later")])
    first, second = commands.rows(STORED)
    assert first == second
