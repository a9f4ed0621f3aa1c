"""The links of the frame: other days, and other days to compare them with. Each keeps the rest of the
address, and most have a key, which `static/dashboard.js` reads from them."""

from dataclasses import dataclass
from typing import Final

from warehouse.domain.time import day_date
from web.dashboard import formatting
from web.dashboard.address import address, carried
from web.dashboard.selection import COMPARISONS, RANGES, Selection, window_of

# The keys of Plausible, which people know.
_KEYS: Final = {"today": "D", "yesterday": "E", "7d": "W", "30d": "T", "month": "M"}
_OWN_DAYS: Final = ("range", "from", "to", "page")


@dataclass(frozen=True, slots=True)
class Link:
    """A link of a menu; `key` is empty where it has none."""

    name: str
    address: str
    is_current: bool = False
    key: str = ""


@dataclass(frozen=True)
class DayLinks:
    """`earlier` and `later` lead to as many days before and after; None where there are none. `toggle` is
    the address with a comparison, or without one. `kept` is what the form of own days carries along."""

    ranges: list[Link]
    earlier: Link | None
    later: Link | None
    comparisons: list[Link]
    toggle: str
    kept: dict[str, str]


def day_links(selection: Selection, today: int, timezone: str) -> DayLinks:
    first, last = selection.window.first, selection.window.last
    count = last - first + 1
    end = min(last + count, today)
    return DayLinks(
        ranges=[
            Link(name, _range_address(text), text == selection.range, _KEYS.get(text, ""))
            for text, name in RANGES.items()
        ],
        earlier=_days(first - count, first - 1, today, timezone),
        later=_days(end - count + 1, end, today, timezone) if last < today else None,
        comparisons=[
            Link(name, address(compare=text), text == selection.compare)
            for text, name in COMPARISONS.items()
        ],
        toggle=address(compare="previous" if selection.compare == "none" else "none"),
        kept={name: text for name, text in carried().items() if name not in _OWN_DAYS},
    )


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
            return Link(name, _range_address(text))
    name = f"{formatting.day(one)} to {formatting.day(other)}"
    return Link(name, _range_address(f"{one}..{other}"))


def _range_address(text: str) -> str:
    return address(**{"range": text, "from": "", "to": ""})
