"""START HERE for comparisons: the days over which two figures may be set beside each other, the figures of
both, and how likely chance makes such a difference.

A figure is compared over whole days of the shop's data, as many on both sides. One on the submission clock
grows for as long as its submissions can be credited with orders, so it is compared at equal age too: over the
submissions that have had `within` days to buy, with the orders of so many days. Two filters side by side are
compared over the same days. No other comparison can be made.

A figure has up to three sides: `now`, of the days that are shown, to date; and over the days of a `Pair` the
one that is compared (`fair`) and the former one (`before`). Its `p_value` is that of the change; only
`changes.py` makes a verdict of it, together with all others of the page.

Where another filter stands beside the page's, `before` is that of the same days under the other, and `other`
the one to date.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, timedelta
from functools import cached_property, partial
from typing import Any, Final

from sqlalchemy import Connection, func, select

from warehouse.domain.figures import COUNT, FIGURES
from warehouse.domain.rounding import cents, percent
from warehouse.domain.time import day_date, day_number
from warehouse.tables import DAILY, ad_spend
from web.api.equal_age import window_days
from web.api.row_limit import OTHER
from web.dashboard import formatting, statistics
from web.dashboard.selection import Selection
from web.dashboard.statistics import FEW, Noise
from web.http.current_request import Shop
from web.http.date_range import Window, parse_range

# Why nothing is compared, as `data-change` says it.
TOO_YOUNG: Final = "too-young"
NO_DATA: Final = "no-data"
NOT_COMPARED: Final = "not-compared"

# The data that figures are made of: each has a first day.
EVENTS: Final = "events"
ORDERS: Final = "orders"
SPEND: Final = "spend"
# The summaries that have the first days of events and of orders.
_SUMMARIES: Final = {EVENTS: "all_forms", ORDERS: "attribution"}


@dataclass(frozen=True, slots=True)
class Pair:
    """`days` and as many `before`; `is_shown` where they are all that the page shows, to date. Where they
    cannot be compared, `reason` is one of those above, and `since` the day from which they can be
    (TOO_YOUNG), or on which the data begin (NO_DATA). `is_alone` where the page compares nothing: then `days`
    are those that are old enough. `against` is what the page has in place of former days."""

    days: Window
    before: Window
    within: int | None = None
    is_shown: bool = False
    reason: str = ""
    since: date | None = None
    is_alone: bool = False
    against: str = ""

    @property
    def beside(self) -> str:
        """The name of the other side; "" for former days."""
        return self.against.partition(":")[2]

    @property
    def has_days(self) -> bool:
        """Whether there is a figure of `days`."""
        return self.reason in ("", NO_DATA)

    @property
    def count(self) -> int:
        """The number of days of each side."""
        return self.days.last - self.days.first + 1

    @property
    def days_text(self) -> str:
        """`2026-01-01..2026-01-31`"""
        return _text(self.days)

    @property
    def before_text(self) -> str:
        return _text(self.before)

    @property
    def label(self) -> str:
        """The words that tell the compared figure from the one that is shown."""
        if self.within is None:
            return f"until {formatting.short_day(day_date(self.days.last))}"
        return f"within {formatting.counted(self.within, 'day')}"

    @property
    def sentence(self) -> str:
        """The reason why nothing is compared, for people; "" where something is."""
        if self.reason == TOO_YOUNG and self.since:
            return f"too young to compare, from {formatting.day(self.since)} on"
        if self.reason == NO_DATA:
            since = self.since
            return f"data begin on {formatting.day(since)}" if since else "no data yet"
        return "not compared: today is not over" if self.reason else ""


@dataclass(frozen=True)
class Comparable:
    """The pairs of a page. `first_days` are those of some data, by name, where they are known."""

    connection: Connection
    shop: Shop
    selection: Selection
    today: int
    first_days: dict[str, int | None] = field(default_factory=dict)

    @property
    def window_days(self) -> int:
        """The days of the attribution window."""
        return window_days(self.shop)

    @property
    def within(self) -> int:
        """The days to buy: those of the address, else the most that leave half of the whole days old
        enough."""
        if self.selection.within:
            return self.selection.within
        whole = self._whole_days
        for within in (7, 3):
            if within <= self.window_days and 2 * self._old_enough(within) >= max(whole, 1):
                return within
        return 1

    @property
    def horizon(self) -> str:
        """`within` in words."""
        return formatting.counted(self.within, "day")

    def whole_days(self, *data: str) -> Pair | None:
        """The whole days that are compared; None where the page compares nothing. `data` are those that the
        figure is made of."""
        if against := self.selection.against:
            window = self.selection.window
            return Pair(window, window, is_shown=True, against=against)
        return self._pair(self._whole_days, 1, None, data)

    def equal_age(self, *data: str, within: int | None = None) -> Pair | None:
        """The days that are old enough. `within`: other days to buy than those of the page. Days to buy that
        somebody has chosen need one day that is old enough, others half of the whole ones."""
        chosen = within or self.selection.within
        days = chosen or self.within
        least = 1 if chosen else max(1, -(-self._whole_days // 2))
        return self._pair(self._old_enough(days), least, days, data)

    @property
    def most_days(self) -> int:
        """The most days to buy that half of the whole days that are shown are old enough for; 0 for none."""
        half = max(1, -(-self._whole_days // 2))
        ages = range(self.window_days, 0, -1)
        return next((days for days in ages if self._old_enough(days) >= half), 0)

    def days_of_age(self, within: int) -> Window:
        """The days that are shown and are so many whole days old."""
        return self._window(day_date(self.selection.window.first), self._old_enough(within))

    def old_enough(self) -> tuple[Window, int] | None:
        """The days that are shown and old enough, and the days to buy: what two forms are compared over. None
        where there are no such days."""
        within = self.within
        return (self.days_of_age(within), within) if self._old_enough(within) > 0 else None

    def begins(self, *data: str) -> int:
        """The first day on which all of these data are known; that of today where one is not."""
        known = []
        for name in data or (EVENTS, ORDERS):
            if name not in self.first_days:
                days, is_of_shop = ad_spend.c, ad_spend.c.shop_key == self.shop.key
                if name != SPEND:
                    days = DAILY[_SUMMARIES[name]].c
                    is_of_shop = days.edition == self.shop.edition
                first_day = select(func.min(days.day)).where(is_of_shop)
                self.first_days[name] = self.connection.execute(first_day).scalar()
            known.append(self.first_days[name])
        return max((day for day in known if day is not None), default=self.today)

    @property
    def sentences(self) -> list[str]:
        """Sentences on how the page compares figures."""
        whole, aged = self.whole_days(EVENTS), self.equal_age()
        assert aged
        bought = (
            f"Sign-ups that bought: {aged.sentence}."
            if aged.reason == TOO_YOUNG
            else f"Sign-ups that bought are those of {_days(aged.days)} who bought {aged.label}: "
            "later ones have not had so long."
        )
        if whole is None:
            return [bought]
        if whole.against:
            own, other = self.selection.sides
            return [
                f"{own} beside {other}, both in {_days(whole.days)}.",
                bought,
                "≈ stands where chance makes such a difference by itself: of a rate by its people, of counts "
                "and money by what their difference does from day to day in the 56 days before the end. An "
                "arrow and a colour stand where it does not, among all differences of the page together.",
            ]
        if whole.reason:
            return [f"{whole.sentence[0].upper()}{whole.sentence[1:]}.", bought]
        return [
            f"{_days(whole.days)} beside {_days(whole.before)}: whole days, as many on both sides.",
            bought,
            "≈ stands where chance makes such a change by itself: a rate by its people, counts and money by "
            "what the 56 days before the end do from day to day. An arrow and a colour stand where it does "
            "not, among all changes of the page together. A dash stands where nothing can be compared.",
        ]

    @property
    def _whole_days(self) -> int:
        window = self.selection.window
        return min(window.last, self.today - 1) - window.first + 1

    def _old_enough(self, within: int) -> int:
        window = self.selection.window
        return min(window.last, self.today - within - 1) - window.first + 1

    def _pair(
        self, count: int, least: int, within: int | None, data: tuple[str, ...]
    ) -> Pair | None:
        """The first `count` days that are shown beside as many before; `least` are enough."""
        window = self.selection.window
        first, days = day_date(window.first), max(count, 1)
        against = self.selection.against
        former = first if against else self.selection.former(first, days)
        if former is None:
            if within is None:
                return None
            alone = self._window(first, days)
            young = TOO_YOUNG if count < 1 else ""
            since = later(first, 1 + within) if young else None
            return Pair(alone, alone, within, reason=young, since=since, is_alone=True)
        reason, since = "", None
        begins = self.begins(*data)
        if count < least and within:
            # A range that goes on can get as many days old enough as it needs.
            all_days = window.last - window.first + 1
            needed = max(least, 1 if self.selection.within else -(-all_days // 2))
            reason, since = TOO_YOUNG, later(first, needed + within)
        elif count < least:
            reason = NOT_COMPARED
        elif day_number(former) <= begins and not against:
            # The first day has a part of its data.
            reason, since = NO_DATA, day_date(begins) if begins < self.today else None
        compared, before = self._window(first, days), self._window(former, days)
        is_shown = within is None and compared == window
        return Pair(compared, before, within, is_shown, reason, since, against=against)

    def _window(self, first: date, days: int) -> Window:
        return parse_range(
            f"{first}..{first + timedelta(days - 1)}", self.today, self.shop.timezone
        )


def later(day: date, days: int) -> date:
    """The day so many days later, at most the calendar's last one."""
    return date.fromordinal(min(day.toordinal() + days, date.max.toordinal()))


def _text(window: Window) -> str:
    return f"{day_date(window.first)}..{day_date(window.last)}"


def _days(window: Window) -> str:
    first, last = day_date(window.first), day_date(window.last)
    if first == last:
        return formatting.day(first)
    return f"{formatting.short_day(first)} to {formatting.day(last)}"


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
        """The probability that chance makes such a change; None where nothing is compared, with few people,
        and where nothing is known of its noise."""
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
        """All rows, in the order of the answer."""
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
