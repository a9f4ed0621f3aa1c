"""Revenue by UTM (17)."""

from typing import Annotated, Literal, TypedDict

from msgspec import Meta

from web.shapes.figures import (
    ConversionRate,
    ConvertedSubmissions,
    GrossRevenueCents,
    Money,
    NetRevenueCents,
    TotalRefundedCents,
)
from web.shapes.shop import OfAttributionType


class OfCampaign(TypedDict):
    """What is about one source and campaign."""

    utmSource: Annotated[str, Meta(description="`utm_source`; empty where there is none.")]
    utmCampaign: Annotated[str, Meta(description="`utm_campaign`; empty where there is none.")]


class OfDetail(TypedDict):
    """What is about one medium, term and content."""

    utmMedium: Annotated[str, Meta(description="`utm_medium`; empty where there is none.")]
    utmTerm: Annotated[str, Meta(description="`utm_term`; empty where there is none.")]
    utmContent: Annotated[str, Meta(description="`utm_content`; empty where there is none.")]


class UtmCampaignRow(OfCampaign):
    """Source x campaign. Submissions by their own day (submission clock); orders that are attributed,
    by the day of the order (order clock) and the UTM of their submission, where it has any, else their
    own. Order: netRevenueCents descending, utmSource, utmCampaign."""

    submissionCount: Annotated[
        int, Meta(ge=0, description="Submissions of the window with these UTM values.")
    ]
    convertedSubmissions: ConvertedSubmissions
    attributedOrders: Annotated[
        int, Meta(ge=0, description="Orders of the window that are attributed to a submission.")
    ]
    attributedRevenueCents: Annotated[
        int, Meta(ge=0, description="What they came to: the same as `grossRevenueCents`.")
    ]
    conversionRate: ConversionRate
    grossRevenueCents: GrossRevenueCents
    totalRefundedCents: TotalRefundedCents
    netRevenueCents: NetRevenueCents


class AttributionUtmRow(OfAttributionType, OfCampaign, Money):
    """Attribution type x source x campaign of all orders, by the day of the order (order clock): the
    rows add up to the shop. The UTM is that of the submission that an order is attributed to, where
    it has any, else its own. Order: netRevenueCents descending, then the texts."""


class UtmHierarchyRow(OfCampaign, OfDetail, Money):
    """Five UTM values of all orders, by the day of the order (order clock): the rows add up to the
    shop. The UTM is that of the submission that an order is attributed to, where it has any, else its
    own. Order: netRevenueCents descending, then the texts."""


class RevenueByCampaign(TypedDict):
    """`dimension=campaign`."""

    dimension: Annotated[Literal["campaign"], Meta(description="The one that was asked for.")]
    rows: list[UtmCampaignRow]


class RevenueByAttribution(TypedDict):
    """`dimension=attribution`."""

    dimension: Annotated[Literal["attribution"], Meta(description="The one that was asked for.")]
    rows: list[AttributionUtmRow]


class RevenueByHierarchy(TypedDict):
    """`dimension=hierarchy`."""

    dimension: Annotated[Literal["hierarchy"], Meta(description="The one that was asked for.")]
    rows: list[UtmHierarchyRow]


RevenueByUtm = RevenueByCampaign | RevenueByAttribution | RevenueByHierarchy
