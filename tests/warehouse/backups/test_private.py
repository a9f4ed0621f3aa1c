"""A backup shows no password to others of the machine, and goes nowhere that a link points to."""

import os
from pathlib import Path

import pytest
from sqlalchemy import make_url

from tests.support.backups import Run, done
from warehouse.backups.files import whole_or_nothing

# Stands before the server's own programs: it writes down what others could see, and what the program gets.
SPY = """#!/bin/sh
[ "$1" = --version ] || {{ echo "$@" >> {seen}; cat "$PGSERVICEFILE" >> {got}; }}
exec {program} "$@"
"""


def spy_on(name: str, real: Path, folder: Path) -> None:
    spy = folder / "spies" / name
    spy.parent.mkdir(exist_ok=True)
    spy.write_text(
        SPY.format(seen=folder / "seen", got=folder / "got", program=real / name), encoding="utf-8"
    )
    spy.chmod(0o755)


def test_passwords_in_the_query_are_on_no_command_line_on_postgresql(
    postgres_url: str,
    files: dict[str, Path],
    run: Run,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    real = Path(os.environ["PATH"].split(":")[0])
    for name in ("pg_dump", "pg_restore"):
        spy_on(name, real, tmp_path)
    monkeypatch.setenv("PATH", f"{tmp_path / 'spies'}:{os.environ['PATH']}")
    secrets = {"password": "S3cret", "sslpassword": "Other&S3cret"}
    url = make_url(postgres_url).update_query_dict(secrets).render_as_string(hide_password=False)
    done(run(url, "import", "shops", files["shops"]))
    backup = tmp_path / "warehouse.backup"
    done(run(url, "backup", backup))
    done(run(url, "restore", "--force", backup))
    seen = (tmp_path / "seen").read_text().splitlines()
    assert len(seen) == 5
    assert "S3cret" not in "".join(seen)
    assert "service=formrevenue" in seen[0]
    got = (tmp_path / "got").read_text()
    assert set(got.splitlines()) == {"[formrevenue]", "sslpassword=Other&S3cret"}


def test_a_link_under_a_name_that_can_be_foretold_is_not_followed(tmp_path: Path) -> None:
    victim, file = tmp_path / "victim", tmp_path / "warehouse.backup"
    victim.write_text("precious")
    file.with_name(f"{file.name}.{os.getpid()}.partial").symlink_to(victim)
    with whole_or_nothing(file) as partial:
        assert partial.stat().st_mode & 0o777 == 0o600
        assert not partial.is_symlink()
        partial.write_text("a backup")
    assert file.read_text() == "a backup"
    assert victim.read_text() == "precious"


def test_a_link_in_the_place_of_the_backup_is_replaced(tmp_path: Path) -> None:
    victim, file = tmp_path / "victim", tmp_path / "warehouse.backup"
    victim.write_text("precious")
    file.symlink_to(victim)
    with whole_or_nothing(file) as partial:
        partial.write_text("a backup")
    assert not file.is_symlink()
    assert victim.read_text() == "precious"
