"""The load that one server carries: plain arithmetic with constants that `constants.py` measures."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple, Self

import numpy as np

from tests.bench.goals import Row, row

MICRO: Final = 1e-6
REFRESHES_PER_DAY: Final = 288
# Connections of each process at most, as in jobs/README.md.
_OF_API_PROCESS: Final = 38
_OF_JOB: Final = 3
_JOBS_AT_ONCE: Final = 5
_OF_SUPERUSER: Final = 3
# More than this share of a core is not planned with.
_BUSY: Final = 0.7


class Line(NamedTuple):
    """A cost: `fixed`, and more for each event (with its share of orders) and for each shop."""

    fixed: float
    per_event: float
    per_shop: float

    def at(self, shops: float, events: float) -> float:
        return self.fixed + self.per_event * events + self.per_shop * shops

    @classmethod
    def through(cls, fixed: float, points: Sequence[tuple[float, float, float]]) -> Self:
        """The line with the least relative errors at (shops, events, cost). No part is negative."""
        shops, events, costs = np.array(points, float).T
        rest = np.maximum(costs - fixed, 0) / costs
        both = np.column_stack([events / costs, shops / costs])
        found = np.linalg.lstsq(both, rest, rcond=None)[0]
        if found.min() < 0:
            # The other part alone explains all that there is.
            kept = int(found.argmax())
            found = np.zeros(2)
            found[kept] = both[:, kept] @ rest / (both[:, kept] @ both[:, kept])
        return cls(fixed, float(found[0]), float(found[1]))


@dataclass(frozen=True)
class Constants:
    """Seconds are of the clock, `cpu` of all processors (the database's, too), bytes of the disk.

    - `seconds`, `cpu`: by job: `import`, `rollup` (of a day), `first rollup`, `rebuild`, `late`
    - `disk`: by layer
    - `answers`: seconds of processor time of an answer, by kind
    - `memory`: MB, by process
    """

    seconds: dict[str, Line]
    cpu: dict[str, Line]
    disk: dict[str, Line]
    answers: dict[str, float]
    memory: dict[str, float]
    connections: dict[str, int]

    @classmethod
    def from_json(cls, content: dict[str, Any]) -> Self:
        lines = {
            name: {key: Line(*line) for key, line in content[name].items()}
            for name in ("seconds", "cpu", "disk")
        }
        return cls(**content | lines)

    def rows(self) -> list[Row]:
        found = []
        for name, line in self.seconds.items():
            cpu = self.cpu[name]
            found += [
                row(f"{name}: per million events", line.per_event / MICRO, "s"),
                row(f"{name}: per million events, CPU", cpu.per_event / MICRO, "s"),
                row(f"{name}: per thousand shops", line.per_shop * 1000, "s"),
                row(f"{name}: per thousand shops, CPU", cpu.per_shop * 1000, "s"),
                row(f"{name}: fixed", line.fixed, "s"),
            ]
        for name, line in self.disk.items():
            found += [
                row(f"disk: {name}, per event", line.per_event, "B"),
                row(f"disk: {name}, per shop and day", line.per_shop, "B"),
            ]
        for name, seconds in self.answers.items():
            found.append(row(f"answers per second and core: {name}", 1 / seconds, ""))
        found += [
            row(f"memory: {name}", megabytes, "MB") for name, megabytes in self.memory.items()
        ]
        return found + [row(f"connections: {name}", n, "") for name, n in self.connections.items()]


@dataclass(frozen=True)
class Load:
    """The load of a server. `requests` are those of a second in the busiest hour, a third of each
    kind; `night` is how many seconds a night has."""

    shops: float
    events: float
    days: int
    requests: float
    night: float

    def of_cells(self, cells: int) -> Self:
        """The part of one of so many equal servers."""
        return type(self)(
            self.shops / cells, self.events / cells, self.days, self.requests / cells, self.night
        )


def night(lines: dict[str, Line], shops: float, events: float) -> float:
    """Seconds of one import and one rollup of a day."""
    return lines["import"].at(shops, events) + lines["rollup"].at(shops, events)


def refresh(lines: dict[str, Line], load: Load) -> float:
    """Seconds of an import and a rollup of five minutes of an even day."""
    events = load.events / REFRESHES_PER_DAY
    return night(lines, min(load.shops, events), events)


def carried(constants: Constants, load: Load) -> list[Row]:
    """The resources that it takes to carry a load on one server.

    The times are those of processors: a quiet server needs less, since a job and the database work side by
    side, and one whose disk is slow needs more. Others who are at work here do not change them much.
    """
    cpu = constants.cpu
    lasts = night(cpu, load.shops, load.events)
    workers = math.ceil(lasts / load.night)
    every_refresh = refresh(cpu, load)
    refreshes = every_refresh / (86_400 / REFRESHES_PER_DAY)
    answering = load.requests * sum(constants.answers.values()) / len(constants.answers)
    api = max(2, math.ceil(answering / _BUSY))
    every_day = load.shops, load.events * load.days
    connections = (
        _OF_API_PROCESS * api
        + _OF_JOB * _JOBS_AT_ONCE
        + (3 * workers if workers > 1 else 0)
        + _OF_SUPERUSER
    )
    memory = constants.memory
    jobs = memory["import"] + memory["rollup"] * workers
    web = memory["API"] + memory["API worker"] * api
    found = [
        row("night: import", cpu["import"].at(load.shops, load.events) / 60, "min"),
        row("night: rollup", cpu["rollup"].at(load.shops, load.events) / 60, "min"),
        row("night: processes that roll up", workers, ""),
        row("refresh of 5 minutes", every_refresh, "s"),
        row("rebuild of everything", cpu["rebuild"].at(*every_day) / 3600, "h"),
        row("cores: refreshes", refreshes, ""),
        row("cores: answers", answering, ""),
        row("cores: in all, 70 % busy", math.ceil((refreshes + answering) / _BUSY), ""),
        row("API processes", api, ""),
        row("memory: jobs", jobs / 1000, "GB"),
        row("memory: API and scheduler", (web + memory["scheduler"]) / 1000, "GB"),
    ]
    if memory["connection"]:
        found += [
            row("connections, at most", connections, ""),
            row("memory: connections", connections * memory["connection"] / 1000, "GB"),
        ]
    layers = {
        name: line.at(load.shops, load.events) * load.days / 1e9
        for name, line in constants.disk.items()
    }
    found += [row(f"disk of {load.days} days: {name}", size, "GB") for name, size in layers.items()]
    return [*found, row(f"disk of {load.days} days: all", sum(layers.values()), "GB")]
