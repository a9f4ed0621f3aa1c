"""Customer lifetime value (19)."""

from typing import Annotated, Literal, TypedDict

from msgspec import Meta

from warehouse.domain.vocabulary import LTV_HORIZONS
from web.api.schemas.figures import (
    AverageOrderValueCents,
    FieldId,
    GrossRevenueCents,
    NetRevenueCents,
    TotalRefundedCents,
)

LtvCents = Annotated[int, Meta(ge=0, description="`netRevenueCents` / `customers`.")]


class Horizon(TypedDict):
    """The value of customers in their first `days` days. Only customers acquired at least that many days
    ago are included."""

    days: Annotated[
        int,
        Meta(
            description="The length of the horizon, counted from the acquiring submission.",
            extra_json_schema={"enum": list(LTV_HORIZONS)},
        ),
    ]
    customers: Annotated[
        int,
        Meta(
            ge=0,
            description="Customers of the row who were acquired at least `days` days before today.",
        ),
    ]
    netRevenueCents: Annotated[
        int,
        Meta(
            ge=0,
            description="Net revenue of their orders less than `days` x 24 hours after the submission.",
        ),
    ]
    ltvCents: LtvCents


class LifetimeFigures(TypedDict):
    """Customers acquired in the window, and their orders to date."""

    customers: Annotated[
        int,
        Meta(
            ge=0,
            description="Customers acquired in the window: their first submission to the form, or with "
            "this answer, is in it.",
        ),
    ]
    purchasers: Annotated[int, Meta(ge=0, description="Those with an order since that submission.")]
    orders: Annotated[
        int, Meta(ge=0, description="All their orders since that submission, to date.")
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
            ge=0,
            description="Purchasers with two or more orders / `purchasers` x 100, to 2 decimals.",
        ),
    ]


class CustomerFigures(LifetimeFigures):
    """The same, with horizons."""

    horizons: Annotated[
        list[Horizon], Meta(description="The five horizons, from the shortest to the longest.")
    ]


class PerFormOrOther(TypedDict):
    """The columns that say which form a row is about."""

    formId: Annotated[str, Meta(description="The form's id; `(other)` for the other forms.")]
    formName: Annotated[
        str | None,
        Meta(
            description="The form's name; null if the shop's forms do not include it; `(other)` for the "
            "other forms."
        ),
    ]


class LtvFormRow(PerFormOrOther, CustomerFigures):
    """The customers acquired by one form. Order: netRevenueCents descending, formId."""


class PerAnswer(TypedDict):
    """The columns that say which answer a row is about. Equal field ids of different forms are one
    field."""

    fieldId: FieldId
    value: Annotated[str, Meta(description="The answer, as text.")]


class LtvSegmentRow(PerAnswer, CustomerFigures):
    """The customers acquired with one answer. Order: netRevenueCents descending, fieldId, value."""


class LtvByForm(TypedDict):
    """`dimension=form`."""

    dimension: Annotated[Literal["form"], Meta(description="The requested dimension.")]
    rows: list[LtvFormRow]


class LtvBySegment(TypedDict):
    """`dimension=segment`."""

    dimension: Annotated[Literal["segment"], Meta(description="The requested dimension.")]
    rows: list[LtvSegmentRow]


LifetimeValue = LtvByForm | LtvBySegment
