"""The summaries that an endpoint sums, and the measures of a field, by the names that people know.

The rooms of answers and of jobs do not know each other: a test compares this table with the tables that each
endpoint reads, and the filters with those of answers.
"""

import re
from collections.abc import Iterable
from typing import Final
from urllib.parse import parse_qsl

from warehouse.catalogue import SUMMARY, Summary
from warehouse.domain.figures import FIGURES
from warehouse.domain.vocabulary import UTM_FIELDS

SUMMARIES_OF: Final = {
    "/forms/funnel": ("all_forms",),
    "/forms/{id}/funnel": ("funnel", "outcome"),
    "/forms/{id}/steps/dropoff": ("step",),
    "/forms/{id}/time-to-complete": ("time_to_complete",),
    "/forms/{id}/devices": ("device", "outcome"),
    "/forms/{id}/visitor-conversion": ("visitor",),
    "/forms/{id}/cross-field": ("cross_field",),
    "/forms/{id}/response-revenue": ("funnel", "outcome", "response", "response_outcome"),
    "/forms/{id}/trends": ("funnel", "outcome", "form_orders"),
    "/forms/{id}/time-to-order": ("funnel", "outcome"),
    "/attribution": ("attribution",),
    "/attribution/daily": ("attribution",),
    "/discounts/performance": ("discount",),
    "/revenue/by-utm": ("utm_submission", "utm_outcome", "utm_order"),
    "/revenue/by-form": ("funnel", "outcome", "form_orders", "attribution"),
    "/revenue/new-returning": ("new_returning",),
    "/revenue/new-returning/daily": ("new_returning",),
    "/ads/spend": ("utm_submission", "utm_order"),
    "/customers/ltv": ("ltv_form", "ltv_segment"),
}
"""By the path of an endpoint that sums daily rows, their summaries."""

FILTERS: Final = ("device", "visitor", *UTM_FIELDS[:-1], "variant")
_VERSION: Final = "/v1"
_FORM: Final = re.compile(r"/forms/([0-9a-fA-F-]{36})(?=/)")


def summaries_of(endpoint: str) -> tuple[tuple[Summary, ...], str]:
    """The summaries of an endpoint (`/v1/attribution`, `attribution`) or the one of this name, and the form
    in its path, "" where it names none. Raises ValueError."""
    if endpoint in SUMMARY and f"/{endpoint}" not in SUMMARIES_OF:
        return (SUMMARY[endpoint],), ""
    address, _, query = endpoint.partition("?")
    if filters := [name for name, _ in parse_qsl(query, True) if name in FILTERS]:
        raise ValueError(
            f"{endpoint!r} is filtered by `{filters[0]}`; `explain` knows the rows of all form sessions. "
            "Leave the filter out"
        )
    path = f"/{address.strip('/')}".removeprefix(_VERSION)
    form = _FORM.search(path)
    path = _FORM.sub("/forms/{id}", path)
    if path not in SUMMARIES_OF:
        raise ValueError(
            f"{endpoint!r} sums no daily rows. Give one of {', '.join(SUMMARIES_OF)}; or a summary: "
            f"{', '.join(SUMMARY)}"
        )
    return tuple(SUMMARY[name] for name in SUMMARIES_OF[path]), form[1].lower() if form else ""


def measures_of(field: str, summaries: Iterable[Summary]) -> set[str]:
    """The measures that a field of an answer is made of; a measure may be named itself. Raises ValueError."""
    known = {measure for summary in summaries for measure in summary.measures}
    if found := _measures(field) & known:
        return found
    raise ValueError(
        f"{field!r} is made of no measure of these summaries. They have {', '.join(sorted(known))}"
    )


def _measures(field: str) -> set[str]:
    figure = FIGURES.get(field)
    if figure is None:
        return {field, re.sub(r"(?=[A-Z])", "_", field).lower()}
    parts = [*(figure.less or ()), *(figure.over or ()), *filter(None, [figure.share_of])]
    return set().union(*map(_measures, parts)) if parts else {figure.measure or field}
