"""The whole shop: attribution and discounts (14, 15, 16)."""

from typing import Annotated, TypedDict

from msgspec import Meta

from web.shapes.figures import (
    AttributionType,
    AverageOrderValueCents,
    GrossRevenueCents,
    Money,
    NetRevenueCents,
    OfDay,
    TotalRefundedCents,
)


class OfAttributionType(TypedDict):
    """What is about one way in which orders are credited."""

    attributionType: AttributionType


class AttributionRow(OfAttributionType, Money):
    """A way in which orders are credited; the four rows add up to the shop, by the day of the order
    (order clock). Order: `discount_code`, `customer`, `visitor`, `unattributed`."""

    averageOrderValueCents: AverageOrderValueCents
    shareOfRevenue: Annotated[
        float,
        Meta(
            ge=0,
            description="`netRevenueCents` in percent of the four rows' (daily: of the day's).",
        ),
    ]


class DailyAttributionRow(OfDay, AttributionRow):
    """A way in which the orders of a day are credited; the four rows of a day add up to the shop, by
    the day of the order (order clock). Order: date, then `discount_code`, `customer`, `visitor`,
    `unattributed`; no day is left out."""


class DiscountRow(TypedDict):
    """A discount that was issued or used in the window. An order with two discounts is in two rows,
    with its whole revenue. Order: orders descending, issued descending, discountId."""

    discountId: Annotated[
        str,
        Meta(
            description="The discount's id; without one, `form:` and the form's id for a form's pool "
            "of single-use codes, else the upper-cased code itself."
        ),
    ]
    code: Annotated[
        str | None,
        Meta(
            description="The upper-cased code, where the discount ever had exactly one; else null."
        ),
    ]
    issued: Annotated[
        int, Meta(ge=0, description="Submissions of the window that were issued the discount.")
    ]
    orders: Annotated[int, Meta(ge=0, description="Orders of the window that used it.")]
    attributedOrders: Annotated[
        int, Meta(ge=0, description="Those of them that are attributed by a discount code.")
    ]
    redemptionRate: Annotated[
        float,
        Meta(
            ge=0,
            description="`orders` / `issued` x 100, to 2 decimals: above 100 where a code is also had "
            "elsewhere; 0 where none was issued.",
        ),
    ]
    discountCents: Annotated[
        int,
        Meta(
            ge=0,
            description="What it took off these orders, in minor units of the shop's currency.",
        ),
    ]
    grossRevenueCents: GrossRevenueCents
    totalRefundedCents: TotalRefundedCents
    netRevenueCents: NetRevenueCents
    averageOrderValueCents: AverageOrderValueCents
