"""A figure beside the same figure of the days before, and whether chance explains the difference."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from warehouse.domain.rounding import percent
from web.dashboard import statistics
from web.dashboard.statistics import FEW, Interval

Rows = Sequence[Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class Amount:
    """A count, or money in minor units. `before` is None where nothing is compared."""

    now: int
    before: int | None = None

    @property
    def change(self) -> float | None:
        """In per cent of the figure before; None where that is 0 or missing."""
        return percent(self.now - self.before, self.before) if self.before else None


def sum_of(name: str, rows: Rows, before: Rows | None) -> Amount:
    """The sum of a column of an answer, beside that of the days before, if they are compared."""
    return Amount(
        sum(row[name] for row in rows),
        None if before is None else sum(row[name] for row in before),
    )


@dataclass(frozen=True, slots=True)
class Rate:
    """`hits` of `trials`, with those of the days before."""

    hits: int
    trials: int
    hits_before: int | None = None
    trials_before: int | None = None

    @property
    def value(self) -> float:
        return percent(self.hits, self.trials)

    @property
    def interval(self) -> Interval:
        return statistics.of_rate(self.hits, self.trials)

    @property
    def is_few(self) -> bool:
        return self.trials < FEW

    @property
    def value_before(self) -> float | None:
        """None where nothing is compared, or nobody was there."""
        if not self.trials_before or self.hits_before is None:
            return None
        return percent(self.hits_before, self.trials_before)

    @property
    def change(self) -> float | None:
        """In points; None where there is nothing to compare with."""
        if not self.trials or self.value_before is None:
            return None
        return round(self.value - self.value_before, 2)

    @property
    def is_chance(self) -> bool:
        """Whether 0 lies in the interval of the difference."""
        assert self.hits_before is not None
        assert self.trials_before is not None
        return statistics.of_difference(
            self.hits, self.trials, self.hits_before, self.trials_before
        ).has_zero
