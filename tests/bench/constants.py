"""The constants of `model.py`, measured on this machine, and one night that they are checked against.

Two warehouses, of few shops and of many, have a history and get nights of few events and of many. The
least relative errors give the cost of an event and of a shop. The night of the check is of other sizes.
"""

import os
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from statistics import fmean, median
from typing import Final

import psutil
from sqlalchemy import make_url

from tests.bench import disk, load, model, nights, repeated
from tests.bench.databases import FOLDER, New, server_process
from tests.bench.goals import Row, row
from tests.bench.model import Constants, Line
from tests.bench.processes import Took, cpu_below, run, watching
from tests.bench.servers import serving
from tests.bench.service import ENDPOINTS, SERVICE, mint
from warehouse import tables
from warehouse.tables.base import metadata

Say = Callable[[str], None]
# By job, points (shops, events, cost).
Points = defaultdict[str, list[tuple[float, float, float]]]

HISTORY: Final = 100_000
SHOPS: Final = (20, 300)
NIGHTS: Final = (20_000, 120_000)
LATE: Final = 10_000
CHECK: Final = (500, 200_000)
_TINY: Final = 50
_SECONDS_OF_LOAD: Final = 2
_MB: Final = 1_000_000
_LAYERS: Final[disk.Layers] = {
    "raw events": (tables.raw_event,),
    "raw orders": (tables.raw_order,),
    "facts": disk.LAYERS["facts"],
    "daily rows": disk.LAYERS["daily rows"],
    "the rest": [
        table
        for table in metadata.sorted_tables
        if table.name not in {one.name for some in disk.LAYERS.values() for one in some}
    ],
}


class Measuring:
    """The measurements so far. `fixed` has the costs of tiny jobs; `seconds` and `cpu` have points."""

    def __init__(self) -> None:
        self.seconds, self.cpu, self.disk = Points(list), Points(list), Points(list)
        self.fixed: defaultdict[str, list[Took]] = defaultdict(list)
        self.memory: defaultdict[str, float] = defaultdict(float)
        self.connections: defaultdict[str, int] = defaultdict(int)
        self.answers: dict[str, float] = {}

    def add(self, job: str, shops: int, events: int, took: Took) -> None:
        self.seconds[job].append((shops, events, took.seconds))
        self.cpu[job].append((shops, events, took.cpu))
        self._saw(job, took)

    def add_tiny(self, job: str, took: Took) -> None:
        self.fixed[job].append(took)
        self._saw(job, took)

    def constants(self) -> Constants:
        def lines(points: Points, name: str) -> dict[str, Line]:
            found = {}
            for job, some in points.items():
                tiny = self.fixed["import" if job == "import" else "rollup"]
                found[job] = Line.through(median(getattr(one, name) for one in tiny), some)
            return found

        layers = {layer: Line.through(0, points) for layer, points in self.disk.items()}
        return Constants(
            lines(self.seconds, "seconds"),
            lines(self.cpu, "cpu"),
            layers,
            self.answers,
            dict(self.memory),
            dict(self.connections),
        )

    def _saw(self, job: str, took: Took) -> None:
        name = "import" if job == "import" else "rollup"
        self.memory[name] = max(self.memory[name], took.peak_mb)


class _Warehouse:
    """A warehouse that is measured: its database's process, and its shops."""

    def __init__(self, url: str, folder: Path, shops: int, measuring: Measuring) -> None:
        self.url, self._folder, self.shops, self.measuring = url, folder, shops, measuring
        self._server = server_process(url)
        self._number = 0
        self._known = nights.history(folder / "history", shops, HISTORY)
        nights.begin(url, folder / "history")
        self._known.import_into(url)

    def roll_up(self, command: str = "rollup") -> Took:
        with self._connections("job"):
            return self._spent(lambda: run(self.url, "jobs", command))

    def night(self, shops: int, events: int) -> tuple[Took, Took]:
        """Import and rollup of one more day."""
        folder = self._folder / f"night-{self._number}"
        day = nights.next_day(folder, shops, events, self._number)
        self._number += 1
        return self._spent(lambda: day.import_into(self.url)), self.roll_up()

    def late(self) -> Took:
        nights.late(self._folder / "late", self._known, LATE).import_into(self.url)
        return self.roll_up()

    def answers(self) -> None:
        """Ask for the answers of the shop that has forms, each kind for some seconds."""
        spent = defaultdict[str, list[float]](list)
        key = mint(self.url)
        with serving(self.url, *SERVICE) as service, self._connections("API process"):
            for name in repeated.NAMES:
                path = ENDPOINTS[name][1]
                _, tag = repeated.look(service, path, key)
                for kind, status in repeated.KINDS:
                    asked = repeated.requests(kind, path, key, tag)
                    before = self._database_cpu()
                    found = load.run(service.port, service.process, asked, status, _SECONDS_OF_LOAD)
                    number = found.requests_per_second * _SECONDS_OF_LOAD
                    database = (self._database_cpu() - before) / number
                    spent[kind].append(found.cpu_us * model.MICRO + database)
            memory = self.measuring.memory
            memory["API"] = _memory(service.process)
            memory["API worker"] = max(map(_memory, service.process.children()))
        self.measuring.answers = {kind: fmean(some) for kind, some in spent.items()}

    def scheduler(self) -> None:
        with tempfile.TemporaryDirectory() as landing:
            process = psutil.Popen(
                [sys.executable, "-m", "jobs", "scheduler"],
                env=os.environ | {"WAREHOUSE_URL": self.url, "IMPORT_DIR": landing},
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
            time.sleep(5)
            self.measuring.memory["scheduler"] = _memory(process)
            process.terminate()
            process.wait(60)

    def _spent(self, job: Callable[[], Took]) -> Took:
        """With the processor time of the database."""
        before = self._database_cpu()
        took = job()
        return replace(took, cpu=took.cpu + self._database_cpu() - before)

    def _database_cpu(self) -> float:
        return cpu_below(self._server) if self._server else 0

    @contextmanager
    def _connections(self, name: str) -> Iterator[None]:
        """Look how many connections there are during the block, and how much memory one takes alone."""
        server, database = self._server, make_url(self.url).database or ""
        if server is None:
            yield
            return
        counted, memory = self.measuring.connections, self.measuring.memory

        def look() -> None:
            found = []
            for process in server.children():
                with suppress(psutil.Error):
                    if database in " ".join(process.cmdline()):
                        found.append(process.memory_full_info().uss / _MB)
            counted[name] = max(counted[name], len(found))
            memory["connection"] = max(memory["connection"], *found, 0)

        with watching(look):
            yield


def measure(new: New, say: Say) -> tuple[Constants, list[Row]]:
    """The constants, and the night of the check beside what they say of it."""
    measuring = Measuring()
    FOLDER.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=FOLDER) as name:
        for shops in SHOPS:
            say(f"{shops} shops: history, nights, late events, rebuild")
            with new() as url:
                _shops(_Warehouse(url, Path(name, str(shops)), shops, measuring), say)
        constants = measuring.constants()
        shops, events = CHECK
        say(f"a night of {shops} shops and {events} events, to check the model")
        with new() as url:
            warehouse = _Warehouse(url, Path(name, "check"), shops, measuring)
            warehouse.roll_up()
            return constants, _check(constants, warehouse)


def _shops(warehouse: _Warehouse, say: Say) -> None:
    measuring, shops = warehouse.measuring, warehouse.shops
    measuring.add("first rollup", shops, HISTORY, warehouse.roll_up())
    for job, took in zip(("import", "rollup"), warehouse.night(1, _TINY), strict=True):
        measuring.add_tiny(job, took)
    for events in NIGHTS:
        before = disk.measure(warehouse.url, _LAYERS)
        for job, took in zip(("import", "rollup"), warehouse.night(shops, events), strict=True):
            measuring.add(job, shops, events, took)
        for layer, size in disk.measure(warehouse.url, _LAYERS).items():
            measuring.disk[layer].append((shops, events, size - before[layer]))
    measuring.add("late", shops, LATE, warehouse.late())
    measuring.add("rebuild", shops, HISTORY + sum(NIGHTS) + LATE, warehouse.roll_up("rebuild"))
    if shops == SHOPS[0]:
        say("answers, and the memory of each process")
        warehouse.answers()
        warehouse.scheduler()


def _check(constants: Constants, warehouse: _Warehouse) -> list[Row]:
    before = sum(disk.measure(warehouse.url, _LAYERS).values())
    imported, rolled_up = warehouse.night(*CHECK)
    grown = sum(disk.measure(warehouse.url, _LAYERS).values()) - before
    predicted = sum(line.at(*CHECK) for line in constants.disk.values())
    return [
        row(
            "check: night",
            imported.seconds + rolled_up.seconds,
            "s",
            model.night(constants.seconds, *CHECK),
        ),
        row(
            "check: night, CPU",
            imported.cpu + rolled_up.cpu,
            "s",
            model.night(constants.cpu, *CHECK),
        ),
        row("check: disk", grown / _MB, "MB", predicted / _MB),
    ]


def _memory(process: psutil.Process) -> float:
    return float(process.memory_info().rss) / _MB
