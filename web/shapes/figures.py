"""Fields that several rows share, each with its one definition."""

from typing import Annotated, TypedDict

from msgspec import Meta

from warehouse.vocabulary import ATTRIBUTION_TYPES, DEVICES

FormId = Annotated[str, Meta(description="The form's id.", extra_json_schema={"format": "uuid"})]
Date = Annotated[
    str,
    Meta(description="A day of the shop's calendar.", extra_json_schema={"format": "date"}),
]
DeviceType = Annotated[
    str,
    Meta(
        description="Kind of device of the form session's earliest event that names one; `other` "
        "where none does.",
        extra_json_schema={"enum": [name for name in DEVICES if name]},
    ),
]
AttributionType = Annotated[
    str,
    Meta(
        description="How an order is credited to a submission of the 30 days (or the service's own "
        "window) before it, the first that applies: `discount_code`, the submission was issued a code "
        "that the order used; `customer`, both are the same customer's; `visitor`, both are the same "
        "visitor's; else `unattributed`.",
        extra_json_schema={"enum": list(ATTRIBUTION_TYPES)},
    ),
]
Views = Annotated[
    int,
    Meta(
        ge=0,
        description="Form sessions by the day of their first `view`. A form session is one showing "
        "of a form to a visitor, and counts once, however often an event repeats.",
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
        description="Form sessions that subscribed or completed, by the day on which they first did.",
    ),
]
ConvertedSubmissions = Annotated[
    int,
    Meta(
        ge=0,
        description="Submissions to which at least one order is attributed, ever, by the day of the "
        "submission.",
    ),
]
Orders = Annotated[int, Meta(ge=0, description="Orders, tests aside; cancelled ones too.")]
GrossRevenueCents = Annotated[
    int,
    Meta(
        ge=0,
        description="What the orders came to, in minor units of the shop's currency, before refunds.",
    ),
]
TotalRefundedCents = Annotated[
    int,
    Meta(
        ge=0,
        description="What was paid back of these orders to date, in minor units of the shop's "
        "currency; of a cancelled order, all of it.",
    ),
]
NetRevenueCents = Annotated[
    int, Meta(ge=0, description="`grossRevenueCents` less `totalRefundedCents`.")
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
    """What form sessions reached."""

    views: Views
    starts: Starts
    subscriptions: Subscriptions
    completions: Completions
    submissions: Submissions
    convertedSubmissions: ConvertedSubmissions


class FormFigures(Milestones, Money):
    """Milestones and the outcome of submissions."""


class FormRates(TypedDict):
    """How many of those who see a form submit it, and how many of these buy."""

    submissionRate: SubmissionRate
    conversionRate: ConversionRate


class OfForm(TypedDict):
    """What is about one form."""

    formId: FormId


class OfDay(TypedDict):
    """What is about one day."""

    date: Date
