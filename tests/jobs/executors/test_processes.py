"""`processes:N`: the same figures as by one process, whichever of the processes dies."""

import os
import signal
import time
from itertools import count
from pathlib import Path

import psutil
import pytest
from sqlalchemy import func, make_url, select

from jobs.executors.processes import Processes
from jobs.executors.share import DONE, Request, fingerprint
from jobs.executors.worker import work
from jobs.pipeline.plan import roll_up
from jobs.run.job_run import JobRun
from tests.conftest import NewUrl
from tests.jobs.executors.conftest import (
    ALL_BATCHES,
    ROWS_PER_BATCH,
    SHOPS,
    assert_whole,
    make_shops,
)
from tests.support.import_files import order
from tests.support.job_commands import Commands
from tests.support.poison import poisoned
from tests.support.slow_batch import slow_batch
from tests.support.waiting import PATIENCE_SECONDS
from warehouse.connections.arrow import ArrowConnection, open_arrow
from warehouse.connections.engine import open_engine
from warehouse.domain.time import now_micros
from warehouse.editions import leases
from warehouse.operations import job_runs
from warehouse.tables import job_run

_STOPPED = 143


def first_batch(commands: Commands) -> int:
    """The batch of orders of the first shop."""
    batch: int = commands.rows("SELECT MIN(batch_id) FROM import_batch WHERE kind = 'orders'")[0]
    return batch


def request(connection: ArrowConnection, editions: list[int], claimed_rows: int = 1) -> str:
    """The request of a run of this process to a worker."""
    record, now = job_runs.Record("rollup", ""), now_micros()
    job_runs.begin(connection, record, now)
    own = fingerprint(connection)
    return Request(own, record.run_id, now, editions, False, claimed_rows, "1 shop").as_text()


def test_sqlite_has_one_writer(sqlite_commands: Commands) -> None:
    said = sqlite_commands("rollup", "--executor", "processes:2", status=1)
    assert "Error: EXECUTOR=processes:2: SQLite has one writer at a time" in said


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "threads:2",
            "must be inline, processes:N (N from 1 to 99) or dask+tls://HOST:PORT",
        ),
        (
            "dask+tcp://dask.example:8786",
            "must begin with dask+tls:// unless the host is 127.0.0.1",
        ),
    ],
)
def test_a_wrong_executor_is_refused(sqlite_commands: Commands, text: str, message: str) -> None:
    assert message in sqlite_commands("rollup", "--executor", text, status=2)
    sqlite_commands.settings["EXECUTOR"] = text
    assert message in sqlite_commands("rollup", status=2)


def test_small_work_is_done_by_the_process_itself(postgres_commands: Commands) -> None:
    make_shops(postgres_commands)
    postgres_commands.change("UPDATE import_batch SET rows = 1")
    postgres_commands("rollup", "--executor", "processes:2")
    assert postgres_commands.rows("SELECT COUNT(*) FROM job_run WHERE job LIKE 'task%'") == [0]
    assert_whole(postgres_commands)


def test_a_second_rollup_does_what_the_first_does_not_hold(postgres_commands: Commands) -> None:
    make_shops(postgres_commands)
    with slow_batch(postgres_commands.url, first_batch(postgres_commands)) as slow:
        first = postgres_commands.start("rollup")
        slow.wait_for_worker()
        second = postgres_commands.start("rollup")
        # The first one holds half of them.
        postgres_commands.wait_until(f"SELECT COUNT(*) = {SHOPS // 2} FROM shop WHERE edition <> 0")
        slow.release()
        first.finish()
        second.finish()
    assert_whole(postgres_commands)


def test_processes_share_a_rollup_and_a_rebuild(postgres_commands: Commands) -> None:
    make_shops(postgres_commands)
    postgres_commands.settings["EXECUTOR"] = "processes:2"
    postgres_commands.start("run", "nightly").finish()
    assert_whole(postgres_commands)
    runs = postgres_commands.status()["runs"]
    (nightly,) = (run for run in runs if run["job"] == "nightly")
    assert (nightly["batches"], nightly["shops"]) == (ALL_BATCHES, SHOPS)
    tasks = postgres_commands.rows("SELECT owner, batches FROM job_run WHERE job LIKE 'task@%'")
    assert len({owner.split(":")[1] for owner, _ in tasks}) == len(tasks) == 2
    assert sum(batches for _, batches in tasks) == ALL_BATCHES
    (task,) = (run for run in runs if run["job"].startswith("task@"))
    assert task["job"] == f"task@{nightly['owner'].split(':')[0]}"
    postgres_commands.start("rebuild").finish()
    assert_whole(postgres_commands)
    assert len(postgres_commands.rows("SELECT 1 FROM job_run WHERE job LIKE 'task@%'")) == 2 * len(
        tasks
    )


@pytest.mark.deep
def test_a_batch_that_kills_its_workers_is_found_and_no_other_suffers(
    postgres_commands: Commands,
) -> None:
    make_shops(postgres_commands)
    batch = first_batch(postgres_commands)
    with slow_batch(postgres_commands.url, batch) as slow:
        with slow.kills_its_workers():
            driver = postgres_commands.start("rollup", "--executor", "processes:2")
            said = driver.finish(status=1)
        (line,) = (line for line in said.splitlines() if "has died" in line)
        assert line.startswith("a worker has died: process ")
        assert line.endswith(" (SIGKILL); others take over its work")
        # The worker, then two that another one has started: with the two shops, with the batch.
        assert len(set(slow.killed)) == 3
        assert driver.pid not in slow.killed
    failing = postgres_commands.status()["failing"]
    assert [(one["batch_id"], one["attempts"]) for one in failing] == [(batch, 1)]
    assert failing[0]["error"] == "its process died (SIGKILL)"
    applied = "SELECT COUNT(*) FROM edition_batch WHERE attempts = 0"
    assert postgres_commands.rows(applied) == [ALL_BATCHES - 1]
    postgres_commands("rollup")
    assert_whole(postgres_commands)


@pytest.mark.deep
def test_the_driver_does_what_killed_workers_have_left(postgres_commands: Commands) -> None:
    make_shops(postgres_commands)
    with slow_batch(postgres_commands.url, first_batch(postgres_commands)) as slow:
        driver = postgres_commands.start("rollup", "--executor", "processes:2")
        slow.wait_for_worker()
        workers = psutil.Process(driver.pid).children()
        for worker in workers:
            worker.kill()
        slow.release()
        said = driver.finish()
    assert len(workers) == said.count("others take over its work") == 2
    assert postgres_commands.rows("SELECT COUNT(*) FROM edition_batch WHERE attempts > 0") == [0]
    assert_whole(postgres_commands)


def test_progress_is_what_the_warehouse_says(
    postgres_commands: Commands, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_shops(postgres_commands)
    monkeypatch.setenv("WAREHOUSE_URL", postgres_commands.url)
    shown: list[int] = []
    with JobRun("rollup") as run:
        run.on_rows = shown.append
        roll_up(run, executor="processes:2")
    assert sum(shown) == run.record.rows == ALL_BATCHES * ROWS_PER_BATCH
    assert_whole(postgres_commands)


@pytest.mark.deep
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_workers_end_with_their_driver(postgres_commands: Commands, number: signal.Signals) -> None:
    make_shops(postgres_commands)
    batch = first_batch(postgres_commands)
    with slow_batch(postgres_commands.url, batch) as slow:
        driver = postgres_commands.start("rollup", "--executor", "processes:2")
        worker = psutil.Process(slow.wait_for_worker())
        workers = psutil.Process(driver.pid).children()
        assert worker in workers
        os.kill(driver.pid, number)
        time.sleep(0.5)
        slow.release()
        driver.finish(_STOPPED if number == signal.SIGTERM else -number)
        assert psutil.wait_procs(workers, PATIENCE_SECONDS)[1] == []
    # The batch that was at work was finished, as after SIGTERM.
    assert postgres_commands.rows(f"SELECT 1 FROM edition_batch WHERE batch_id = {batch}") == [1]
    assert postgres_commands.rows("SELECT COUNT(*) FROM edition_batch")[0] < ALL_BATCHES
    postgres_commands("rollup")
    assert_whole(postgres_commands)


def test_a_worker_proves_that_it_reads_the_same_warehouse(
    postgres_commands: Commands,
    new_postgres_url: NewUrl,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """However it spells the address; another database of the same server is refused."""
    postgres_commands.make_backlog()
    monkeypatch.setenv("WAREHOUSE_URL", postgres_commands.url)
    with open_arrow(postgres_commands.url) as connection:
        asked = request(connection, [])
    url = make_url(postgres_commands.url)
    if folder := url.query.get("host"):
        (tmp_path / "socket").symlink_to(str(folder))
        other = url.set(query={"host": str(tmp_path / "socket")})
    else:
        other = url.set(host={"localhost": "127.0.0.1"}.get(url.host or "", "localhost"))
    assert other != url
    monkeypatch.setenv("WAREHOUSE_URL", other.render_as_string(hide_password=False))
    assert work(asked) == DONE
    empty = new_postgres_url()
    monkeypatch.setenv("WAREHOUSE_URL", empty)
    assert work(asked).startswith("it has warehouse (the one that WAREHOUSE_URL names) database ")
    # Nothing was written there.
    with open_engine(empty).connect() as connection:
        assert connection.scalar(select(func.count()).select_from(job_run)) == 0


@pytest.mark.deep
def test_a_worker_that_is_started_twice_works_once(
    postgres_commands: Commands, monkeypatch: pytest.MonkeyPatch
) -> None:
    postgres_commands.make_backlog()
    postgres_commands("rollup")
    postgres_commands.take("orders", [order(order_id="late")])
    (edition,) = postgres_commands.rows("SELECT edition FROM shop")
    (batch,) = postgres_commands.rows("SELECT MAX(batch_id) FROM import_batch")
    monkeypatch.setenv("WAREHOUSE_URL", postgres_commands.url)
    with open_arrow(postgres_commands.url) as connection:
        asked = request(connection, [edition])
    batches = "SELECT batches FROM job_run WHERE job LIKE 'task@%' ORDER BY run_id"
    processes = Processes(2)
    with slow_batch(postgres_commands.url, batch) as slow:
        first = processes.start("first", asked)
        slow.wait_for_worker()
        assert processes.start("second", asked).result() == DONE
        assert postgres_commands.rows(batches) == [0, 0]
        slow.release()
        assert first.result() == DONE
    processes.close()
    assert postgres_commands.rows(batches) == [1, 0]
    assert_whole(postgres_commands)


def test_a_worker_does_nothing_for_a_run_that_has_ended(
    postgres_commands: Commands, monkeypatch: pytest.MonkeyPatch
) -> None:
    postgres_commands.make_backlog()
    postgres_commands("rollup")
    postgres_commands.take("orders", [order(order_id="late")])
    (edition,) = postgres_commands.rows("SELECT edition FROM shop")
    monkeypatch.setenv("WAREHOUSE_URL", postgres_commands.url)
    with open_arrow(postgres_commands.url) as connection:
        asked = request(connection, [edition])
    for seen_at, batches in ((1, 0), (now_micros(), 1)):
        postgres_commands.change(f"UPDATE job_run SET seen_at = {seen_at} WHERE state = 'running'")
        assert work(asked) == DONE
        done = "SELECT MAX(batches) FROM job_run WHERE job LIKE 'task@%'"
        assert postgres_commands.rows(done) == [batches]


@pytest.mark.parametrize("seconds", [-80, 80, 86_400])
def test_a_worker_whose_clock_differs(
    postgres_commands: Commands, monkeypatch: pytest.MonkeyPatch, seconds: int
) -> None:
    """It took the driver's run for one that had ended, did nothing, and answered that all was done; and tried
    a batch again that had failed in the run."""
    poisoned(postgres_commands)
    monkeypatch.setenv("WAREHOUSE_URL", postgres_commands.url)
    with open_arrow(postgres_commands.url) as connection:
        asked = request(connection, postgres_commands.rows("SELECT edition FROM shop"))
    with monkeypatch.context() as patch:
        patch.setattr("warehouse.domain.time.time_ns", lambda: time.time_ns() + seconds * 10**9)
        for _ in range(2):
            assert work(asked) == DONE
    assert postgres_commands.orders_of_shops()["a.example"] == 2
    (failing,) = postgres_commands.status()["failing"]
    assert failing["attempts"] == 1


def test_a_worker_that_finds_the_first_shop_taken_goes_on_with_the_others(
    postgres_commands: Commands, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All workers begin at once, with the same shop."""
    make_shops(postgres_commands)
    postgres_commands("rollup")
    (last,) = postgres_commands.rows("SELECT MAX(batch_id) FROM import_batch")
    names = [f"shop-{number}.example" for number in range(SHOPS)]
    postgres_commands.take("orders", [order(shop_id=name, order_id="late") for name in names])
    first, *others = postgres_commands.rows(
        "SELECT edition FROM edition WHERE edition IN (SELECT edition FROM shop) "
        "ORDER BY rolled_up_at, edition"
    )
    postgres_commands.change(
        f"UPDATE edition SET lease_owner = 'elsewhere:1', lease_until = {now_micros() + leases.LEASE_REACH} "
        f"WHERE edition = {first}"
    )
    really_held, looks = leases.held, count()
    # It looks a moment before the other one claims.
    monkeypatch.setattr(
        leases, "held", lambda *given: really_held(*given) if next(looks) else set[int]()
    )
    monkeypatch.setenv("WAREHOUSE_URL", postgres_commands.url)
    with open_arrow(postgres_commands.url) as connection:
        assert work(request(connection, [first, *others])) == DONE
    late = postgres_commands.rows(f"SELECT edition FROM edition_batch WHERE batch_id > {last}")
    assert sorted(late) == sorted(others)
    assert next(looks) > 1
