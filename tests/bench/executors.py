"""The first rollup of many shops by each engine, on PostgreSQL: `python -m tests.bench.executors`.

All ways take turns, as a machine is not as fast in one minute as in the next. The engine's own cost is
that of Dask with one worker beside the same process alone, with groups of two shops: a hundred groups, where
there are 200 shops.
"""

import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final, NamedTuple

import click
import psutil
import psycopg
from sqlalchemy import make_url

from tests.bench import nights, table
from tests.bench.databases import server_process
from tests.bench.goals import Row, row
from tests.bench.processes import cpu_below, peak_mb, timed, watching
from tests.support import postgres
from tests.support.dask_cluster import WORKER_OPTIONS, dask_cluster

SHOPS: Final = 200
EVENTS: Final = 1_000_000
# Two shops are a group.
_SHOPS_PER_GROUP: Final = 2.2
_SMALL_GROUPS: Final = "tests.bench.small_groups"


@dataclass(frozen=True)
class Way:
    """One way to roll up: so many commands `at_once`, with an executor or so many workers of Dask."""

    name: str
    executor: str = "inline"
    workers: int = 0
    at_once: int = 1
    has_small_groups: bool = False

    @property
    def beside(self) -> str:
        return "inline, small groups" if self.has_small_groups else "inline"

    @property
    def command(self) -> list[str]:
        program = _SMALL_GROUPS if self.has_small_groups else "jobs"
        return [sys.executable, "-m", program, "rollup", "--executor"]

    @property
    def worker_options(self) -> list[str]:
        """Those of each of its workers, beside those of any."""
        return ["--preload", _SMALL_GROUPS] if self.has_small_groups else []


WAYS: Final = (
    Way("inline"),
    Way("two rollups at once", at_once=2),
    Way("processes:2", executor="processes:2"),
    Way("Dask, 1 worker", workers=1),
    Way("Dask, 2 workers", workers=2),
    Way("Dask, 3 workers", workers=3),
    Way("inline, small groups", has_small_groups=True),
    Way("Dask, small groups", workers=1, has_small_groups=True),
)


class Taken(NamedTuple):
    """`memory` is the sum of the peaks of all processes, in MB; `cpu` is of them and the database."""

    seconds: float
    memory: float
    cpu: float
    tasks: int


def measure(
    say: Callable[[str], None],
    rounds: int,
    ways: tuple[Way, ...] = WAYS,
    shops: int = SHOPS,
    events: int = EVENTS,
) -> list[Row]:
    """Roll up so many times each way, in turns; the medians, beside those of one process."""
    server = postgres.server_url(f"bench{os.getpid()}")
    taken = defaultdict[str, list[Taken]](list)
    with tempfile.TemporaryDirectory() as name, postgres.new_database(server) as imported:
        folder = Path(name)
        say(f"{events} events of {shops} shops")
        known = nights.history(folder, shops, events)
        nights.begin(imported, folder)
        known.import_into(imported)
        template = make_url(imported).database or ""
        for number in range(rounds):
            for way in ways:
                with postgres.new_database(server, template) as url:
                    logs = folder / f"{way.name} {number}"
                    taken[way.name].append(_roll_up(url, way, logs, events / shops))
                say(f"{way.name}: {taken[way.name][-1]}")
    return [line for way in ways for line in _rows(way, taken)]


def _roll_up(url: str, way: Way, logs: Path, rows_per_shop: float) -> Taken:
    bench, server = psutil.Process(), server_process(url)
    assert server is not None
    peaks: dict[int, float] = {}

    def look() -> None:
        for process in bench.children(recursive=True):
            with suppress(psutil.NoSuchProcess):
                if process.name() != "postgres":
                    peaks[process.pid] = max(peaks.get(process.pid, 0), peak_mb(process.pid))

    batch_rows = str(int(_SHOPS_PER_GROUP * rows_per_shop))
    with _executor(url, way, logs, batch_rows) as executor, watching(look):
        before = cpu_below(bench) + cpu_below(server)
        settings = {"WAREHOUSE_URL": url, "BATCH_ROWS": batch_rows}
        seconds = timed(lambda: _run(way, [*way.command, executor], settings)).seconds
        cpu = cpu_below(bench) + cpu_below(server) - before
    return Taken(seconds, sum(peaks.values()), cpu, _tasks(url))


@contextmanager
def _executor(url: str, way: Way, logs: Path, batch_rows: str) -> Iterator[str]:
    if not way.workers:
        yield way.executor
        return
    with dask_cluster(url, logs, workers=0) as cluster:
        for _ in range(way.workers):
            cluster.start_worker(*WORKER_OPTIONS, *way.worker_options, BATCH_ROWS=batch_rows)
        cluster.wait_for_workers(way.workers)
        yield cluster.address


def _run(way: Way, command: list[str], settings: dict[str, str]) -> None:
    environment = os.environ | settings
    started = [subprocess.Popen(command, env=environment) for _ in range(way.at_once)]
    statuses = [process.wait() for process in started]
    if any(statuses):
        raise RuntimeError(f"{way.name}: exit {statuses}")


def _tasks(url: str) -> int:
    """How many rollups of workers did something. Raises where something still waits."""
    run_status = [sys.executable, "-m", "jobs", "status", "--json"]
    said = subprocess.run(
        run_status, env=os.environ | {"WAREHOUSE_URL": url}, capture_output=True, text=True
    )
    if waiting := json.loads(said.stdout)["queued"]["rows"]:
        raise RuntimeError(f"{waiting} rows were not rolled up")
    plain = make_url(url).set(drivername="postgresql").render_as_string(hide_password=False)
    with psycopg.connect(plain) as connection:
        rows = connection.execute("SELECT 1 FROM job_run WHERE job LIKE 'task@%' AND batches > 0")
        return rows.rowcount


def _rows(way: Way, taken: dict[str, list[Taken]]) -> list[Row]:
    own, beside, what = taken[way.name], taken.get(way.beside, []), f"executors: {way.name}"
    floor = _median("seconds", beside) if beside else None
    return [
        row(what, _median("seconds", own), "s", floor),
        row(f"{what}, best", min(one.seconds for one in own), "s"),
        row(f"{what}, CPU", _median("cpu", own), "s", _median("cpu", beside) if beside else None),
        row(f"{what}, memory", max(one.memory for one in own), "MB"),
        row(f"{what}, tasks", own[0].tasks, ""),
    ]


def _median(name: str, taken: list[Taken]) -> float:
    return statistics.median(getattr(one, name) for one in taken)


@click.command(help=__doc__)
@click.option("--rounds", type=click.IntRange(min=1), default=2, show_default=True)
@click.option("--shops", type=click.IntRange(min=4), default=SHOPS, show_default=True)
@click.option("--events", type=click.IntRange(min=1), default=EVENTS, show_default=True)
@click.option("--only", multiple=True, help="A way to roll up; may be given several times.")
def main(rounds: int, shops: int, events: int, only: tuple[str, ...]) -> None:
    ways = tuple(way for way in WAYS if not only or way.name in only)
    rows = measure(lambda text: click.echo(text, err=True), rounds, ways, shops, events)
    table.show(one.as_dict() for one in rows)
    click.echo(f"load of the machine, 1, 5 and 15 minutes: {os.getloadavg()}")


if __name__ == "__main__":
    main()
