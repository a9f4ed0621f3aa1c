"""The filters of a page (contract 4, "Filters"): in its address by their names in the API, as chips above it,
and as the values of its days to choose from. A value that no filter can have is a 400: a page of all form
sessions would be taken for one of some.
"""

from collections.abc import Mapping
from typing import Final

from werkzeug.datastructures import MultiDict

from web.api.filters import FILTERS, NONE
from web.dashboard import formatting
from web.dashboard.answers import Answers
from web.dashboard.selection import address
from web.http.date_range import Window
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


def read_filters(asked: MultiDict[str, str]) -> dict[str, str]:
    """Those of an address. One without a value is none: a form sends it so. Raises the 400s."""
    values = {each.name: each.parse([*filter(None, asked.getlist(each.name))]) for each in FILTERS}
    return {name: value for name, value in values.items() if value is not None}


def chips(filters: Mapping[str, str]) -> list[tuple[str, str, str]]:
    """(name, value, address without it) of each filter."""
    return [(LABELS[name], value, address(**{name: ""})) for name, value in filters.items()]


def filter_address(**values: str) -> str:
    """The page at hand with these filters besides, by their names; an empty UTM value is one."""
    return address(**{name: value or NONE for name, value in values.items()})


def choices(
    answers: Answers, window: Window, form_id: str
) -> list[tuple[str, str, list[tuple[str, str]]]]:
    """(name in addresses, name, choices) of each filter that form sessions of these days have a value of, or
    that is given; a choice is (value, what it is called)."""
    found: dict[str, dict[str, str]] = {name: {} for name in LABELS}
    for row in answers.data(filter_values, window, form_id):
        text = f"{row['value']} ({formatting.count(row['views'])})"
        found[row["filter"]][row["value"]] = text
    for name, value in answers.filters.items():
        found[name].setdefault(value, value)
    return [
        (name, LABELS[name], [*texts.items()])
        for name, texts in found.items()
        if texts.keys() - {NONE} or name in answers.filters
    ]
