"""START HERE for comparisons: the days over which two figures may be set beside each other.

A figure is compared over whole days of the shop's data, as many on both sides. One on the submission clock
grows for as long as its submissions can be credited with orders, so it is compared at equal age too: over the
submissions that have had `within` days to buy, with the orders of so many days. Two filters side by side are
compared over the same days. No other comparison can be made: `compare.py` gets both sides of every figure
from here.
"""

from dataclasses import dataclass, field
from datetime import date, timedelta
from typing import Final

from sqlalchemy import Connection, func, select

from warehouse.domain.time import day_date, day_number
from warehouse.tables import DAILY, ad_spend
from web.api.equal_age import window_days
from web.dashboard import formatting
from web.dashboard.selection import Selection
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
        """How many days each side has."""
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
        """Why nothing is compared."""
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
        """Those of attribution."""
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
        """None where the page compares nothing. `data` are those that the figure is made of."""
        if against := self.selection.against:
            window = self.selection.window
            return Pair(window, window, is_shown=True, against=against)
        return self._pair(self._whole_days, 1, None, data)

    def equal_age(self, *data: str, within: int | None = None) -> Pair | None:
        """`within`: other days to buy than those of the page. Days to buy that somebody has chosen need one
        day that is old enough, others half of the whole ones."""
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
        """How the page compares figures."""
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
    """So many days later, at most the calendar's last day."""
    return date.fromordinal(min(day.toordinal() + days, date.max.toordinal()))


def _text(window: Window) -> str:
    return f"{day_date(window.first)}..{day_date(window.last)}"


def _days(window: Window) -> str:
    first, last = day_date(window.first), day_date(window.last)
    if first == last:
        return formatting.day(first)
    return f"{formatting.short_day(first)} to {formatting.day(last)}"
