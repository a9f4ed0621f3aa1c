"""Fields and groups of fields that several rows share."""

from typing import Annotated, TypedDict

from msgspec import Meta

from warehouse.domain.vocabulary import ATTRIBUTION_TYPES, DEVICES

FormId = Annotated[str, Meta(description="The form's id.", extra_json_schema={"format": "uuid"})]
Date = Annotated[
    str,
    Meta(description="A day of the shop's calendar.", extra_json_schema={"format": "date"}),
]
DeviceType = Annotated[
    str,
    Meta(
        description="The device type of the form session: that of its earliest event with a device type, "
        "or `other` if no event has one.",
        extra_json_schema={"enum": [name for name in DEVICES if name]},
    ),
]
AttributionType = Annotated[
    str,
    Meta(
        description="How an order is credited to a submission. `discount_code`: the order used a code that "
        "was issued to the submission. `customer`: both have the same customer. `visitor`: both have the "
        "same visitor. `unattributed`: there is no such submission. See the chapter on credit.",
        extra_json_schema={"enum": list(ATTRIBUTION_TYPES)},
    ),
]
Views = Annotated[
    int,
    Meta(
        ge=0,
        description="Form sessions by the day of their first `view`. A session counts once, however often "
        "the event repeats.",
    ),
]
Starts = Annotated[int, Meta(ge=0, description="Form sessions by the day of their first `start`.")]
Subscriptions = Annotated[
    int, Meta(ge=0, description="Form sessions by the day of their first `subscribe`.")
]
Completions = Annotated[
    int, Meta(ge=0, description="Form sessions by the day of their first `complete`.")
]
Submissions = Annotated[
    int,
    Meta(
        ge=0,
        description="Form sessions that subscribed or completed, by the day of the earlier of the two.",
    ),
]
ConvertedSubmissions = Annotated[
    int,
    Meta(
        ge=0,
        description="Submissions with at least one order credited to them, by the day of the submission.",
    ),
]
Orders = Annotated[
    int,
    Meta(ge=0, description="Orders. Cancelled ones are included, test orders are not."),
]
GrossRevenueCents = Annotated[
    int,
    Meta(
        ge=0,
        description="The total of the orders before refunds, in minor units of the shop's currency.",
    ),
]
TotalRefundedCents = Annotated[
    int,
    Meta(
        ge=0,
        description="The refunds of these orders to date, in minor units of the shop's currency. A "
        "cancelled order is refunded in full.",
    ),
]
NetRevenueCents = Annotated[
    int, Meta(ge=0, description="`grossRevenueCents` - `totalRefundedCents`.")
]
AverageOrderValueCents = Annotated[
    int, Meta(ge=0, description="`grossRevenueCents` / `orders`; 0 without orders.")
]
SubmissionRate = Annotated[
    float, Meta(ge=0, description="`submissions` / `views` x 100, to 2 decimals; 0 without views.")
]
ConversionRate = Annotated[
    float,
    Meta(
        ge=0,
        description="Converted submissions / submissions x 100, to 2 decimals; 0 without submissions.",
    ),
]
FieldId = Annotated[str, Meta(description="The id of a field of the form.")]


class Money(TypedDict):
    """Orders and their revenue."""

    orders: Orders
    grossRevenueCents: GrossRevenueCents
    totalRefundedCents: TotalRefundedCents
    netRevenueCents: NetRevenueCents


class Milestones(TypedDict):
    """How many form sessions reached each milestone."""

    views: Views
    starts: Starts
    subscriptions: Subscriptions
    completions: Completions
    submissions: Submissions
    convertedSubmissions: ConvertedSubmissions


class FormFigures(Milestones, Money):
    """Milestones, and the orders that followed."""


class FormRates(TypedDict):
    """Rates from view to submission to order."""

    submissionRate: SubmissionRate
    conversionRate: ConversionRate


class PerForm(TypedDict):
    """The columns that say which form a row is about."""

    formId: FormId
    formName: Annotated[
        str | None, Meta(description="The form's name; null if the shop's forms do not include it.")
    ]


class PerDay(TypedDict):
    """The column that says which day a row is about."""

    date: Date
