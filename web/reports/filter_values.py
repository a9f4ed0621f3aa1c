"""The values by which the figures of some days can be filtered, for pages."""

from collections import Counter
from dataclasses import replace
from typing import Any, Final

from warehouse.catalogue import ATTRIBUTES
from warehouse.domain.vocabulary import DEVICES, UTM_FIELDS
from web.api.endpoint import for_pages
from web.api.filters import FILTERS, NONE, VISITORS
from web.api.query import Query
from web.api.rows import Row, text

# The values of a filter that are named: those with most views.
MOST_VALUES: Final = 40

# fmt: off
ROW: Final = Row(
    "FilterValue",
    "A value of a filter, with the views of the form sessions that have it.",
    text("filter", "Filter", "The name of the filter."),
    text("value", "Value", f"The value, as the filter takes it: `{NONE}` for the empty one."),
    "views",
)
# fmt: on


@for_pages("filter values", ROW, parameters=FILTERS, filters=FILTERS)
def filter_values(query: Query) -> list[dict[str, Any]]:
    """The values that form sessions with a view in the window have, of the form in the path or of all forms,
    among the sessions that the given filters choose: for each filter those with most views, then by name."""
    # Attributes are in crossed rows alone, which only a choice reads: here of any values.
    crossed = query if query.chosen is not None else replace(query, chosen={})
    where = {"form": query.form} if query.form_id else None
    sums = crossed.sums("funnel", by=ATTRIBUTES, where=where)
    utms = dict(zip(sums["utm"].tolist(), query.each_utm(sums["utm"]), strict=True))
    variants = query.texts({each for each in sums["variant"].tolist() if each})
    views: Counter[tuple[str, str]] = Counter()
    for line in sums.rows():
        values = {
            "device": DEVICES[line["device"]],
            "visitor": VISITORS[line["is_first_session"]],
            **dict(zip(UTM_FIELDS, utms[line["utm"]], strict=True)),
            "variant": variants.get(line["variant"], ""),
        }
        for each in FILTERS:
            views[each.name, values[each.name] or NONE] += line["views"]
    found: list[dict[str, Any]] = []
    for each in FILTERS:
        of_filter = [(value, count) for (name, value), count in views.items() if name == each.name]
        seen = sorted((-count, value) for value, count in of_filter if count)
        found += [
            ROW.filled((each.name, value), {"views": -count}) for count, value in seen[:MOST_VALUES]
        ]
    return found
