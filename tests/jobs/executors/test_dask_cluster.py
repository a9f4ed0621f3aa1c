"""A Dask cluster: the same figures, whichever worker dies, differs or is missing, with the scheduler or
without."""

import signal
import time
from pathlib import Path

import dask
import pytest

from jobs.executors.dask_cluster import DaskCluster
from jobs.importing.kinds import KINDS
from tests.conftest import NewUrl
from tests.jobs.executors.conftest import ALL_BATCHES, ROWS_PER_BATCH, assert_whole, make_shops
from tests.support.answers import assert_answers
from tests.support.dask_cluster import Cluster, dask_cluster
from tests.support.job_commands import Commands
from tests.support.product import Product
from tests.support.slow_batch import slow_batch
from tests.support.worlds import world


def owners(commands: Commands) -> set[str]:
    """The processes (`host:pid`) that have done tasks."""
    rows = commands.rows("SELECT owner FROM job_run WHERE job LIKE 'task@%' AND batches > 0")
    return {":".join(owner.split(":")[:2]) for owner in rows}


def some_batch(commands: Commands) -> int:
    batch: int = commands.rows("SELECT MIN(batch_id) FROM import_batch WHERE kind = 'orders'")[0]
    return batch


def test_answers_are_the_oracles_although_a_worker_is_killed(
    postgres_commands: Commands, cluster: Cluster
) -> None:
    given = world(1, size=24)
    for kind in KINDS:
        postgres_commands.take(kind, given.records[kind])
    postgres_commands.change("UPDATE import_batch SET rows = 550000 WHERE shop_key <> 0")
    with slow_batch(postgres_commands.url, some_batch(postgres_commands)) as slow:
        driver = postgres_commands.start("rollup", "--executor", cluster.address)
        killed = slow.kill_worker()
        slow.release()
        driver.finish()
    assert killed != driver.pid
    assert postgres_commands.rows("SELECT COUNT(*) FROM edition_batch WHERE attempts > 0") == [0]
    product = Product(postgres_commands.url)
    assert_answers(product, given, "after a worker was killed")
    product.close()


@pytest.mark.deep
def test_a_batch_that_kills_its_workers_is_found_and_no_other_suffers(
    postgres_commands: Commands, cluster: Cluster
) -> None:
    make_shops(postgres_commands)
    batch = some_batch(postgres_commands)
    with slow_batch(postgres_commands.url, batch) as slow:
        with slow.kills_its_workers():
            driver = postgres_commands.start("rollup", "--executor", cluster.address)
            said = driver.finish(status=1)
        assert said.count("a worker has died: tcp://127.0.0.1:") == 1
        assert " (KilledWorker); others take over its work" in said
        assert driver.pid not in slow.killed
    failing = postgres_commands.status()["failing"]
    assert [(one["batch_id"], one["attempts"]) for one in failing] == [(batch, 1)]
    postgres_commands("rollup")
    assert_whole(postgres_commands)


@pytest.mark.deep
def test_a_worker_ends_after_its_batch_and_another_goes_on(
    postgres_commands: Commands, cluster: Cluster
) -> None:
    make_shops(postgres_commands)
    batch = some_batch(postgres_commands)
    with slow_batch(postgres_commands.url, batch) as slow:
        driver = postgres_commands.start("rollup", "--executor", cluster.address)
        pid = slow.wait_for_worker()
        (worker,) = (one for one in cluster.workers if pid in cluster.pids_of(one))
        worker.send_signal(signal.SIGTERM)
        time.sleep(1)
        slow.release()
        driver.finish()
    stopped = postgres_commands.rows(
        "SELECT batches FROM job_run WHERE job LIKE 'task@%' AND state = 'stopped'"
    )
    # The share has four batches, which are one group: it was at work on it, and finished it.
    assert stopped == [4]
    assert_whole(postgres_commands)


@pytest.mark.deep
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_workers_end_with_their_driver(
    postgres_commands: Commands, cluster: Cluster, number: signal.Signals
) -> None:
    make_shops(postgres_commands)
    with slow_batch(postgres_commands.url, some_batch(postgres_commands)) as slow:
        driver = postgres_commands.start("rollup", "--executor", cluster.address)
        slow.wait_for_worker()
        driver.send(number)
        driver.wait()
        slow.release()
        postgres_commands.wait_until("SELECT COUNT(*) = 0 FROM edition WHERE lease_owner <> ''")
    assert postgres_commands.rows("SELECT COUNT(*) FROM edition_batch")[0] < ALL_BATCHES
    postgres_commands("rollup")
    assert_whole(postgres_commands)


@pytest.mark.deep
def test_a_worker_that_differs_is_named_and_gets_nothing(
    postgres_commands: Commands, cluster: Cluster
) -> None:
    make_shops(postgres_commands)
    cluster.start_worker(ATTRIBUTION_WINDOW_DAYS="7")
    cluster.wait_for_workers(3)
    driver = postgres_commands.start("rollup", "--executor", cluster.address)
    said = driver.finish()
    (line,) = (line for line in said.splitlines() if "gets no more tasks" in line)
    assert line.startswith("worker tcp://127.0.0.1:")
    assert line.endswith("it has ATTRIBUTION_WINDOW_DAYS 7 instead of 30")
    assert len(owners(postgres_commands)) == 2
    windows = postgres_commands.rows("SELECT DISTINCT window_days FROM edition")
    assert windows == [30]
    assert_whole(postgres_commands)


@pytest.mark.deep
def test_where_all_workers_differ_the_driver_goes_on_alone(
    postgres_commands: Commands, new_postgres_url: NewUrl, tmp_path: Path
) -> None:
    make_shops(postgres_commands)
    with dask_cluster(postgres_commands.url, tmp_path / "dask", workers=0) as cluster:
        cluster.start_worker(WAREHOUSE_URL=new_postgres_url())
        cluster.start_worker("--nthreads", "1")
        cluster.wait_for_workers(2)
        driver = postgres_commands.start("rollup", "--executor", cluster.address)
        said = driver.finish()
    assert "it has warehouse (the one that WAREHOUSE_URL names) database " in said
    assert "it was started without --preload jobs.executors.dask_setup" in said
    assert "no worker can be used; this process goes on alone" in said
    assert owners(postgres_commands) == set()
    assert_whole(postgres_commands)


def test_a_worker_with_two_threads_does_not_start(tmp_path: Path, postgres_url: str) -> None:
    with dask_cluster(postgres_url, tmp_path / "dask", workers=0) as cluster:
        worker = cluster.start_worker(
            "--nthreads", "2", "--preload", "jobs.executors.dask_setup", nanny=False
        )
        assert worker.wait(60) == 2
        assert "a worker must have one thread (it has 2): use --nthreads 1" in cluster.printed(
            "worker"
        )


def test_without_a_scheduler_the_driver_goes_on_alone(postgres_commands: Commands) -> None:
    make_shops(postgres_commands)
    said = postgres_commands.start("rollup", "--executor", "dask+tcp://127.0.0.1:1").finish()
    assert "the Dask scheduler at tcp://127.0.0.1:1 cannot be used: " in said
    assert_whole(postgres_commands)


def test_all_workers_are_told_while_the_client_looks_for_itself(cluster: Cluster) -> None:
    """A driver that sees no worker goes on alone."""
    with dask.config.set({"distributed.client.scheduler-info-interval": "1ms"}):
        engine = DaskCluster(cluster.address.removeprefix("dask+"))
    try:
        assert {len(engine.workers()) for _ in range(300)} == {2}
    finally:
        engine.close()


@pytest.mark.deep
def test_when_the_scheduler_is_killed_the_driver_goes_on_alone(
    postgres_commands: Commands, cluster: Cluster
) -> None:
    make_shops(postgres_commands)
    with slow_batch(postgres_commands.url, some_batch(postgres_commands)) as slow:
        driver = postgres_commands.start("rollup", "--executor", cluster.address)
        slow.wait_for_worker()
        cluster.scheduler.kill()
        slow.release()
        said = driver.finish()
    address = cluster.address.removeprefix("dask+")
    # The rows of the workers are among them, which ended their groups by themselves.
    # It may have to wait for a worker that ends its group.
    lines = (line for line in said.splitlines() if not line.startswith("waiting for another job"))
    rolled_up, gone = sorted(lines)
    assert gone == f"the Dask scheduler at {address} is gone; this process goes on alone"
    assert rolled_up == f"rolled up {ALL_BATCHES * ROWS_PER_BATCH} rows"
    assert_whole(postgres_commands)
