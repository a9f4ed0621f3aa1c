"""Revenue by UTM (17)."""

from typing import Annotated, Literal, TypedDict

from msgspec import Meta

from warehouse.domain.vocabulary import ATTRIBUTION_TYPES
from web.api.row_limit import OTHER
from web.api.schemas.figures import (
    ConversionRate,
    ConvertedSubmissions,
    GrossRevenueCents,
    Money,
    NetRevenueCents,
    TotalRefundedCents,
)


class PerCampaign(TypedDict):
    """The columns that say which source and campaign a row is about."""

    utmSource: Annotated[str, Meta(description="`utm_source`; empty if there is none.")]
    utmCampaign: Annotated[str, Meta(description="`utm_campaign`; empty if there is none.")]


class PerDetail(TypedDict):
    """The columns that say which medium, term and content a row is about."""

    utmMedium: Annotated[str, Meta(description="`utm_medium`; empty if there is none.")]
    utmTerm: Annotated[str, Meta(description="`utm_term`; empty if there is none.")]
    utmContent: Annotated[str, Meta(description="`utm_content`; empty if there is none.")]


class UtmCampaignFigures(TypedDict):
    """Submissions, and credited orders, with the same UTM values."""

    submissionCount: Annotated[
        int, Meta(ge=0, description="Submissions of the window with these UTM values.")
    ]
    convertedSubmissions: ConvertedSubmissions
    attributedOrders: Annotated[
        int, Meta(ge=0, description="Orders of the window that are credited to a submission.")
    ]
    attributedRevenueCents: Annotated[
        int,
        Meta(ge=0, description="The total of these orders; the same as `grossRevenueCents`."),
    ]
    conversionRate: ConversionRate
    grossRevenueCents: GrossRevenueCents
    totalRefundedCents: TotalRefundedCents
    netRevenueCents: NetRevenueCents


class UtmCampaignRow(PerCampaign, UtmCampaignFigures):
    """Source x campaign. Submissions are dated by their own day (submission clock). Orders are the
    credited ones, by the day of the order (order clock), with the UTM values of their submission; if that
    has none, with their own. Order: netRevenueCents descending, utmSource, utmCampaign."""


class PerAttributionTypeOrOther(TypedDict):
    """The column that says which attribution type a row is about."""

    attributionType: Annotated[
        str,
        Meta(
            description="How the orders are credited to submissions, as in `/v1/attribution`; `(other)` in "
            "the row with the sums of the others.",
            extra_json_schema={"enum": [*ATTRIBUTION_TYPES, OTHER]},
        ),
    ]


class AttributionUtmRow(PerAttributionTypeOrOther, PerCampaign, Money):
    """Attribution type x source x campaign of all orders, by the day of the order (order clock). The rows
    add up to the shop. UTM values are those of the submission to which the order is credited; if that has
    none, the order's own. Order: netRevenueCents descending, then the text columns."""


class UtmHierarchyRow(PerCampaign, PerDetail, Money):
    """Five UTM values of all orders, by the day of the order (order clock). The rows add up to the shop.
    UTM values are those of the submission to which the order is credited; if that has none, the order's
    own. Order: netRevenueCents descending, then the text columns."""


class RevenueByCampaign(TypedDict):
    """`dimension=campaign`."""

    dimension: Annotated[Literal["campaign"], Meta(description="The requested dimension.")]
    rows: list[UtmCampaignRow]


class RevenueByAttribution(TypedDict):
    """`dimension=attribution`."""

    dimension: Annotated[Literal["attribution"], Meta(description="The requested dimension.")]
    rows: list[AttributionUtmRow]


class RevenueByHierarchy(TypedDict):
    """`dimension=hierarchy`."""

    dimension: Annotated[Literal["hierarchy"], Meta(description="The requested dimension.")]
    rows: list[UtmHierarchyRow]


RevenueByUtm = RevenueByCampaign | RevenueByAttribution | RevenueByHierarchy
