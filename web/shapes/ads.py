"""Ad spend (18)."""

from typing import Annotated, Literal, TypedDict

from msgspec import Meta


class AdSpendRow(TypedDict):
    """A campaign and a currency of its spend. Spend by the platform's date, taken as the shop's day;
    submissions by their own day; orders by theirs. Last, where there are any, stands the row of the
    orders that belong to no campaign: `campaignName` `unattributed`, other texts empty. Order: spend
    descending, provider, campaignId."""

    provider: Annotated[str, Meta(description="The ad provider: `meta`, `google`, `tiktok`, ...")]
    campaignId: Annotated[str, Meta(description="The provider's id of the campaign.")]
    campaignName: Annotated[str, Meta(description="The campaign's latest name.")]
    currency: Annotated[str, Meta(description="The currency of `spend` (ISO 4217).")]
    spend: Annotated[
        float,
        Meta(description="In major units of `currency`; negative where more was given back."),
    ]
    impressions: Annotated[
        int, Meta(ge=0, description="Impressions, as the provider reports them.")
    ]
    clicks: Annotated[int, Meta(ge=0, description="Clicks, as the provider reports them.")]
    attributedSubmissions: Annotated[
        int,
        Meta(
            ge=0,
            description="Submissions whose UTM names the campaign. Of a campaign with spend in two "
            "currencies, they and the orders stand in the row with more of it.",
        ),
    ]
    attributedOrders: Annotated[
        int, Meta(ge=0, description="Orders whose UTM, or whose submission's, names the campaign.")
    ]
    attributedNetRevenueCents: Annotated[
        int,
        Meta(ge=0, description="Their net revenue, in minor units of `revenueCurrency`."),
    ]
    revenueCurrency: Annotated[str, Meta(description="The shop's currency (ISO 4217).")]
    costPerLead: Annotated[
        float,
        Meta(description="`spend` / `attributedSubmissions`, in `currency`, to 2 decimals."),
    ]
    costPerAcquisition: Annotated[
        float, Meta(description="`spend` / `attributedOrders`, in `currency`, to 2 decimals.")
    ]
    roas: Annotated[
        float,
        Meta(
            description="Net revenue / spend, a plain ratio to 4 decimals, with the revenue brought "
            "into `currency` at each order day's exchange rate; 0 without one (`no_exchange_rate`)."
        ),
    ]


Reason = Literal["no_exchange_rate", "stale", "sync_failed"]


class UnavailableProvider(TypedDict):
    """A provider whose figures are not all there, and why."""

    provider: Annotated[str, Meta(description="The ad provider.")]
    reason: Annotated[
        Reason,
        Meta(
            description="`sync_failed`: the last pull of an account failed. `stale`: it is older than "
            "the end of the window or, if that is in the future, than 48 hours. `no_exchange_rate`: "
            "the day of an order has no rate into the currency of the spend."
        ),
    ]
    lastSyncedAt: Annotated[
        str | None,
        Meta(
            description="The last pull of the account (the earliest of several); null without one.",
            extra_json_schema={"format": "date-time"},
        ),
    ]


class AdSpend(TypedDict):
    """Ad spend, with what came of it. The rows add up to the shop's orders."""

    rows: list[AdSpendRow]
    attributionCoverage: Annotated[
        dict[str, float | None],
        Meta(
            description="By provider: of the window's submissions with one of its `utm_source`s, the "
            "percentage whose campaign is known; null where there are no such submissions."
        ),
    ]
    unavailableProviders: Annotated[
        list[UnavailableProvider],
        Meta(description="One entry per provider and reason. Order: provider, reason."),
    ]
