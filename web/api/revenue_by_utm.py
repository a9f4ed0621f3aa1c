"""Revenue by UTM (17)."""

from collections.abc import Callable, Iterator, Sequence
from operator import itemgetter
from typing import Any, Final, cast

import numpy as np

from warehouse.daily.group_sum import Column, distinct, total
from warehouse.domain.hash_ids import SEPARATOR, text_id
from warehouse.domain.vocabulary import ATTRIBUTION_TYPES, UNATTRIBUTED, UTM_FIELDS
from web.api.endpoint import Answer, Endpoint
from web.api.endpoint import blueprint as resource
from web.api.figures import figures, with_figures
from web.api.query import Query
from web.api.row_limit import limit_rows, other_rows
from web.api.schemas.envelope import LimitedMeta
from web.api.schemas.figures import Money
from web.api.schemas.revenue import RevenueByUtm, UtmCampaignFigures
from web.http.parameters import dimension as one_of

_SOURCE: Final = UTM_FIELDS.index("utm_source")
_CAMPAIGN: Final = UTM_FIELDS.index("utm_campaign")
_MEDIUM: Final = UTM_FIELDS.index("utm_medium")
_TERM: Final = UTM_FIELDS.index("utm_term")
_CONTENT: Final = UTM_FIELDS.index("utm_content")

Columns = dict[str, Column]


def revenue_by_utm(query: Query, dimension: str) -> Answer[RevenueByUtm]:
    """Revenue by campaign, by attribution type or by the UTM hierarchy.

    `{dimension, rows}`. Order: netRevenueCents descending, then the text columns. At most 10,000 rows; the
    others are summed in the row `(other)`.
    """
    return _DIMENSIONS[dimension](query)


def _campaigns(query: Query) -> Answer[RevenueByUtm]:
    """Source x campaign: submissions on the submission clock, attributed orders on the order clock."""
    outcomes = query.outcomes("utm_submission", within=None, by=("utm",))
    # Orders and revenue are on the order clock.
    submissions = {name: outcomes[name] for name in ("utm", "submissions", "converted")}
    orders = query.cells("utm_order", ("type", "utm"))
    is_attributed = orders.pop("type") != UNATTRIBUTED
    # All orders here are attributed.
    attributed = {"attributed": orders["orders"]}
    orders = {name: column[is_attributed] for name, column in (orders | attributed).items()}
    cells = _one_below_the_other(submissions, orders)
    return _answer(query, "campaign", cells, (_SOURCE, _CAMPAIGN), UtmCampaignFigures)


def _attribution(query: Query) -> Answer[RevenueByUtm]:
    """Attribution type x source x campaign, over all orders by their effective UTM."""
    orders = query.cells("utm_order", ("type", "utm"))
    return _answer(query, "attribution", orders, (_SOURCE, _CAMPAIGN), Money)


def _hierarchy(query: Query) -> Answer[RevenueByUtm]:
    """Source, campaign, medium, term and content, over all orders by their effective UTM."""
    orders = query.cells("utm_order", ("utm",))
    fields = (_SOURCE, _CAMPAIGN, _MEDIUM, _TERM, _CONTENT)
    return _answer(query, "hierarchy", orders, fields, Money)


def _answer(
    query: Query, dimension: str, cells: Columns, fields: Sequence[int], shape: type[Any]
) -> Answer[RevenueByUtm]:
    """The sums of cells by some of the UTM fields; by attribution type first, if the cells have it."""
    names = [_NAMES[field] for field in fields]
    groups, some_utm = _grouped(query, cells.pop("utm"), fields)
    by = ["group"]
    if "type" in cells:
        names, by = ["attributionType", *names], ["type", "group"]
    keys, sums = with_figures(total({**cells, "group": groups}, by), by)
    texts_of = itemgetter(*fields)

    def texts(rows: Column) -> Iterator[tuple[str, ...]]:
        utms = map(texts_of, query.each_utm(some_utm[keys[-1][rows]]))
        if len(by) == 1:
            return utms
        types = (ATTRIBUTION_TYPES[type] for type in keys[0][rows].tolist())
        return ((type, *utm) for type, utm in zip(types, utms, strict=True))

    found = limit_rows(sums, (sums["gross"] - sums["refunded"],), texts, query.limits.rows)
    rows = [
        {**dict(zip(names, row, strict=True)), **figures(shape, line)} for row, line in found.rows()
    ]
    data = cast(RevenueByUtm, {"dimension": dimension, "rows": rows})
    return Answer(data, meta=other_rows(found.others))


def _grouped(query: Query, utms: Column, fields: Sequence[int]) -> tuple[Column, Column]:
    """For each row the number of its group: rows with equal values of these fields are one. For each group
    the UTM id of one of its rows."""
    ids, index = distinct(utms)
    texts_of = itemgetter(*fields)
    # Ids of the texts, which are far shorter than the texts themselves.
    group_ids = np.fromiter(
        (text_id(SEPARATOR.join(texts_of(utm))) for utm in query.each_utm(ids)),
        dtype=np.int64,
        count=len(ids),
    )
    _, first, group = np.unique(group_ids, return_index=True, return_inverse=True)
    return group[index], ids[first]


def _one_below_the_other(above: Columns, below: Columns) -> Columns:
    """The rows of both, with 0 where one lacks a column."""
    rows = [len(columns["utm"]) for columns in (above, below)]
    return {
        name: np.concatenate(
            [
                columns.get(name, np.zeros(count, dtype=np.int64))
                for columns, count in zip((above, below), rows, strict=True)
            ]
        )
        for name in above | below
    }


_NAMES: Final = {
    _SOURCE: "utmSource",
    _CAMPAIGN: "utmCampaign",
    _MEDIUM: "utmMedium",
    _TERM: "utmTerm",
    _CONTENT: "utmContent",
}

_DIMENSIONS: Final[dict[str, Callable[[Query], Answer[RevenueByUtm]]]] = {
    "campaign": _campaigns,
    "attribution": _attribution,
    "hierarchy": _hierarchy,
}

blueprint = resource(
    "revenue",
    Endpoint(
        "GET",
        "/revenue/by-utm",
        "analytics:read",
        revenue_by_utm,
        (one_of(*_DIMENSIONS),),
        meta=LimitedMeta,
    ),
)
