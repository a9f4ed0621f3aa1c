"""Customer lifetime value (19)."""

from typing import Annotated, Literal, TypedDict

from msgspec import Meta

from warehouse.vocabulary import LTV_HORIZONS
from web.shapes.figures import (
    AverageOrderValueCents,
    FieldId,
    GrossRevenueCents,
    NetRevenueCents,
    OfForm,
    TotalRefundedCents,
)

LtvCents = Annotated[int, Meta(ge=0, description="`netRevenueCents` / `customers`.")]


class Horizon(TypedDict):
    """The first so many days of customers, of those who have had so many days since."""

    days: Annotated[
        int,
        Meta(
            description="How far it reaches, from the acquiring submission on.",
            extra_json_schema={"enum": list(LTV_HORIZONS)},
        ),
    ]
    customers: Annotated[
        int,
        Meta(
            ge=0, description="Customers of the window acquired at least so many days before today."
        ),
    ]
    netRevenueCents: Annotated[
        int,
        Meta(
            ge=0,
            description="Net revenue of their orders less than `days` x 24 h after that submission.",
        ),
    ]
    ltvCents: LtvCents


class CustomerFigures(TypedDict):
    """Customers acquired in the window, and all that they did since, to date."""

    customers: Annotated[
        int,
        Meta(
            ge=0,
            description="Distinct customers acquired in the window: whose first submission to the "
            "form (of a segment: with that answer) is in it.",
        ),
    ]
    purchasers: Annotated[int, Meta(ge=0, description="Those of them with an order since.")]
    orders: Annotated[
        int, Meta(ge=0, description="All their orders from that submission on, to date.")
    ]
    grossRevenueCents: GrossRevenueCents
    totalRefundedCents: TotalRefundedCents
    netRevenueCents: NetRevenueCents
    ltvCents: LtvCents
    averageOrderValueCents: AverageOrderValueCents
    ordersPerCustomer: Annotated[
        float, Meta(ge=0, description="`orders` / `customers`, to 2 decimals.")
    ]
    repeatRate: Annotated[
        float,
        Meta(
            ge=0, description="Those with two orders or more / `purchasers` x 100, to 2 decimals."
        ),
    ]
    horizons: Annotated[list[Horizon], Meta(description="The five horizons, from the nearest on.")]


class LtvFormRow(OfForm, CustomerFigures):
    """The customers that a form won. Order: netRevenueCents descending, formId."""


class OfSegment(TypedDict):
    """What is about one answer to a field, on any form."""

    fieldId: FieldId
    value: Annotated[str, Meta(description="The answer, as text.")]


class LtvSegmentRow(OfSegment, CustomerFigures):
    """The customers that gave an answer. Order: netRevenueCents descending, fieldId, value."""


class LtvByForm(TypedDict):
    """`dimension=form`."""

    dimension: Annotated[Literal["form"], Meta(description="The one that was asked for.")]
    rows: list[LtvFormRow]


class LtvBySegment(TypedDict):
    """`dimension=segment`."""

    dimension: Annotated[Literal["segment"], Meta(description="The one that was asked for.")]
    rows: list[LtvSegmentRow]


LifetimeValue = LtvByForm | LtvBySegment
