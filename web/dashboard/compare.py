"""A figure beside the same figure of the days before, and whether chance explains the difference."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from warehouse.domain.rounding import cents, percent
from web.api.row_limit import OTHER
from web.api.rows import Row
from web.dashboard import statistics
from web.dashboard.statistics import FEW, Interval

Rows = Sequence[Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class Amount:
    """A count, a ratio, or money in minor units. `now` is None where there is no such figure, `before` also
    where nothing is compared, or where it is not known."""

    now: Any
    before: Any = None

    @property
    def change(self) -> float | None:
        """In per cent of the figure before; None where that is 0 or missing."""
        if self.now is None or not self.before:
            return None
        return percent(self.now - self.before, self.before)


@dataclass(frozen=True, slots=True)
class Rate:
    """`hits` of `trials`, with those of the days before."""

    hits: int
    trials: int
    hits_before: int | None = None
    trials_before: int | None = None

    @property
    def now(self) -> float | None:
        """In per cent; None where nobody was there."""
        return percent(self.hits, self.trials) if self.trials else None

    @property
    def before(self) -> float | None:
        """In per cent; None where nothing is compared, or nobody was there."""
        if not self.trials_before or self.hits_before is None:
            return None
        return percent(self.hits_before, self.trials_before)

    @property
    def change(self) -> float | None:
        """In points; None where there is nothing to compare with."""
        if self.now is None or self.before is None:
            return None
        return round(self.now - self.before, 2)

    @property
    def interval(self) -> Interval:
        return statistics.of_rate(self.hits, self.trials)

    @property
    def is_few(self) -> bool:
        return self.trials < FEW

    @property
    def is_chance(self) -> bool:
        """Whether 0 lies in the interval of the difference."""
        assert self.hits_before is not None
        assert self.trials_before is not None
        return statistics.of_difference(
            self.hits, self.trials, self.hits_before, self.trials_before
        ).has_zero


@dataclass(frozen=True, slots=True)
class ComparedRow:
    """A row of an answer, and the same row `before`: None where nothing is compared, or where the row can be
    in the sum of others. A row that an answer leaves out has only zeros: {}."""

    now: Mapping[str, Any]
    before: Mapping[str, Any] | None = None

    def __getitem__(self, name: str) -> Any:
        return self.now[name]

    def amount(self, name: str) -> Amount:
        return Amount(self.now.get(name, 0), self._before(name))

    def rate(self, hits: str, trials: str) -> Rate:
        now = self.now
        return Rate(now.get(hits, 0), now.get(trials, 0), self._before(hits), self._before(trials))

    def quotient(self, above: str, below: str) -> Amount:
        """Money for each of a count. It has no value, and none before, where the count is 0."""
        counts, money = self.amount(below), self.amount(above)
        return Amount(
            cents(money.now, counts.now) if counts.now else None,
            cents(money.before, counts.before) if counts.before else None,
        )

    def _before(self, name: str) -> Any:
        return None if self.before is None else self.before.get(name, 0)


def beside(rows: Rows, before: Rows | None, *keys: str) -> list[ComparedRow]:
    """Each row beside the one before with the same values of `keys`, in the order of `rows`."""
    if before is None:
        return [ComparedRow(row) for row in rows]
    former = {tuple(row[key] for key in keys): row for row in before}
    # A row that is not among the former ones can be in their sum of others.
    missing: Mapping[str, Any] | None = None if any(OTHER in key for key in former) else {}
    return [ComparedRow(row, former.get(tuple(row[key] for key in keys), missing)) for row in rows]


def total(row: Row, rows: Rows, before: Rows | None) -> ComparedRow:
    """The figures of all rows of a report together: sums, and the quotients of the sums."""
    return ComparedRow(row.total(rows), None if before is None else row.total(before))
