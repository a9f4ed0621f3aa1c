"""The address of a page: the days that it shows, those that it compares them with, and the links to others.

`range`: `today`, `yesterday`, `7-days`, `30-days` (the default), `90-days` and `month`, which end with the
last whole day, `last-month`, or what the API takes (`2026-01-01..2026-01-31`; its `30d` has today).
`compare`: `previous` (the same number of days before; the default), `year` (the same days a year earlier),
`none`. `within`: the days that submissions are given to buy where they are compared. `clock`: whether
revenue is that of the `order`s of these days (the default), or that of their `submission`s. A value that
cannot be read leaves the page on the default and is told beside the control.

The filters of a page (contract 4, "Filters") have their names in the API. They stand as chips above it, and
as the values of its days to choose from. A value that no filter can have is a 400: a page of all form
sessions would be taken for one of some. `against=device:desktop` sets the same page with another value of one
of its filters beside it, in place of a comparison with other days: two columns, with verdicts on the
difference.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, timedelta
from typing import Final
from urllib.parse import urlencode

from flask import request
from werkzeug.datastructures import MultiDict

from warehouse.domain.time import day_date
from web.api.filters import FILTERS, NONE
from web.dashboard import formatting
from web.dashboard.answers import Answers
from web.http.date_range import Window, parse_range
from web.http.errors import Refusal, malformed
from web.http.parameters import INVALID_FILTER, ORDER_CLOCK, SUBMISSION_CLOCK, quoted
from web.reports.filter_values import filter_values

RANGES: Final = {
    "today": "Today",
    "yesterday": "Yesterday",
    "7-days": "Last 7 days",
    "30-days": "Last 30 days",
    "90-days": "Last 90 days",
    "month": "This month",
    "last-month": "Last month",
}
COMPARISONS: Final = {"previous": "the days before", "year": "a year earlier", "none": "nothing"}
CLOCKS: Final = {ORDER_CLOCK: "by order day", SUBMISSION_CLOCK: "by sign-up day"}
_DAYS_TO_BUY: Final = (1, 3, 7, 14)
_DEFAULT_RANGE: Final = "30-days"
# The longest query, in bytes, that the links of a page carry along. They are many, and each repeats it.
_MOST_BYTES: Final = 4_096
# The keys of Plausible, which people know, by the range that they choose.
KEYS: Final = {"today": "D", "yesterday": "E", "7-days": "W", "30-days": "T", "month": "M"}


@dataclass(frozen=True)
class Selection:
    """`window` is shown. `range`, `compare`, `clock` and `within` (None where it is not chosen) are as in the
    address; `is_unfinished` whether the days have today; `problem` says what could not be read,
    `days_problem` what of the days alone. `filters` are the page's, by name, and
    `against` is the other value of one of them (`device:desktop`), if any."""

    range: str
    compare: str
    clock: str
    within: int | None
    window: Window
    first: date
    last: date
    is_unfinished: bool
    problem: str = ""
    days_problem: str = ""
    filters: Mapping[str, str] = field(default_factory=dict)
    against: str = ""

    @property
    def filtered(self) -> dict[str, str]:
        """`query`, and the filters: for links to pages that take them."""
        against = {"against": self.against} if self.against else {}
        return {**self.query, **self.filters, **against}

    @property
    def sides(self) -> tuple[str, str]:
        """The two values of a filter that stand side by side: the page's, and the other; "" without them."""
        name, _, value = self.against.partition(":")
        return self.filters.get(name, ""), value

    @property
    def compared_with(self) -> str:
        """The comparison in words."""
        return self.sides[1] or COMPARISONS[self.compare]

    @property
    def query(self) -> dict[str, str]:
        """The part of the address that links to other pages carry along."""
        chosen = {"range": self.range, "compare": self.compare}
        if self.clock != ORDER_CLOCK:
            chosen["clock"] = self.clock
        return chosen | ({"within": f"{self.within}"} if self.within else {})

    def former(self, first: date, days: int) -> date | None:
        """The first of so many days that those from `first` on are compared with; None where they are
        compared with nothing, or the calendar has no such days."""
        try:
            if self.compare == "none":
                return None
            if self.compare == "year":
                # The 29th of February has the 28th.
                is_leap = (first.month, first.day) == (2, 29)
                return first.replace(year=first.year - 1, day=28 if is_leap else first.day)
            return first - timedelta(days)
        except (OverflowError, ValueError):
            return None


Link = tuple[str, str]
"""The name of days, and the address of the page that shows them."""


def carried() -> dict[str, str]:
    """The parameters of the page at hand; none of an address that is longer than any that pages lead to."""
    return request.args.to_dict() if len(request.query_string) <= _MOST_BYTES else {}


def has_chosen_days() -> bool:
    """Whether the address names days; else each page shows those of its own."""
    return any(request.args.get(name) for name in ("range", "from", "to"))


def address(**changes: str) -> str:
    """The page at hand with other values of some parameters; an empty one goes away.

    A list that is cut into pages begins again at its first one.
    """
    values = carried() | {"page": ""} | changes
    query = urlencode({name: value for name, value in values.items() if value})
    return f"{request.path}?{query}" if query else request.path


def select(
    asked: Mapping[str, str],
    today: int,
    timezone: str,
    window_days: int,
    default_range: str = _DEFAULT_RANGE,
) -> Selection:
    """The selection of an address' query. `from` and `to`, the fields of a form, stand for a range.
    `window_days` are those of attribution: nobody has more to buy."""
    text = asked.get("range", default_range)
    if asked.get("from") or asked.get("to"):
        text = f"{asked.get('from', '')}..{asked.get('to', '')}"
    problem = ""
    try:
        window = window_of(text, today, timezone)
    except Refusal as refusal:
        problem, text = refusal.message.replace("`range`", "The range"), _DEFAULT_RANGE
        window = window_of(text, today, timezone)
    days_problem = problem
    compare = asked.get("compare", "previous")
    if compare not in COMPARISONS:
        problem = problem or f"There is no comparison {compare!r}. Choose one of the list."
        compare = "previous"
    clock = asked.get("clock", ORDER_CLOCK)
    if clock not in CLOCKS:
        problem = problem or f"There is no clock {clock!r}. Choose one of the list."
        clock = ORDER_CLOCK
    choices = {f"{days}": days for days in days_to_buy(window_days)}
    within = asked.get("within", "")
    if within and within not in choices:
        problem = problem or f"Nothing can be compared within {within!r} days. Choose of the list."
    first, last = day_date(window.first), day_date(window.last)
    is_unfinished = window.first <= today <= window.last
    return Selection(
        text,
        compare,
        clock,
        choices.get(within),
        window,
        first,
        last,
        is_unfinished,
        problem,
        days_problem,
    )


def days_to_buy(window_days: int) -> list[int]:
    """The days to buy that can be chosen."""
    return [*(days for days in _DAYS_TO_BUY if days < window_days), window_days]


def window_of(text: str, today: int, timezone: str) -> Window:
    """The days of a value of `range`. Raises the API's refusal."""
    return parse_range(_as_days(text, day_date(today)), today, timezone)


def as_many_days(
    selection: Selection, today: int, timezone: str
) -> tuple[Link | None, Link | None]:
    """Links to as many days before and after; None where there are none."""
    first, last = selection.window.first, selection.window.last
    count = last - first + 1
    # Today is a range of its own: others end with the last whole day.
    end = min(last + count, today if count == 1 else today - 1)
    later = _days(end - count + 1, end, today, timezone) if last < end else None
    return _days(first - count, first - 1, today, timezone), later


def _as_days(text: str, today: date) -> str:
    if text == "today":
        return f"{today}"
    if text == "yesterday":
        return f"{today - timedelta(1)}"
    count, is_named, _ = text.partition("-days")
    if is_named and text in RANGES:
        return f"{today - timedelta(int(count))}..{today - timedelta(1)}"
    first = today.replace(day=1)
    if text == "month":
        # On the first of a month, it has today alone.
        return f"{first}..{max(first, today - timedelta(1))}"
    if text == "last-month":
        last = first - timedelta(1)
        return f"{last.replace(day=1)}..{last}"
    return text


def _days(first: int, last: int, today: int, timezone: str) -> Link | None:
    """Days by their numbers, under the name that they have in the list of ranges, if any."""
    try:
        one, other = day_date(first), day_date(last)
    except OverflowError:
        # The calendar has no such days.
        return None
    for text, name in RANGES.items():
        window = window_of(text, today, timezone)
        if (window.first, window.last) == (first, last):
            return name, range_address(text)
    name = f"{formatting.day(one)} to {formatting.day(other)}"
    return name, range_address(f"{one}..{other}")


def range_address(text: str) -> str:
    """The page at hand over other days."""
    return address(**{"range": text, "from": "", "to": ""})


LABELS: Final = {
    "device": "Device",
    "visitor": "Visitors",
    "utm_source": "Source",
    "utm_medium": "Medium",
    "utm_campaign": "Campaign",
    "utm_term": "Term",
    "utm_content": "Content",
    "variant": "Variant",
}


Choices = tuple[str, str, list[tuple[str, str]]]
"""The name of a filter in addresses, its name, and its values, each with what it is called."""


def read_filters(asked: MultiDict[str, str]) -> dict[str, str]:
    """The filters of an address. One without a value is none: a form sends it so. Raises the 400s."""
    values = {each.name: each.parse([*filter(None, asked.getlist(each.name))]) for each in FILTERS}
    return {name: value for name, value in values.items() if value is not None}


def read_against(asked: Mapping[str, str], filters: Mapping[str, str]) -> str:
    """The other value that stands beside that of one of the page's filters (`device:desktop`); "" without
    any. Raises the 400s: sessions that are on both sides would make their difference look small."""
    text = asked.get("against", "")
    if not text:
        return ""
    name, _, value = text.partition(":")
    if name not in filters or filters[name] == value:
        message = f"`against` is {quoted(text)}. Give another value of one of the page's filters"
        raise malformed(INVALID_FILTER, f"{message}, as in `device=mobile&against=device:desktop`.")
    next(each for each in FILTERS if each.name == name).parse([value])
    return text


def chips(selection: Selection) -> list[tuple[str, str, str]]:
    """(name, value, address without it) of each filter, and of what stands beside it."""
    against, beside = selection.against, selection.sides[1]

    def without(name: str) -> str:
        left = "" if against.startswith(f"{name}:") else against
        return address(**{name: "", "against": left})

    of_filters = [(LABELS[name], value, without(name)) for name, value in selection.filters.items()]
    return [*of_filters, *([("against", beside, address(against=""))] if beside else [])]


def filter_address(**values: str) -> str:
    """The page at hand with these filters besides, by their names; an empty UTM value is one. Nothing stands
    beside it: that may be the same value."""
    return address(against="", **{name: value or NONE for name, value in values.items()})


def others(
    filters: Mapping[str, str], choices: Sequence[Choices]
) -> list[tuple[str, list[tuple[str, str]]]]:
    """(name, values for `against`) of each filter of a page that has other values."""
    found = [
        (label, [(f"{name}:{value}", text) for value, text in values if value != filters[name]])
        for name, label, values in choices
        if name in filters
    ]
    return [(label, values) for label, values in found if values]


def choices(answers: Answers, window: Window, form_id: str) -> list[Choices]:
    """The values to choose of each filter that form sessions of these days have, or that is given. One that
    is given has the values to choose in its place: those under the other filters."""
    found: dict[str, dict[str, str]] = {name: {} for name in LABELS}
    for given in ("", *answers.filters):
        others = {name: text for name, text in answers.filters.items() if name != given}
        for row in answers.under(others).data(filter_values, window, form_id):
            if row["filter"] == given or (not given and row["filter"] not in answers.filters):
                text = f"{row['value']} ({formatting.count(row['views'])})"
                found[row["filter"]][row["value"]] = text
    for name, value in answers.filters.items():
        found[name].setdefault(value, value)
    return [
        (name, LABELS[name], [*texts.items()])
        for name, texts in found.items()
        if texts.keys() - {NONE} or name in answers.filters
    ]
