"""Revenue by UTM (17)."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from operator import itemgetter
from typing import Final

import numpy as np

from warehouse.daily.group_sum import Column, distinct, total
from warehouse.daily.reader import Sums, stacked
from warehouse.domain.figures import OUTCOME, REVENUE, count, money
from warehouse.domain.hash_ids import SEPARATOR, text_id
from warehouse.domain.vocabulary import ATTRIBUTION_TYPES, UNATTRIBUTED, UTM_FIELDS
from web.api.endpoint import get
from web.api.query import Query
from web.api.row_limit import OTHER, Texts, TextsOf
from web.api.rows import Answer, Row, by_dimension, ranked, text
from web.http.parameters import ORDER_CLOCK

Columns = dict[str, Column]

# fmt: off
_SOURCE_CAMPAIGN: Final = (
    text("utmSource", "Source", "`utm_source`; empty if there is none."),
    text("utmCampaign", "Campaign", "`utm_campaign`; empty if there is none."),
)
CAMPAIGN: Final = Row(
    "UtmCampaignRow",
    """Source x campaign. Submissions are dated by their own day (submission clock). Orders are the
    credited ones, by the day of the order (order clock), with the UTM values of their submission; if that
    has none, with their own. Order: netRevenueCents descending, utmSource, utmCampaign.""",
    *_SOURCE_CAMPAIGN,
    count("submissionCount", "Submissions",
        "Submissions of the window with these UTM values.",
        "Submissions of these days that came by this campaign.",
        measure="submissions"),
    "convertedSubmissions attributedOrders",
    money("attributedRevenueCents", "Before refunds",
        "The total of these orders; the same as `grossRevenueCents`.",
        "The total of these orders, before anything was paid back.",
        measure="gross"),
    f"conversionRate {REVENUE}",
    clock=ORDER_CLOCK,
    owner="Submissions count on their own day; the orders that were credited to a submission count on "
    "the day of the order, for the campaign that brought the submission.",
)
ATTRIBUTION: Final = Row(
    "AttributionUtmRow",
    """Attribution type x source x campaign of all orders, by the day of the order (order clock). The rows
    add up to the shop. UTM values are those of the submission to which the order is credited; if that has
    none, the order's own. Order: netRevenueCents descending, then the text columns.""",
    text("attributionType", "Credited",
        "How the orders are credited to submissions, as in `/v1/attribution`; `(other)` in the row "
        "with the sums of the others.",
        enum=[*ATTRIBUTION_TYPES, OTHER]),
    *_SOURCE_CAMPAIGN,
    OUTCOME,
    clock=ORDER_CLOCK,
    owner="All orders of these days, also those that no form brought, so the rows add up to the shop.",
)
HIERARCHY: Final = Row(
    "UtmHierarchyRow",
    """Five UTM values of all orders, by the day of the order (order clock). The rows add up to the shop.
    UTM values are those of the submission to which the order is credited; if that has none, the order's
    own. Order: netRevenueCents descending, then the text columns.""",
    *_SOURCE_CAMPAIGN,
    text("utmMedium", "Medium", "`utm_medium`; empty if there is none."),
    text("utmTerm", "Term", "`utm_term`; empty if there is none."),
    text("utmContent", "Content", "`utm_content`; empty if there is none."),
    OUTCOME,
    clock=ORDER_CLOCK,
    owner="All orders of these days, also those that no form brought, so the rows add up to the shop. "
    "An order counts for the campaign that brought its submission, or else its buyer.",
)
# fmt: on
# The UTM values in a row's texts, by the name of the text, as their places in `UTM_FIELDS`.
_FIELDS: Final = {
    "utmSource": UTM_FIELDS.index("utm_source"),
    "utmCampaign": UTM_FIELDS.index("utm_campaign"),
    "utmMedium": UTM_FIELDS.index("utm_medium"),
    "utmTerm": UTM_FIELDS.index("utm_term"),
    "utmContent": UTM_FIELDS.index("utm_content"),
}


def _campaign_cells(query: Query) -> Columns:
    """Submissions on the submission clock, attributed orders on the order clock."""
    outcomes = query.outcomes("utm_submission", by=("utm",))
    submissions = {name: outcomes[name] for name in ("utm", "submissions", "converted")}
    orders = query.cells("utm_order", ("type", "utm"))
    is_attributed = orders.pop("type") != UNATTRIBUTED
    # All orders here are attributed.
    attributed = {"attributed": orders["orders"]}
    orders = {name: column[is_attributed] for name, column in (orders | attributed).items()}
    return stacked([*(submissions | orders)], submissions, orders)


# By dimension: its row, and its cells by UTM.
_DIMENSIONS: Final[dict[str, tuple[Row, Callable[[Query], Columns]]]] = {
    "campaign": (CAMPAIGN, _campaign_cells),
    "attribution": (ATTRIBUTION, lambda query: query.cells("utm_order", ("type", "utm"))),
    "hierarchy": (HIERARCHY, lambda query: query.cells("utm_order", ("utm",))),
}


@get(
    "/revenue/by-utm",
    "analytics:read",
    by_dimension("Revenue", **{dimension: row for dimension, (row, _) in _DIMENSIONS.items()}),
    limited=True,
)
def revenue_by_utm(query: Query, dimension: str) -> Answer:
    """Revenue by campaign, by attribution type or by the UTM hierarchy.

    `{dimension, rows}`. Order: netRevenueCents descending, then the text columns. At most 10,000 rows; the
    others are summed in the row `(other)`.
    """
    row, cells_of = _DIMENSIONS[dimension]
    cells = cells_of(query)
    fields = [_FIELDS[name] for name in row.given if name in _FIELDS]
    ids, index = distinct(cells.pop("utm"))
    chosen = itemgetter(*fields)
    # Rows with equal values of these fields are a group. It is told by an id of the texts, which are far
    # longer.
    group_ids = np.fromiter(
        (text_id(SEPARATOR.join(chosen(utm))) for utm in query.each_utm(ids)),
        dtype=np.int64,
        count=len(ids),
    )
    _, first, group = np.unique(group_ids, return_index=True, return_inverse=True)
    # For each group the UTM id of one of its rows.
    cells["group"], some_utm = group[index], ids[first]
    by = [name for name in ("type", "group") if name in cells]

    def texts_of(*keys: Column) -> TextsOf:
        def texts(rows: Column) -> Iterator[Texts]:
            utms = map(chosen, query.each_utm(some_utm[keys[-1][rows]]))
            if len(keys) == 1:
                return utms
            types = (ATTRIBUTION_TYPES[type] for type in keys[0][rows].tolist())
            return ((type, *utm) for type, utm in zip(types, utms, strict=True))

        return texts

    sums, limit = Sums(total(cells, by)), query.limits.rows
    answer = ranked(row, sums, by, texts_of, "netRevenueCents", limit)
    return replace(answer, data={"dimension": dimension, "rows": answer.data})
