"""Attribution of all the shop's orders: total (14) and daily (15), on the order clock."""

from typing import Any, Final

from warehouse.domain.figures import OUTCOME, percent
from warehouse.domain.vocabulary import ATTRIBUTION_TYPES
from web.api.endpoint import get
from web.api.query import Query
from web.api.rows import DATE, Row, grid, text
from web.http.parameters import ORDER_CLOCK

# fmt: off
_COLUMNS: Final = (
    text("attributionType", "Credited",
        "How an order is credited to a submission. `discount_code`: the order used a code that was "
        "issued to the submission. `customer`: both have the same customer. `visitor`: both have the "
        "same visitor. `unattributed`: there is no such submission. See the chapter on credit.",
        enum=list(ATTRIBUTION_TYPES)),
    f"{OUTCOME} averageOrderValueCents",
    percent("shareOfRevenue", "Share of revenue",
        "`netRevenueCents` as a percentage of the four rows; in the daily report, of the day's four rows.",
        "How much of 100 of the net revenue was credited like this.",
        share_of="netRevenueCents"),
)
ROW: Final = Row(
    "AttributionRow",
    """The orders of one attribution type, by the day of the order (order clock). The four rows add up to
    the shop. Order: `discount_code`, `customer`, `visitor`, `unattributed`.""",
    *_COLUMNS,
    clock=ORDER_CLOCK,
    owner="All orders of these days, each in one row, so the rows add up to the shop. An order is "
    "credited to a submission by a code that the form gave out, else by the same customer, else by the "
    "same browser.",
)
DAILY_ROW: Final = Row(
    "DailyAttributionRow",
    """One day's orders of one attribution type, by the day of the order (order clock). The four rows of a
    day add up to the shop. Order: date, then `discount_code`, `customer`, `visitor`, `unattributed`. No
    day is left out.""",
    DATE, *_COLUMNS,
    clock=ORDER_CLOCK,
    owner="The orders of each day, each in one row, so the rows of a day add up to the shop.",
)
# fmt: on
_TYPES: Final = ("type", tuple(enumerate(ATTRIBUTION_TYPES)))


@get("/attribution", "analytics:read", ROW, page="/revenue")
def attribution(query: Query) -> list[dict[str, Any]]:
    """The shop's revenue by attribution type.

    Four rows in the order of precedence. They add up to the shop.
    """
    return grid(ROW, [query.sums("attribution", by=("type",))], _TYPES)


@get("/attribution/daily", "analytics:read", DAILY_ROW, page="/revenue")
def attribution_daily(query: Query) -> list[dict[str, Any]]:
    """The shop's revenue by attribution type, day by day.

    The same four rows for every day of the window.
    """
    sums = query.sums("attribution", by=("day", "type"))
    return grid(DAILY_ROW, [sums], ("day", list(query.window.dates())), _TYPES)
