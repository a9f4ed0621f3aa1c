"""The filters of a page (contract 4, "Filters"): in its address by their names in the API, as chips above it,
and as the values of its days to choose from. A value that no filter can have is a 400: a page of all form
sessions would be taken for one of some.
"""

from collections.abc import Mapping
from typing import Any, Final

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
    """(name in addresses, name, choices) of each filter that tells these days' form sessions apart, or is
    given; a choice is (value, what it is called)."""
    found: dict[str, list[tuple[str, str]]] = {
        name: [] if name not in answers.filters else [(answers.filters[name], "")]
        for name in LABELS
    }
    rows: list[dict[str, Any]] = answers.data(filter_values, window, form_id)
    for row in rows:
        named = row["value"], f"{row['value']} ({formatting.count(row['views'])})"
        given = [each for each in found[row["filter"]] if each[0] != row["value"]]
        found[row["filter"]] = [*given, named]
    return [
        (name, LABELS[name], [(value, text or value) for value, text in values])
        for name, values in found.items()
        if any(value != NONE for value, _ in values) or name in answers.filters
    ]
