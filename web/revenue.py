"""Revenue by UTM (17)."""

from collections.abc import Callable, Sequence
from operator import itemgetter
from typing import Any, Final, cast

import numpy as np

from warehouse.adding import Column, distinct, total
from warehouse.reader import Sums
from warehouse.vocabulary import ATTRIBUTION_TYPES, UNATTRIBUTED, UTM_FIELDS
from web.endpoint import Endpoint
from web.endpoint import blueprint as resource
from web.figures import any_figure, money
from web.parameters import dimension as one_of
from web.questions import Question
from web.rounding import percent
from web.shapes.revenue import RevenueByUtm

Row = dict[str, Any]
Groups = dict[tuple[str, ...], dict[str, int]]

_SOURCE: Final = UTM_FIELDS.index("utm_source")
_CAMPAIGN: Final = UTM_FIELDS.index("utm_campaign")
_MEDIUM: Final = UTM_FIELDS.index("utm_medium")
_TERM: Final = UTM_FIELDS.index("utm_term")
_CONTENT: Final = UTM_FIELDS.index("utm_content")


def revenue_by_utm(question: Question, dimension: str) -> RevenueByUtm:
    """Revenue by campaign, by attribution or down the UTM hierarchy.

    `{dimension, rows}`; the rows by netRevenueCents descending, then their texts.
    """
    names, rows = _DIMENSIONS[dimension](question)
    rows.sort(key=lambda row: (-row["netRevenueCents"], *(row[name] for name in names)))
    return cast(RevenueByUtm, {"dimension": dimension, "rows": rows})


def _campaigns(question: Question) -> tuple[Sequence[str], list[Row]]:
    """Source x campaign: submissions on the submission clock, attributed orders on the order's."""
    names = ("utmSource", "utmCampaign")
    places = (_SOURCE, _CAMPAIGN)
    submissions = _grouped(question, question.cells("utm_submission", ("utm",)), places)
    orders = question.cells("utm_order", ("type", "utm"))
    attributed = orders.pop("type") != UNATTRIBUTED
    orders = {name: column[attributed] for name, column in orders.items()}
    sales = _grouped(question, orders, places)
    rows = []
    for key in submissions.keys() | sales.keys():
        sums = {"submissions": 0, "converted": 0, "orders": 0, "gross": 0, "refunded": 0}
        sums |= submissions.get(key, {}) | sales.get(key, {})
        if any_figure(sums):
            rows.append(
                {
                    **dict(zip(names, key, strict=True)),
                    "submissionCount": sums["submissions"],
                    "convertedSubmissions": sums["converted"],
                    "attributedOrders": sums["orders"],
                    "attributedRevenueCents": sums["gross"],
                    "conversionRate": percent(sums["converted"], sums["submissions"]),
                    "grossRevenueCents": sums["gross"],
                    "totalRefundedCents": sums["refunded"],
                    "netRevenueCents": sums["gross"] - sums["refunded"],
                }
            )
    return names, rows


def _attribution(question: Question) -> tuple[Sequence[str], list[Row]]:
    """Attribution type x source x campaign, over all orders by their effective UTM."""
    names = ("attributionType", "utmSource", "utmCampaign")
    orders = question.cells("utm_order", ("type", "utm"))
    return names, _sales(names, _grouped(question, orders, (_SOURCE, _CAMPAIGN)))


def _hierarchy(question: Question) -> tuple[Sequence[str], list[Row]]:
    """Source, campaign, medium, term and content, over all orders by their effective UTM."""
    names = ("utmSource", "utmCampaign", "utmMedium", "utmTerm", "utmContent")
    orders = question.cells("utm_order", ("utm",))
    places = (_SOURCE, _CAMPAIGN, _MEDIUM, _TERM, _CONTENT)
    return names, _sales(names, _grouped(question, orders, places))


def _sales(names: Sequence[str], groups: Groups) -> list[Row]:
    return [
        {**dict(zip(names, key, strict=True)), **money(sums)}
        for key, sums in groups.items()
        if any_figure(sums)
    ]


def _grouped(question: Question, cells: dict[str, Column], places: Sequence[int]) -> Groups:
    """Cells added up by some of the UTM values, and by attribution type (where they have one) before
    them."""
    keys: dict[tuple[str, ...], int] = {}
    utms, where = distinct(cells["utm"])
    known = question.utms(utms.tolist())
    key_of = itemgetter(*places)
    labels = [keys.setdefault(key_of(known[utm]), len(keys)) for utm in utms.tolist()]
    cells["utm"] = np.array(labels, dtype=np.int64)[where]
    by = [name for name in ("type", "utm") if name in cells]
    texts = list(keys)
    groups: Groups = {}
    for line in Sums(total(cells, by)).rows():
        kind = [ATTRIBUTION_TYPES[line.pop("type")]] if "type" in line else []
        groups[*kind, *texts[line.pop("utm")]] = line
    return groups


_DIMENSIONS: Final[dict[str, Callable[[Question], tuple[Sequence[str], list[Row]]]]] = {
    "campaign": _campaigns,
    "attribution": _attribution,
    "hierarchy": _hierarchy,
}

blueprint = resource(
    "revenue",
    Endpoint("GET", "/revenue/by-utm", "analytics:read", revenue_by_utm, (one_of(*_DIMENSIONS),)),
)
