"""Revenue of new and of returning customers: total and daily (22), on the order clock."""

from typing import Any, Final

from warehouse.domain.figures import OUTCOME, percent
from warehouse.domain.vocabulary import CUSTOMER_TYPES
from web.api.endpoint import get
from web.api.query import Query
from web.api.rows import DATE, Row, grid, text
from web.http.parameters import ORDER_CLOCK

# fmt: off
CUSTOMER_TYPE: Final = text("customerType", "Customer",
    "`new`: the order is the first ever of its customer in the shop, a cancelled one too. `returning`: the "
    "customer has an earlier one. `unknown`: the order names no customer and no e-mail address.",
    enum=list(CUSTOMER_TYPES))
_COLUMNS: Final = (
    CUSTOMER_TYPE,
    f"{OUTCOME} averageOrderValueCents",
    percent("shareOfRevenue", "Share of revenue",
        "`netRevenueCents` as a percentage of the three rows; in the daily report, of the day's three rows.",
        "How much of 100 of the net revenue came from such customers.",
        share_of="netRevenueCents"),
)
ROW: Final = Row(
    "NewReturningRow",
    """The orders of new, of returning or of unknown customers, by the day of the order (order clock). The
    three rows add up to the shop. Order: `new`, `returning`, `unknown`.""",
    *_COLUMNS,
    clock=ORDER_CLOCK,
    owner="All orders of these days, each in one row, so the rows add up to the shop. A customer is new with "
    "their first order ever, and returning with each later one.",
)
DAILY_ROW: Final = Row(
    "DailyNewReturningRow",
    """One day's orders of new, of returning or of unknown customers, by the day of the order (order clock).
    The three rows of a day add up to the shop. Order: date, then `new`, `returning`, `unknown`. No day is
    left out.""",
    DATE, *_COLUMNS,
    clock=ORDER_CLOCK,
    owner="The orders of each day, each in one row, so the rows of a day add up to the shop.",
)
# fmt: on
_TYPES: Final = ("customer_type", tuple(enumerate(CUSTOMER_TYPES)))


@get("/revenue/new-returning", "analytics:read", ROW)
def new_returning(query: Query) -> list[dict[str, Any]]:
    """The shop's revenue from new and from returning customers.

    Three rows. They add up to the shop.
    """
    return grid(ROW, [query.sums("new_returning", by=("customer_type",))], _TYPES)


@get("/revenue/new-returning/daily", "analytics:read", DAILY_ROW)
def new_returning_daily(query: Query) -> list[dict[str, Any]]:
    """The shop's revenue from new and from returning customers, day by day.

    The same three rows for every day of the window.
    """
    sums = query.sums("new_returning", by=("day", "customer_type"))
    return grid(DAILY_ROW, [sums], ("day", list(query.window.dates())), _TYPES)
