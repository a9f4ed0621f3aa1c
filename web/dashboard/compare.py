"""Figures beside the same figures of former days, and how likely chance makes such a difference.

A figure has up to three sides: `now`, of the days that are shown, to date; and over the days of a `Pair` the
one that is compared (`fair`) and the former one (`before`). Its `p_value` is that of the change; only
`changes.py` makes a verdict of it, together with all others of the page.

Where another filter stands beside the page's, `before` is that of the same days under the other, and `other`
the one to date.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any

from warehouse.domain.figures import COUNT, FIGURES
from warehouse.domain.rounding import cents, percent
from web.api.row_limit import OTHER
from web.dashboard import statistics
from web.dashboard.comparable import NOT_COMPARED, Pair
from web.dashboard.statistics import FEW, Noise

Line = Mapping[str, Any]
Rows = Sequence[Line]
NoiseOf = Callable[[str], Noise | None]
"""The noise of a row's daily values by the name of the figure; None where it is not known."""


def number(side: Any) -> Any:
    """The number of a side: of counts the rate in per cent, None where nobody was there."""
    if not isinstance(side, tuple):
        return side
    return percent(*side) if side[1] else None


@dataclass(frozen=True, slots=True)
class Value:
    """A figure. A side is a number (a count, a ratio, money in minor units), the counts of a rate (hits,
    trials), or None where there is no such figure; `fair` and `before` also where nothing is compared."""

    now: Any
    fair: Any = None
    before: Any = None
    pair: Pair | None = None
    # That of its daily values.
    noise: Noise | None = None
    is_count: bool = False
    # Whether it is shown at equal age: as that of those who have had the days to buy.
    is_aged: bool = False
    # The p-value of one that has no daily values of its own.
    tested: float | None = None
    other: Any = None

    @property
    def shown(self) -> Any:
        """The side that pages show."""
        return self.fair if self.is_aged and self.pair else self.now

    @property
    def value(self) -> Any:
        """The number that pages show."""
        return number(self.shown)

    def alone(self) -> "Value":
        """The same at equal age, beside no former one."""
        pair = self.pair and replace(self.pair, is_alone=True)
        before = self.before if pair and pair.against else None
        return replace(self, pair=pair, before=before, is_aged=True)

    def beside(self) -> "Value":
        """The other filter's, of the same sessions as `value`."""
        if not (self.is_aged and self.pair):
            return Value(self.other)
        if self.pair.has_days:
            return Value(self.before)
        # No day is old enough, under either filter.
        return Value(self.other, pair=replace(self.pair, is_alone=True), is_aged=True)

    @property
    def fewest(self) -> int:
        """The people of the smaller of the rates that are compared; 0 where none is."""
        return min((side[1] for side in (self.fair, self.before) if side), default=0)

    @property
    def p_value(self) -> float | None:
        """That chance makes such a change; None where nothing is compared, with few people, and where nothing
        is known of its noise."""
        if self.tested is not None or self.fair is None or self.before is None:
            return self.tested
        if isinstance(self.fair, tuple):
            few = self.fewest < FEW
            return None if few else statistics.p_different(*self.fair, *self.before)
        if self.noise is None:
            return None
        assert self.pair
        first, first_before = self.pair.days.first, self.pair.before.first
        return statistics.p_changed(
            *(self.noise, self.fair, self.before, first, first_before, self.pair.count),
            is_count=self.is_count,
        )


@dataclass(frozen=True, slots=True)
class ComparedRow:
    """`now` is a row of an answer over the days that are shown. `pair_of` the names of its figures is the
    days over which they are compared, None where nothing is, and `sides` of these days the row on them and
    before. A row that an answer leaves out has only zeros: {}; it is None where it can be in the sum of
    others. `noise_of` is asked for counts and money. `other` is the row under the other filter, if any."""

    now: Line
    pair_of: Callable[..., Pair | None] = lambda *_: None
    sides: Callable[[Pair], tuple[Line | None, Line | None]] = lambda _: (None, None)
    noise_of: NoiseOf = lambda _: None
    other: Line | None = None

    def __getitem__(self, name: str) -> Any:
        return self.now[name]

    def plus(self, **values: Any) -> "ComparedRow":
        """The row with further values, which are not compared."""
        return replace(self, now={**self.now, **values})

    def value(self, of: Callable[[Line], Any], *names: str) -> Value:
        """The figure that `of` makes of a row, over the days of these names."""
        pair, fair, before = self.pair_of(*names), None, None
        if pair and pair.has_days:
            fair, before = self.sides(pair)
            if pair.reason or pair.is_alone:
                before = None
        now, *sides = (
            None if line is None else of(line) for line in (self.now, fair, before, self.other)
        )
        is_aged = isinstance(now, tuple) and bool(pair and pair.within)
        return Value(now, sides[0], sides[1], pair, is_aged=is_aged, other=sides[2])

    def amount(self, name: str) -> Value:
        value, noise = self.value(lambda line: line.get(name, 0), name), None
        pair, is_count = value.pair, name in FIGURES and FIGURES[name].unit == COUNT
        # The known daily values are not those of orders within some days of a submission.
        if pair and not pair.within and pair.reason in ("", NOT_COMPARED):
            noise = self.noise_of(name)
        return replace(value, noise=noise, is_count=is_count)

    def rate(self, hits: str, trials: str) -> Value:
        return self.value(lambda line: (line.get(hits, 0), line.get(trials, 0)), hits, trials)

    def quotient(self, above: str, below: str) -> Value:
        """Money for each of a count. It has no value, and none before, where the count is 0."""

        def of(line: Line) -> int | None:
            return cents(line.get(above, 0), line[below]) if line.get(below) else None

        return self.value(of, above, below)


@dataclass(frozen=True)
class ComparedRows:
    """The rows of a report (`now`), to be set beside those with the same `keys`. `read` gives the rows of the
    days of a pair, and those before; `noise_of` the noise of a figure of a row, or of all rows (None).
    `others` are the rows under the other filter, if any."""

    now: Rows
    keys: tuple[str, ...]
    pair_of: Callable[..., Pair | None]
    read: Callable[[Pair], tuple[Rows, Rows]]
    noise_of: Callable[[Line | None, str], Noise | None] = lambda *_: None
    others: Rows | None = None
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

        other = None if self.others is None else _of(key, self._others_by_key)
        return ComparedRow(line, self.pair_of, sides, lambda name: self.noise_of(line, name), other)

    @cached_property
    def _others_by_key(self) -> dict[tuple[Any, ...], Line]:
        return {self._key(row): row for row in self.others or ()}

    def total(self, add_up: Callable[[Rows], Line]) -> ComparedRow:
        """All rows together: sums, and the quotients of the sums (`Row.total`)."""

        def sides(pair: Pair) -> tuple[Line, Line]:
            fair, before = self.read(pair)
            return add_up(fair), add_up(before)

        noise_of = partial(self.noise_of, None)
        others = None if self.others is None else add_up(self.others)
        return ComparedRow(add_up(self.now), self.pair_of, sides, noise_of, others)

    def _key(self, row: Line) -> tuple[Any, ...]:
        return tuple(row[key] for key in self.keys)


def _of(key: tuple[Any, ...], rows: Mapping[tuple[Any, ...], Line]) -> Line | None:
    """The row with this key. One that is not among them has only zeros, or can be in their sum of others."""
    missing: Line | None = None if any(OTHER in each for each in rows) else {}
    return rows.get(key, missing)
