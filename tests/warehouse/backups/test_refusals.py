"""Files that are no backup, damaged, too new, or not to be overwritten are refused; the error says why."""

from pathlib import Path

import pytest
import sqlalchemy as sa

from tests.support.backups import SMALL, Run, data_version, done, fill, refused


def test_refused_without_force_where_there_is_data(
    warehouse_url: str, files: dict[str, Path], run: Run, tmp_path: Path
) -> None:
    done(run(warehouse_url, "purge"))
    refused(run(warehouse_url, "backup", tmp_path / "nowhere" / "backup"), "No such file")
    done(run(warehouse_url, "backup", tmp_path / "empty"))
    done(run(warehouse_url, "restore", tmp_path / "empty"))
    fill(warehouse_url, files, run, "shops")
    refused(run(warehouse_url, "restore", tmp_path / "empty"), "the warehouse has data")
    assert data_version(warehouse_url) > 0


def test_a_part_of_a_backup_and_a_damaged_one_are_refused(
    warehouse_url: str, files: dict[str, Path], run: Run, tmp_path: Path
) -> None:
    fill(warehouse_url, files, run, *SMALL, "events")
    backup, part = tmp_path / "backup", tmp_path / "part"
    done(run(warehouse_url, "backup", backup))
    whole = backup.read_bytes()
    before = data_version(warehouse_url)
    for share in (0.3, 0.9, 0.999):
        part.write_bytes(whole[: int(len(whole) * share)])
        refused(run(warehouse_url, "restore", part, "--force"), f"{part} is ")
    # The right length, and overwritten in the middle.
    middle = len(whole) // 3
    part.write_bytes(whole[:middle] + bytes(range(256)) * 64 + whole[middle + 64 * 256 :])
    refused(run(warehouse_url, "restore", part, "--force"), f"{part} is ")
    assert data_version(warehouse_url) == before


@pytest.mark.parametrize(
    ("revision", "complaint"),
    [
        ("9876", "was made by a newer version of this program (its schema is 9876"),
        ("1001", "was made by a development version (its schema is 1001)"),
    ],
)
def test_a_backup_of_another_version_is_refused(
    revision: str,
    complaint: str,
    warehouse_url: str,
    files: dict[str, Path],
    run: Run,
    tmp_path: Path,
) -> None:
    fill(warehouse_url, files, run, "shops")
    engine = sa.create_engine(warehouse_url)
    with engine.begin() as connection:
        connection.execute(sa.text(f"UPDATE alembic_version SET version_num = '{revision}'"))
    engine.dispose()
    done(run(warehouse_url, "backup", tmp_path / "other"))
    refused(run(warehouse_url, "restore", tmp_path / "other", "--force"), complaint)


def test_what_is_no_backup_is_refused(warehouse_url: str, run: Run, tmp_path: Path) -> None:
    nothing = tmp_path / "nothing"
    refused(run(warehouse_url, "restore", nothing), "No such file")
    nothing.write_text("some text")
    refused(run(warehouse_url, "restore", nothing), "is no backup of a warehouse")
    refused(run(warehouse_url, "backup", tmp_path / "backup"), "there is no warehouse at")
    assert not (tmp_path / "backup").exists()
    is_file = warehouse_url.startswith("sqlite")
    nothing.write_bytes((b"PGDMP" if is_file else b"SQLite format 3\0") * 100)
    why = "and WAREHOUSE_URL names" if is_file else "is not whole"
    refused(run(warehouse_url, "restore", nothing), why)


def test_the_warehouse_itself_is_neither_written_to_nor_read(
    sqlite_url: str, run: Run, files: dict[str, Path]
) -> None:
    fill(sqlite_url, files, run, "shops")
    file = sqlite_url.removeprefix("sqlite:///")
    refused(run(sqlite_url, "backup", file), "is the warehouse itself")
    refused(run(sqlite_url, "restore", file, "--force"), "is the warehouse itself")
    done(run(sqlite_url, "verify", "--all"))


def test_postgresql_programs_that_are_missing_or_too_old_are_named(
    postgres_url: str, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    done(run(postgres_url, "purge"))
    done(run(postgres_url, "backup", tmp_path / "backup"))
    programs = tmp_path / "programs"
    programs.mkdir()
    monkeypatch.setenv("PATH", str(programs))
    refused(run(postgres_url, "backup", tmp_path / "b"), "needs pg_dump, which is not on the PATH")
    for name in ("pg_dump", "pg_restore"):
        (programs / name).write_text("#!/bin/sh\necho 'pg_dump (PostgreSQL) 9.6'\n")
        (programs / name).chmod(0o755)
    refused(run(postgres_url, "backup", tmp_path / "b"), "is version 9.6, the server")
    refused(run(postgres_url, "restore", tmp_path / "backup"), "apt-get install postgresql-client-")
