"""Figures beside the same figures of former days, and how likely chance makes such a difference.

A figure has up to three values: `now`, of the days that are shown, to date; and over the days of a `Pair` the
one that is compared (`fair`) and the former one (`before`). Its `p_value` is that of the change; only
`changes.py` makes a verdict of it, together with all others of the page.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from warehouse.domain.figures import COUNT, FIGURES
from warehouse.domain.rounding import cents, percent
from web.api.row_limit import OTHER
from web.dashboard import statistics
from web.dashboard.comparable import Pair
from web.dashboard.statistics import FEW, Interval, Noise

Line = Mapping[str, Any]
Rows = Sequence[Line]
NoiseOf = Callable[[str], Noise | None]
"""The noise of a row's daily values by the name of the figure; None where it is not known."""


@dataclass(frozen=True, slots=True)
class Amount:
    """A count, a ratio, or money in minor units. A value is None where there is no such figure; `fair` and
    `before` also where nothing is compared. `noise` is that of its daily values. One that `is_aged` is shown
    at equal age. `tested` is the p-value of one that has no daily values of its own."""

    now: Any
    fair: Any = None
    before: Any = None
    pair: Pair | None = None
    noise: Noise | None = None
    is_count: bool = False
    is_aged: bool = False
    tested: float | None = None

    @property
    def value(self) -> Any:
        """The value that pages show."""
        return self.fair if self.is_aged and self.pair else self.now

    def alone(self) -> "Amount":
        """The same at equal age, beside no former one."""
        pair = self.pair and replace(self.pair, is_alone=True)
        return replace(self, pair=pair, before=None, is_aged=True)

    @property
    def p_value(self) -> float | None:
        """That chance makes such a change; None where nothing is known of its noise."""
        pair, noise = self.pair, self.noise
        if self.tested is not None:
            return self.tested
        if self.fair is None or self.before is None or noise is None:
            return None
        assert pair
        return statistics.p_changed(
            noise,
            self.fair,
            self.before,
            pair.days.first,
            pair.before.first,
            pair.count,
            is_count=self.is_count,
        )


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
    def is_aged(self) -> bool:
        """Whether it is that of those who have had the days to buy."""
        return bool(self.pair and self.pair.within)

    @property
    def shown(self) -> tuple[int, int]:
        """The counts of the rate that pages show."""
        return self.fair or (0, 0) if self.is_aged else (self.hits, self.trials)

    @property
    def value(self) -> float | None:
        """The rate that pages show."""
        hits, trials = self.shown
        return percent(hits, trials) if trials else None

    @property
    def interval(self) -> Interval:
        return statistics.of_rate(*self.shown)

    @property
    def fair_rate(self) -> float | None:
        """In per cent; None where nobody was there, or nothing is compared."""
        return percent(*self.fair) if self.fair and self.fair[1] else None

    @property
    def before_rate(self) -> float | None:
        """In per cent; None where nobody was there, or nothing is compared."""
        return percent(*self.before) if self.before and self.before[1] else None

    @property
    def is_few(self) -> bool:
        """Whether one of the rates that are compared, else the one that is shown, is of a small sample."""
        compared = [each[1] for each in (self.fair, self.before) if each]
        return min(compared or [self.trials]) < FEW

    @property
    def p_value(self) -> float | None:
        """That chance makes such a difference; None where nothing is compared, or with few."""
        if not self.fair or not self.before or self.is_few:
            return None
        return statistics.p_different(*self.fair, *self.before)

    @property
    def is_chance(self) -> bool:
        """Whether 0 lies in the interval of the difference."""
        assert self.fair
        assert self.before
        return statistics.of_difference(*self.fair, *self.before).has_zero


@dataclass(frozen=True, slots=True)
class ComparedRow:
    """`now` is a row of an answer over the days that are shown. `pair_of` the names of its figures is the
    days over which they are compared, None where nothing is, and `sides` of these days the row on them and
    before. A row that an answer leaves out has only zeros: {}; it is None where it can be in the sum of
    others. `noise_of` is asked for counts and money."""

    now: Line
    pair_of: Callable[..., Pair | None] = lambda *_: None
    sides: Callable[[Pair], tuple[Line | None, Line | None]] = lambda _: (None, None)
    noise_of: NoiseOf = lambda _: None

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
            self._noise(name, pair),
            name in FIGURES and FIGURES[name].unit == COUNT,
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

    def _noise(self, name: str, pair: Pair | None) -> Noise | None:
        # The known daily values are not those of orders within some days of a submission.
        if pair is None or pair.reason or pair.within:
            return None
        return self.noise_of(name)

    def _sides(self, *names: str) -> tuple[Pair | None, Line | None, Line | None]:
        pair = self.pair_of(*names)
        if pair is None or not pair.has_days:
            return pair, None, None
        fair, before = self.sides(pair)
        return pair, fair, None if pair.reason or pair.is_alone else before


@dataclass(frozen=True)
class ComparedRows:
    """The rows of a report (`now`), to be set beside those with the same `keys`. `read` gives the rows of the
    days of a pair, and those before; `noise_of` the noise of a figure of a row, or of all rows (None)."""

    now: Rows
    keys: tuple[str, ...]
    pair_of: Callable[..., Pair | None]
    read: Callable[[Pair], tuple[Rows, Rows]]
    noise_of: Callable[[Line | None, str], Noise | None] = lambda *_: None
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

        return ComparedRow(line, self.pair_of, sides, lambda name: self.noise_of(line, name))

    def total(self, add_up: Callable[[Rows], Line]) -> ComparedRow:
        """All rows together: sums, and the quotients of the sums (`Row.total`)."""

        def sides(pair: Pair) -> tuple[Line, Line]:
            fair, before = self.read(pair)
            return add_up(fair), add_up(before)

        noise_of = partial(self.noise_of, None)
        return ComparedRow(add_up(self.now), self.pair_of, sides, noise_of)

    def _key(self, row: Line) -> tuple[Any, ...]:
        return tuple(row[key] for key in self.keys)


def _of(key: tuple[Any, ...], rows: Mapping[tuple[Any, ...], Line]) -> Line | None:
    """The row with this key. One that is not among them has only zeros, or can be in their sum of others."""
    missing: Line | None = None if any(OTHER in each for each in rows) else {}
    return rows.get(key, missing)
