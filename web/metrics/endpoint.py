"""The metrics port: all workers' counts added up, and gauges of the warehouse: the lag of rollups, pending
batches, runs, rejected rows."""

import multiprocessing
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, Final

from prometheus_client import CollectorRegistry, Metric, start_http_server
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.multiprocess import MultiProcessCollector, mark_process_dead
from prometheus_client.registry import Collector
from sqlalchemy import Connection, case, func, select, text
from sqlalchemy.exc import SQLAlchemyError

from warehouse.domain.time import CLOCK_SKEW, MICROS_PER_SECOND
from warehouse.domain.vocabulary import IS_KEPT
from warehouse.editions.failed_batches import FROM_SET_ASIDE
from warehouse.editions.pending_batches import WAITING_BY_SHOP
from warehouse.operations.job_runs import DIED, RUNNING
from warehouse.operations.process_id import LEASE_MICROS
from warehouse.tables import edition, job_run, reject, shop
from web.db.database import Database
from web.http.health import count_needs

_PREFIX: Final = "formrevenue"

_ROLLED_UP: Final = select(shop.c.shop_key, shop.c.shop_id, edition.c.rolled_up_at).join_from(
    shop, edition, edition.c.edition == shop.c.edition, isouter=True
)
_SET_ASIDE: Final = text(f"SELECT s.shop_id, COUNT(*) {FROM_SET_ASIDE} GROUP BY s.shop_id")
_REJECTS: Final = (
    select(reject.c.kind, func.count()).where(text(f"NOT {IS_KEPT}")).group_by(reject.c.kind)
)


def serve_metrics(host: str, port: int, folder: Path, *gauges: Collector) -> None:
    """Answer with the metrics on this port, whatever the path, from a thread of this process.
    `folder` is where the workers count. Raises OSError where the address cannot be listened on."""
    registry = CollectorRegistry()
    registry.register(_Workers(folder))
    for gauge in gauges:
        registry.register(gauge)
    start_http_server(port, host, registry)


class _Workers(Collector):
    """The counts of all workers. The counts of a dead one stay; its requests in progress do not."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._counts = MultiProcessCollector(None, str(folder))

    def collect(self) -> Iterator[Metric]:
        alive = {process.pid for process in multiprocessing.active_children()}
        for file in self._folder.glob("gauge_live*_*.db"):
            pid = int(file.stem.rpartition("_")[2])
            if pid not in alive:
                mark_process_dead(pid, str(self._folder))
        yield from self._counts.collect()


class WarehouseGauges(Collector):
    """Gauges, read anew for whoever asks. Where the warehouse does not answer, there is only
    `formrevenue_warehouse_up`."""

    def __init__(self, database: Database, clock: Callable[[], int]) -> None:
        self._database = database
        self._clock = clock

    def collect(self) -> Iterator[Metric]:
        up = GaugeMetricFamily(f"{_PREFIX}_warehouse_up", "1 where the warehouse answers, else 0.")
        try:
            with self._database.read() as connection:
                now = self._clock()
                # The gauge of all conditions, those without an alert too.
                needs = _gauge(
                    "needs_operator", "Findings of a condition that needs an operator.", "condition"
                )
                for condition, number in count_needs(connection, now).items():
                    needs.add_metric((condition,), number)
                metrics = [*_rollups(connection, now), *_runs(connection, now), needs]
        except SQLAlchemyError:
            metrics = []
        up.add_metric((), len(metrics) > 0)
        yield up
        yield from metrics


def _rollups(connection: Connection, now: int) -> Iterable[Metric]:
    """Gauges of rollups by shop. Without a first rollup, a shop has no time of its last one."""
    waiting = {row.shop_key: row for row in connection.execute(text(WAITING_BY_SHOP))}
    batches = _gauge("waiting_batches", "Imports that are not rolled up.", "shop")
    rows = _gauge("waiting_rows", "Rows that were imported and are not rolled up.", "shop")
    lag = _gauge("rollup_lag_seconds", "Age of the oldest import that waits, or 0.", "shop")
    last = _gauge("last_rollup_timestamp_seconds", "When the shop was last rolled up.", "shop")
    aside = _gauge("set_aside_batches", "Imports that cannot be rolled up, set aside.", "shop")
    set_aside: dict[str, int] = {row[0]: row[1] for row in connection.execute(_SET_ASIDE)}
    for shop_key, shop_id, rolled_up_at in connection.execute(_ROLLED_UP):
        waits = waiting.get(shop_key)
        batches.add_metric((shop_id,), waits.batches if waits else 0)
        rows.add_metric((shop_id,), waits.rows if waits else 0)
        lag.add_metric((shop_id,), max(_seconds(now - waits.oldest), 0) if waits else 0)
        aside.add_metric((shop_id,), set_aside.get(shop_id, 0))
        if rolled_up_at:
            last.add_metric((shop_id,), _seconds(rolled_up_at))
    return batches, rows, lag, last, aside


def _runs(connection: Connection, now: int) -> Iterable[Metric]:
    """Gauges of the runs on record (RUNS_DAYS), by job and state, and of the rejects on record
    (REJECTS_DAYS)."""
    is_seen = job_run.c.seen_at.between(now - LEASE_MICROS, now + CLOCK_SKEW)
    is_dead = (job_run.c.state == RUNNING) & ~is_seen
    state = case((is_dead, DIED), else_=job_run.c.state).label("state")
    grouped = select(
        job_run.c.job, state, func.count(), func.sum(job_run.c.rows), func.max(job_run.c.started_at)
    ).group_by(job_run.c.job, state)
    runs = _gauge("runs", "Runs of a job on record.", "job", "state")
    rows = _gauge("run_rows", "Rows that runs on record have read or rolled up.", "job", "state")
    last = _gauge("last_run_timestamp_seconds", "When the last of them began.", "job", "state")
    for job, ended, count, read, started_at in connection.execute(grouped):
        runs.add_metric((job, ended), count)
        rows.add_metric((job, ended), read)
        last.add_metric((job, ended), _seconds(started_at))
    rejects = _gauge("rejected_rows", "Rows on record that could not be imported.", "kind")
    for kind, count in connection.execute(_REJECTS):
        rejects.add_metric((kind,), count)
    return runs, rows, last, rejects


def _gauge(name: str, help: str, *labels: str) -> Any:
    return GaugeMetricFamily(f"{_PREFIX}_{name}", help, labels=labels)


def _seconds(micros: int) -> float:
    return micros / MICROS_PER_SECOND
