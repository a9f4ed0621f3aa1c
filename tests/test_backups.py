"""Backups: taken while everything runs, whole or not there, and what is restored answers the same."""

import json
import os
import signal
import time
from collections.abc import Callable
from pathlib import Path

import pytest
import sqlalchemy as sa

from tests import postgres
from tests.answers import answers, differing
from tests.conftest import NewUrl
from tests.faults.victim import Outcome, Victim, start
from tests.product import Product
from tests.test_processes import written
from tests.worlds import World, world

Run = Callable[..., Outcome]
SMALL = ("shops", "forms", "orders", "ad-spend", "ad-accounts", "exchange-rates")


@pytest.fixture
def migrated() -> bool:
    return False


@pytest.fixture(autouse=True)
def programs(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """PostgreSQL's programs of the server's version, before those that the machine has."""
    if "postgresql" in request.node.name:
        folder = postgres.programs(request.getfixturevalue("postgres_server"))
        monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")


@pytest.fixture
def given() -> World:
    return world(11, 8)


@pytest.fixture
def files(given: World, tmp_path: Path) -> dict[str, Path]:
    return written(given, tmp_path)


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """A command from its start to its end."""
    return lambda url, *args: start(url, [*map(str, args)], tmp_path).wait()


def done(outcome: Outcome) -> None:
    assert outcome.status == 0, outcome.printed


def refused(outcome: Outcome, why: str) -> None:
    """Exit status 1 and one line that says why."""
    assert outcome.status == 1, outcome.printed
    assert why in outcome.printed
    assert outcome.printed.count("\n") == 1, outcome.printed


def fill(url: str, files: dict[str, Path], run: Run, *kinds: str) -> None:
    for kind in kinds:
        done(run(url, "import", kind, files[kind]))


def test_taken_during_import_rollup_and_reads(
    new_warehouse_url: NewUrl, given: World, files: dict[str, Path], run: Run, tmp_path: Path
) -> None:
    url, other, backup = new_warehouse_url(), new_warehouse_url(), tmp_path / "backup"
    fill(url, files, run, *SMALL)
    running = [
        start(url, ["import", "events", str(files["events"])], tmp_path),
        start(url, ["rollup"], tmp_path),
    ]
    product = Product(url)
    restored = []
    while any(one.process.is_alive() for one in running):
        answers(product, given)
        done(run(url, "backup", backup))
        done(run(other, "restore", backup, "--force"))
        # Whatever instant it was taken at: what it says is what its own raw rows give.
        restored.append(run(other, "verify", "--all"))
    for victim in running:
        done(victim.wait())
    for outcome in restored:
        done(outcome)
    for one in (url, other):
        fill(one, files, run, "events")
        done(run(one, "rollup"))
    assert differing(answers(Product(other), given), answers(product, given)) == []


def test_restored_answers_the_same_at_once(
    new_warehouse_url: NewUrl, given: World, files: dict[str, Path], run: Run, tmp_path: Path
) -> None:
    url, other, backup = new_warehouse_url(), new_warehouse_url(), tmp_path / "backup"
    fill(url, files, run, *SMALL, "events")
    done(run(url, "rollup"))
    expected = answers(Product(url), given)
    done(run(url, "backup", backup))
    done(run(other, "restore", backup))
    assert differing(answers(Product(other), given), expected) == []
    engine = sa.create_engine(other)
    with engine.connect() as connection:
        last = connection.execute(
            sa.text("SELECT job, state FROM run ORDER BY run_id DESC")
        ).first()
    engine.dispose()
    assert last is not None
    assert tuple(last) == ("restore", "done")


def test_a_backup_that_is_killed_leaves_the_one_before(
    warehouse_url: str, files: dict[str, Path], run: Run, tmp_path: Path
) -> None:
    fill(warehouse_url, files, run, "shops")
    backup = tmp_path / "backup"
    done(run(warehouse_url, "backup", backup))
    before = backup.read_bytes()
    fill(warehouse_url, files, run, "forms", "events")
    for delay in (0.01, 0.05, 0.2):
        victim = start(warehouse_url, ["backup", str(backup)], tmp_path)
        time.sleep(delay)
        kill(victim)
        now = backup.read_bytes()
        assert now == before or len(now) > len(before)
    done(run(warehouse_url, "backup", backup))
    done(run(warehouse_url, "restore", backup, "--force"))


def kill(victim: Victim) -> None:
    if victim.process.pid is not None and victim.process.is_alive():
        os.kill(victim.process.pid, signal.SIGKILL)
    victim.wait()


def test_a_restore_that_is_killed_is_all_or_nothing(
    new_warehouse_url: NewUrl, given: World, files: dict[str, Path], run: Run, tmp_path: Path
) -> None:
    full, url, backup = new_warehouse_url(), new_warehouse_url(), tmp_path / "backup"
    fill(full, files, run, *SMALL, "events")
    done(run(full, "rollup"))
    done(run(full, "backup", backup))
    fill(url, files, run, "shops")
    for delay in (0.1, 0.2, 0.4):
        victim = start(url, ["restore", str(backup), "--force"], tmp_path)
        time.sleep(delay)
        kill(victim)
        shops = json.loads(run(url, "status", "--json").printed)["shops"]
        assert [shop["shop_id"] for shop in shops] == sorted(given.casts)
    done(run(url, "restore", backup, "--force"))
    assert differing(answers(Product(url), given), answers(Product(full), given)) == []


def test_restored_under_the_api_and_a_rollup(
    new_warehouse_url: NewUrl, given: World, files: dict[str, Path], run: Run, tmp_path: Path
) -> None:
    url, backup = new_warehouse_url(), tmp_path / "backup"
    fill(url, files, run, *SMALL, "events")
    product = Product(url)
    answers(product, given)  # with keys that the backup has, too
    done(run(url, "backup", backup))
    rollup = start(url, ["rollup"], tmp_path)
    done(run(url, "restore", backup, "--force"))
    assert rollup.wait().status in (0, 1)
    done(run(url, "rollup"))
    calm = new_warehouse_url()
    fill(calm, files, run, *SMALL, "events")
    done(run(calm, "rollup"))
    assert differing(answers(product, given), answers(Product(calm), given)) == []


def test_leases_of_the_past_hold_nobody_up(
    new_warehouse_url: NewUrl, files: dict[str, Path], run: Run, tmp_path: Path
) -> None:
    url, other, backup = new_warehouse_url(), new_warehouse_url(), tmp_path / "backup"
    fill(url, files, run, *SMALL)
    done(run(url, "rollup"))
    fill(url, files, run, "events")
    lease(url)
    done(run(url, "backup", backup))
    done(run(other, "restore", backup))
    outcome = run(other, "rollup")
    done(outcome)
    assert "waiting" not in outcome.printed


def lease(url: str) -> None:
    """Have another machine hold everything for years."""
    engine = sa.create_engine(url)
    with engine.begin() as connection:
        owner, until = "elsewhere:1:token", 2**60
        for sql in (
            "UPDATE edition SET lease_owner = :owner, lease_until = :until",
            "INSERT INTO job_lease (job, owner, until) VALUES ('rollup', :owner, :until)",
        ):
            connection.execute(sa.text(sql), {"owner": owner, "until": until})
    engine.dispose()


def test_data_versions_only_grow(
    warehouse_url: str, files: dict[str, Path], run: Run, tmp_path: Path
) -> None:
    """Clients would take other answers for those that they have already."""
    fill(warehouse_url, files, run, "shops")
    done(run(warehouse_url, "backup", tmp_path / "backup"))
    fill(warehouse_url, files, run, "forms", "events")
    before = data_version(warehouse_url)
    done(run(warehouse_url, "restore", tmp_path / "backup", "--force"))
    assert data_version(warehouse_url) > before


def data_version(url: str) -> int:
    engine = sa.create_engine(url)
    with engine.connect() as connection:
        found = connection.scalar(sa.text("SELECT MIN(data_version) FROM shop"))
    engine.dispose()
    return int(found or 0)


def test_refused_without_force_where_there_is_data(
    warehouse_url: str, files: dict[str, Path], run: Run, tmp_path: Path
) -> None:
    done(run(warehouse_url, "status"))
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
    # Of the right length, and overwritten in the middle.
    middle = len(whole) // 3
    part.write_bytes(whole[:middle] + bytes(range(256)) * 64 + whole[middle + 64 * 256 :])
    refused(run(warehouse_url, "restore", part, "--force"), f"{part} is ")
    assert data_version(warehouse_url) == before


def test_a_backup_of_a_newer_version_is_refused(
    warehouse_url: str, files: dict[str, Path], run: Run, tmp_path: Path
) -> None:
    fill(warehouse_url, files, run, "shops")
    engine = sa.create_engine(warehouse_url)
    with engine.begin() as connection:
        connection.execute(sa.text("UPDATE alembic_version SET version_num = '9876'"))
    engine.dispose()
    done(run(warehouse_url, "backup", tmp_path / "newer"))
    refused(
        run(warehouse_url, "restore", tmp_path / "newer", "--force"),
        "was made by a newer version of this program (its schema is 9876",
    )


def test_what_is_no_backup_is_refused(warehouse_url: str, run: Run, tmp_path: Path) -> None:
    nothing = tmp_path / "nothing"
    refused(run(warehouse_url, "restore", nothing), "No such file")
    nothing.write_text("some text")
    refused(run(warehouse_url, "restore", nothing), "is no backup of a warehouse")
    refused(run(warehouse_url, "backup", tmp_path / "backup"), "there is no warehouse at")
    assert not (tmp_path / "backup").exists()
    other = b"PGDMP" if warehouse_url.startswith("sqlite") else b"SQLite format 3\0"
    nothing.write_bytes(other * 100)
    refused(run(warehouse_url, "restore", nothing), "and WAREHOUSE_URL names")


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
    done(run(postgres_url, "status"))
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
