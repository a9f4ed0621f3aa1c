"""Reports on the whole shop: attribution (14, 15) and discounts (16)."""

from typing import Annotated, TypedDict

from msgspec import Meta

from web.api.schemas.figures import (
    AttributionType,
    AverageOrderValueCents,
    GrossRevenueCents,
    Money,
    NetRevenueCents,
    PerDay,
    TotalRefundedCents,
)


class PerAttributionType(TypedDict):
    """The column that says which attribution type a row is about."""

    attributionType: AttributionType


class AverageOrder(TypedDict):
    """The average of the orders."""

    averageOrderValueCents: AverageOrderValueCents


class AttributionFigures(Money, AverageOrder):
    """Orders and revenue of an attribution type."""


class AttributionRow(PerAttributionType, AttributionFigures):
    """The orders of one attribution type, by the day of the order (order clock). The four rows add up to
    the shop. Order: `discount_code`, `customer`, `visitor`, `unattributed`."""

    shareOfRevenue: Annotated[
        float,
        Meta(
            ge=0,
            description="`netRevenueCents` as a percentage of the four rows; in the daily report, of the "
            "day's four rows.",
        ),
    ]


class DailyAttributionRow(PerDay, AttributionRow):
    """One day's orders of one attribution type, by the day of the order (order clock). The four rows of a
    day add up to the shop. Order: date, then `discount_code`, `customer`, `visitor`, `unattributed`. No
    day is left out."""


class PerDiscount(TypedDict):
    """The columns that say which discount a row is about."""

    discountId: Annotated[
        str,
        Meta(
            description="The discount's id. A form's pool of single-use codes without an id has `form:` "
            "and the form's id; any other code without an id is its own, in upper case."
        ),
    ]
    code: Annotated[
        str | None,
        Meta(
            description="The code in upper case, if the discount ever had exactly one; else null."
        ),
    ]


class DiscountFigures(TypedDict):
    """How often a discount was issued and used, and the revenue of its orders."""

    issued: Annotated[
        int,
        Meta(ge=0, description="Submissions of the window to which the discount was issued."),
    ]
    orders: Annotated[int, Meta(ge=0, description="Orders of the window that used the discount.")]
    attributedOrders: Annotated[
        int, Meta(ge=0, description="Those orders that are credited by a discount code.")
    ]
    redemptionRate: Annotated[
        float,
        Meta(
            ge=0,
            description="`orders` / `issued` x 100, to 2 decimals. It is above 100 if the code was also "
            "given out elsewhere, and 0 if none was issued.",
        ),
    ]
    discountCents: Annotated[
        int,
        Meta(
            ge=0,
            description="The amount that the discount took off these orders, in minor units of the shop's "
            "currency.",
        ),
    ]
    grossRevenueCents: GrossRevenueCents
    totalRefundedCents: TotalRefundedCents
    netRevenueCents: NetRevenueCents
    averageOrderValueCents: AverageOrderValueCents


class DiscountRow(PerDiscount, DiscountFigures):
    """A discount that was issued or used in the window. An order with two discounts is in both rows, each
    time with its whole revenue. Order: orders descending, issued descending, discountId."""
