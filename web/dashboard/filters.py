"""The filters of a page (contract 4, "Filters"): in its address by their names in the API, as chips above it,
and as the values of its days to choose from. A value that no filter can have is a 400: a page of all form
sessions would be taken for one of some.

`against=device:desktop` sets the same page with another value of one of its filters beside it: two columns,
with verdicts on the difference.
"""

from collections.abc import Mapping, Sequence
from typing import Final

from werkzeug.datastructures import MultiDict

from web.api.filters import FILTERS, NONE
from web.dashboard import formatting
from web.dashboard.answers import Answers
from web.dashboard.selection import Selection, address
from web.http.date_range import Window
from web.http.errors import malformed
from web.http.parameters import INVALID_FILTER, quoted
from web.reports.filter_values import filter_values

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
