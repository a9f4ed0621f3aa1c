"""Figures beside the same figures of former days, and whether chance explains the difference.

A figure has up to three values: `now`, of the days that are shown, to date; and over the days of a `Pair` the
one that is compared (`fair`) and the former one (`before`).
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from warehouse.domain.rounding import cents, percent
from web.api.row_limit import OTHER
from web.dashboard import statistics
from web.dashboard.comparable import Pair
from web.dashboard.statistics import FEW, Interval

Line = Mapping[str, Any]
Rows = Sequence[Line]


@dataclass(frozen=True, slots=True)
class Amount:
    """A count, a ratio, or money in minor units. A value is None where there is no such figure; `fair` and
    `before` also where nothing is compared."""

    now: Any
    fair: Any = None
    before: Any = None
    pair: Pair | None = None

    @property
    def change(self) -> float | None:
        """In per cent of the figure before; None where that is 0 or missing."""
        if self.fair is None or not self.before:
            return None
        return percent(self.fair - self.before, self.before)


@dataclass(frozen=True, slots=True)
class Rate:
    """`hits` of `trials` of the days that are shown; `fair` and `before` are (hits, trials) of the days that
    are compared, None where nothing is."""

    hits: int
    trials: int
    fair: tuple[int, int] | None = None
    before: tuple[int, int] | None = None
    pair: Pair | None = None

    @property
    def now(self) -> float | None:
        """In per cent; None where nobody was there."""
        return percent(self.hits, self.trials) if self.trials else None

    @property
    def interval(self) -> Interval:
        return statistics.of_rate(self.hits, self.trials)

    @property
    def fair_rate(self) -> float | None:
        """In per cent; None where nobody was there, or nothing is compared."""
        return percent(*self.fair) if self.fair and self.fair[1] else None

    @property
    def before_rate(self) -> float | None:
        """In per cent; None where nobody was there, or nothing is compared."""
        return percent(*self.before) if self.before and self.before[1] else None

    @property
    def change(self) -> float | None:
        """In points; None where there is nothing to compare with."""
        if self.fair_rate is None or self.before_rate is None:
            return None
        return round(self.fair_rate - self.before_rate, 2)

    @property
    def is_few(self) -> bool:
        """Whether one of the rates that are compared, else the one that is shown, is of a small sample."""
        compared = [each[1] for each in (self.fair, self.before) if each]
        return min(compared or [self.trials]) < FEW

    @property
    def is_chance(self) -> bool:
        """Whether 0 lies in the interval of the difference."""
        assert self.fair
        assert self.before
        return statistics.of_difference(*self.fair, *self.before).has_zero


@dataclass(frozen=True, slots=True)
class Comparison:
    """How the figures of a row are compared: `pair_of` their names is the days, None where nothing is
    compared, and `sides` of these days the row on them and before. A row that an answer leaves out has only
    zeros: {}; it is None where it can be in the sum of others."""

    pair_of: Callable[..., Pair | None]
    sides: Callable[[Pair], tuple[Line | None, Line | None]]


@dataclass(frozen=True, slots=True)
class ComparedRow:
    """`now` is a row of an answer over the days that are shown; and how its figures are compared, if they
    are."""

    now: Line
    comparison: Comparison | None = None

    def __getitem__(self, name: str) -> Any:
        return self.now[name]

    def plus(self, **values: Any) -> "ComparedRow":
        """The row with further values, which are not compared."""
        return replace(self, now={**self.now, **values})

    def amount(self, name: str, make: Callable[[Line], Any] | None = None) -> Amount:
        """`make` gives the figure from a row, where the row does not have it by its name."""
        of = make or (lambda line: line.get(name, 0))
        pair, fair, before = self._sides(name)
        return Amount(
            of(self.now),
            None if fair is None else of(fair),
            None if before is None else of(before),
            pair,
        )

    def rate(self, hits: str, trials: str) -> Rate:
        def of(line: Line) -> tuple[int, int]:
            return line.get(hits, 0), line.get(trials, 0)

        pair, *sides = self._sides(hits, trials)
        fair, before = (None if side is None else of(side) for side in sides)
        return Rate(*of(self.now), fair, before, pair)

    def quotient(self, above: str, below: str) -> Amount:
        """Money for each of a count. It has no value, and none before, where the count is 0."""

        def of(line: Line | None) -> int | None:
            return cents(line.get(above, 0), line[below]) if line and line.get(below) else None

        pair, fair, before = self._sides(above, below)
        return Amount(of(self.now), of(fair), of(before), pair)

    def _sides(self, *names: str) -> tuple[Pair | None, Line | None, Line | None]:
        pair = self.comparison.pair_of(*names) if self.comparison else None
        if self.comparison is None or pair is None or pair.reason:
            return pair, None, None
        return pair, *self.comparison.sides(pair)


@dataclass(frozen=True)
class ComparedRows:
    """The rows of a report (`now`), to be set beside those with the same `keys`. `read` gives the rows of the
    days of a pair, and those before."""

    now: Rows
    keys: tuple[str, ...]
    pair_of: Callable[..., Pair | None]
    read: Callable[[Pair], tuple[Rows, Rows]]
    _by_key: dict[Pair, list[dict[tuple[Any, ...], Line]]] = field(default_factory=dict)

    def rows(self) -> list[ComparedRow]:
        """In the order of the answer."""
        return [self.row(line) for line in self.now]

    def row(self, line: Line) -> ComparedRow:
        """A row of these days, also one that the answer leaves out: its keys are enough."""
        key = self._key(line)

        def sides(pair: Pair) -> tuple[Line | None, Line | None]:
            if pair not in self._by_key:
                self._by_key[pair] = [
                    {self._key(row): row for row in rows} for rows in self.read(pair)
                ]
            if OTHER in key:
                # The sum of others has other members on other days.
                return None, None
            fair, before = (_of(key, rows) for rows in self._by_key[pair])
            return fair, before

        return ComparedRow(line, Comparison(self.pair_of, sides))

    def total(self, add_up: Callable[[Rows], Line]) -> ComparedRow:
        """All rows together: sums, and the quotients of the sums (`Row.total`)."""

        def sides(pair: Pair) -> tuple[Line, Line]:
            fair, before = self.read(pair)
            return add_up(fair), add_up(before)

        return ComparedRow(add_up(self.now), Comparison(self.pair_of, sides))

    def _key(self, row: Line) -> tuple[Any, ...]:
        return tuple(row[key] for key in self.keys)


def _of(key: tuple[Any, ...], rows: Mapping[tuple[Any, ...], Line]) -> Line | None:
    """The row with this key. One that is not among them has only zeros, or can be in their sum of others."""
    missing: Line | None = None if any(OTHER in each for each in rows) else {}
    return rows.get(key, missing)
