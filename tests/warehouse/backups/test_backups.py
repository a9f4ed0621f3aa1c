"""Backups: taken while everything runs, whole or not there, and what is restored answers the same."""

import json
from pathlib import Path

import sqlalchemy as sa

from tests.conftest import NewUrl
from tests.support.answers import answers, differing
from tests.support.backups import SMALL, Run, data_version, done, fill, uncounted
from tests.support.commands import kill_at_call
from tests.support.commands import start as start_process
from tests.support.faults.victim import start
from tests.support.product import Product
from tests.support.worlds import World
from warehouse.domain.time import now_micros
from warehouse.operations.process_id import LEASE_MICROS


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
    while any(one.command.status is None for one in running):
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


def test_a_restored_warehouse_is_as_fast_as_before(
    postgres_url: str, files: dict[str, Path], run: Run, tmp_path: Path
) -> None:
    """The backup does not say how large the tables are."""
    fill(postgres_url, files, run, *SMALL, "events")
    done(run(postgres_url, "rollup"))
    done(run(postgres_url, "backup", tmp_path / "backup"))
    done(run(postgres_url, "restore", tmp_path / "backup", "--force"))
    assert uncounted(postgres_url) == []


def test_a_backup_that_is_killed_leaves_the_one_before(
    warehouse_url: str, files: dict[str, Path], run: Run, tmp_path: Path
) -> None:
    fill(warehouse_url, files, run, "shops")
    backup = tmp_path / "backup"
    done(run(warehouse_url, "backup", backup))
    before = backup.read_bytes()
    fill(warehouse_url, files, run, "forms", "events")
    for place, number in ((STEP, 1), (STEP, 2), (STEP, 4), ("warehouse.backups.files._sync", 1)):
        killed(warehouse_url, place, number, "backup", str(backup))
        assert backup.read_bytes() == before
    done(run(warehouse_url, "backup", backup))
    done(run(warehouse_url, "restore", backup, "--force"))


# Called after each portion that is copied; a small warehouse has several of these.
STEP = "jobs.commands.backup.raise_if_stopped"
SMALL_PORTIONS = {
    "warehouse.backups.sqlite._PAGES": 20,
    "warehouse.backups.postgresql._CHUNK": 2_000,
}


def killed(url: str, place: str, number: int, *words: str) -> None:
    """Run a command that kills itself at its n-th call of a function."""
    before = kill_at_call(place, number, SMALL_PORTIONS)
    assert (
        start_process("jobs", *words, settings={"WAREHOUSE_URL": url}, before=before).wait() == -9
    )


def test_a_restore_that_is_killed_is_all_or_nothing(
    new_warehouse_url: NewUrl, given: World, files: dict[str, Path], run: Run, tmp_path: Path
) -> None:
    full, url, backup = new_warehouse_url(), new_warehouse_url(), tmp_path / "backup"
    fill(full, files, run, *SMALL, "events")
    done(run(full, "rollup"))
    done(run(full, "backup", backup))
    fill(url, files, run, "shops")
    # The second half of the calls is that of the restore itself, after its check.
    for number in (1, 4, 12, 20):
        killed(url, STEP, number, "restore", str(backup), "--force")
        shops = json.loads(run(url, "status", "--json").printed)["shops"]
        assert [shop["shop_id"] for shop in shops] == sorted(given.casts)
    done(run(url, "restore", backup, "--force"))
    assert differing(answers(Product(url), given), answers(Product(full), given)) == []
    engine = sa.create_engine(url)
    with engine.connect() as connection:
        last = connection.execute(
            sa.text("SELECT job, state FROM job_run ORDER BY run_id DESC")
        ).first()
    engine.dispose()
    assert last is not None
    assert tuple(last) == ("restore", "done")


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
    outcome = run(other, "run", "refresh")
    done(outcome)
    assert "waiting" not in outcome.printed


def lease(url: str) -> None:
    """Have another machine hold everything for as long as it can."""
    engine = sa.create_engine(url)
    with engine.begin() as connection:
        owner, now = "elsewhere:1:machine:1:token", now_micros()
        for sql in (
            "UPDATE edition SET lease_owner = :owner, lease_until = :until",
            "INSERT INTO job_run (job, owner, seen_at, state, is_exclusive) "
            "VALUES ('refresh', :owner, :now, 'running', 1)",
        ):
            values = {"owner": owner, "now": now, "until": now + LEASE_MICROS}
            connection.execute(sa.text(sql), values)
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
