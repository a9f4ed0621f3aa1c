"""The goals, beside which every measurement is printed. Nothing fails where one is missed."""

from dataclasses import asdict, dataclass
from typing import Any, Final


@dataclass(frozen=True)
class Goal:
    """At least or at most so much, of what was measured itself or of its ratio to the floor. An aim
    is hoped for, not promised."""

    of: str
    least: float | None = None
    most: float | None = None
    aim: bool = False

    def __str__(self) -> str:
        sign, limit = (">=", self.least) if self.most is None else ("<=", self.most)
        return f"{'aim ' * self.aim}{sign} {limit:g}{'x' * (self.of == 'ratio')}"


GOALS: Final = {
    "import Parquet": Goal("ratio", least=0.6),
    "import Parquet, memory": Goal("value", most=500),
    "import NDJSON": Goal("ratio", least=0.35),
    "import NDJSON, memory": Goal("value", most=500),
    "first rollup": Goal("ratio", most=2.5),
    "first rollup, memory": Goal("value", most=2_000),
    "first rollup beside DuckDB": Goal("ratio", most=3, aim=True),
    "rebuild": Goal("ratio", most=1.2),
    "refresh after late events": Goal("value", most=2.5),
    "refresh after events of today": Goal("value", most=2.5),
    "refresh after late events, of 5M": Goal("ratio", most=1.3),
    "refresh after events of today, of 5M": Goal("ratio", most=1.3),
    "many shops, import": Goal("ratio", most=2.5),
    "many shops, first rollup": Goal("ratio", most=2.5),
    "many shops, rebuild": Goal("ratio", most=2.5),
    # The engine's own cost: beside the same groups in one process.
    "executors: Dask, small groups": Goal("ratio", most=1.1),
}

# Cold answers of an endpoint; these four have more to read than the others.
_COLD_P50: Final = Goal("value", most=5)
_WIDE_P50: Final = Goal("value", most=12)
_WIDE: Final = ("cross-field", "by UTM", "ad spend", "LTV")
_COLD_P99: Final = Goal("value", most=15)
# Shares of the bare route: of repeated requests, and of requests that were never asked before.
AGAIN: Final = Goal("ratio", least=0.3)
FIRST_TIME: Final = Goal("ratio", least=0.2, aim=True)
AGAIN_P99: Final = Goal("ratio", most=3)
# Microseconds of CPU that a 304 may take more than the bare route.
UNCHANGED: Final = Goal("value", most=250)
# An answer beside the same by SQL over raw events.
BESIDE_SQL: Final = Goal("ratio", least=100, aim=True)


def cold(endpoint: str) -> tuple[Goal, Goal]:
    """The goals of p50 and p99."""
    return (_WIDE_P50 if endpoint in _WIDE else _COLD_P50), _COLD_P99


@dataclass(frozen=True)
class Row:
    """One line of the table. The ratio is to the floor (or peer) of the same run, as the goal means
    it: of rates, measured / floor; of times too; of an answer beside SQL, how many times faster."""

    what: str
    value: float
    unit: str
    floor: float | None = None
    ratio: float | None = None
    goal: Goal | None = None

    @property
    def met(self) -> bool | None:
        """None where there is no goal."""
        if self.goal is None:
            return None
        found = self.value if self.goal.of == "value" else self.ratio
        assert found is not None
        if self.goal.most is not None:
            return found <= self.goal.most
        return found >= (self.goal.least or 0)

    def as_dict(self) -> dict[str, Any]:
        goal = {"goal": str(self.goal) if self.goal else None, "met": self.met}
        return asdict(self) | goal


def row(what: str, value: float, unit: str, floor: float | None = None) -> Row:
    """A measurement and the floor that its ratio is to, with its goal."""
    ratio = None if floor is None else round(value / floor, 2)
    floor = None if floor is None else round(floor, 3)
    return Row(what, round(value, 3), unit, floor, ratio, GOALS.get(what))
