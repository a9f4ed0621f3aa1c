"""The goals, beside which every measurement is printed. Nothing fails where one is missed."""

import re
from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from typing import Any, Final, NamedTuple

from tests.bench.processes import Took


class Goal(NamedTuple):
    """A bound on each database of the measured value, or of its `ratio`: at most, or (`>=`) at least."""

    what: str
    of: str
    sign: str
    sqlite: float
    postgresql: float


# fmt: off
# The first that matches counts.
GOALS: Final = (
    Goal("import Parquet(, CPU)?", "ratio", ">=", 0.85, 0.85),
    Goal("import NDJSON(, CPU)?", "ratio", ">=", 0.6, 0.6),
    Goal("import .*, memory", "value", "<=", 500, 500),
    Goal("first rollup(, CPU)?", "ratio", "<=", 1.8, 1.8),
    Goal("first rollup, memory", "value", "<=", 750, 750),
    Goal("rollup of nothing, CPU", "value", "<=", 1.3, 1.3),
    Goal("refresh after .*", "ratio", "<=", 1.5, 1.5),
    Goal("200 shops, (first rollup|rebuild)(, CPU)?", "ratio", "<=", 1.3, 1.3),
    Goal("200 shops, groups of two, CPU", "ratio", "<=", 2, 2),
    Goal("200 shops, verify", "value", "<=", 30, 45),
    Goal("daily rows with crossings", "ratio", "<=", 2.2, 2.2),
    # One client asks for what was never asked before.
    Goal("create form, cold p50", "value", "<=", 3.5, 3.5),
    Goal("replace draft, cold p50", "value", "<=", 6, 6),
    Goal("(by UTM|LTV), cold p50", "value", "<=", 7, 7),
    Goal("(ad spend|orders), cold p50", "value", "<=", 10, 10),
    Goal("orders, cold p99", "value", "<=", 50, 50),
    Goal(".*, cold p50", "value", "<=", 5, 5),
    Goal("visitor conversion, filtered p50", "value", "<=", 80, 80),
    Goal("visitor conversion, filtered p99", "value", "<=", 250, 250),
    Goal(".*, filtered p50", "value", "<=", 40, 40),
    Goal(".*, filtered p99", "value", "<=", 150, 150),
    # Eight clients ask at once, beside a bare route.
    Goal("funnel, cold at 8, p99", "value", "<=", 25, 25),
    Goal("trends, cold at 8, p99", "value", "<=", 30, 30),
    Goal("ad spend, cold at 8, p99", "value", "<=", 80, 80),
    Goal(".*, again at 8", "ratio", ">=", 0.7, 0.35),
    Goal(".*, 304 at 8, CPU more", "value", "<=", 150, 400),
)
# fmt: on


@dataclass(frozen=True)
class Row:
    """One line of the table. The ratio is to the floor, or the peer, of the same run: of rates and of times,
    measured ÷ floor; of an answer beside a peer, how many times faster it is."""

    what: str
    value: float
    unit: str
    floor: float | None = None
    ratio: float | None = None
    goal: str | None = None
    met: bool | None = None

    def judged(self, kind: str) -> "Row":
        """The same beside its goal on this kind of database."""
        goal = next((one for one in GOALS if re.fullmatch(one.what, self.what)), None)
        found = goal and getattr(self, goal.of)
        if goal is None or found is None:
            return self
        limit = getattr(goal, kind)
        met = found <= limit if goal.sign == "<=" else found >= limit
        return replace(self, goal=f"{goal.sign} {limit:g}{'x' * (goal.of == 'ratio')}", met=met)


def row(what: str, value: float, unit: str, floor: float | None = None) -> Row:
    """A measurement and the floor that its ratio is to."""
    ratio = None if floor is None else round(value / floor, 2)
    return Row(what, round(value, 3), unit, None if floor is None else round(floor, 3), ratio)


def times(what: str, took: Took, floor: Took | None = None) -> list[Row]:
    """A job by the clock, and by the time of processors, which a busy machine moves less."""
    return [
        row(what, took.seconds, "s", floor.seconds if floor else None),
        row(f"{what}, CPU", took.cpu, "s", floor.cpu if floor else None),
    ]


def judge(rows: Iterable[Row], kind: str, *, is_busy: bool) -> list[dict[str, Any]]:
    """The rows beside their goals; none is judged where others were at work beside the run."""
    judged = (one.judged(kind) for one in rows)
    return [asdict(replace(one, met=None) if is_busy else one) for one in judged]
