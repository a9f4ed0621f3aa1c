"""Ad spend (18)."""

from typing import Annotated, Literal, TypedDict

from msgspec import Meta


class AdSpendRow(TypedDict):
    """A campaign and a currency of its spend. Spend is dated by the platform's date, which is taken as the
    shop's day; submissions and orders are dated by their own day. Orders that belong to no campaign are in
    the last row: its `campaignName` is `unattributed`, its other texts are empty. Order: spend descending,
    provider, campaignId."""

    provider: Annotated[str, Meta(description="The ad provider: `meta`, `google`, `tiktok`, ...")]
    campaignId: Annotated[str, Meta(description="The provider's id of the campaign.")]
    campaignName: Annotated[str, Meta(description="The campaign's latest name.")]
    currency: Annotated[str, Meta(description="The currency of `spend` (ISO 4217).")]
    spend: Annotated[
        float,
        Meta(
            description="Spend in major units of `currency`; negative if credits exceed the cost."
        ),
    ]
    impressions: Annotated[int, Meta(ge=0, description="Impressions that the provider reports.")]
    clicks: Annotated[int, Meta(ge=0, description="Clicks that the provider reports.")]
    attributedSubmissions: Annotated[
        int,
        Meta(
            ge=0,
            description="Submissions whose UTM values belong to the campaign. If a campaign has spend in "
            "two currencies, its submissions and orders are in the row with more spend.",
        ),
    ]
    attributedOrders: Annotated[
        int,
        Meta(
            ge=0,
            description="Orders whose UTM values, or those of their submission, belong to the campaign.",
        ),
    ]
    attributedNetRevenueCents: Annotated[
        int,
        Meta(ge=0, description="Net revenue of these orders, in minor units of `revenueCurrency`."),
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
            description="Net revenue / spend, a plain ratio to 4 decimals. The revenue is converted into "
            "`currency` at the exchange rate of each order's day; without a rate, `roas` is 0."
        ),
    ]


Reason = Literal["no_exchange_rate", "stale", "sync_failed"]


class UnavailableProvider(TypedDict):
    """A provider whose figures are incomplete, and the reason."""

    provider: Annotated[str, Meta(description="The ad provider.")]
    reason: Annotated[
        Reason,
        Meta(
            description="`sync_failed`: the last pull of an account failed. `stale`: the last pull of an "
            "account is older than the end of the window, or older than 48 hours if that end is in the "
            "future. `no_exchange_rate`: the day of an order has no rate into the currency of the spend."
        ),
    ]
    lastSyncedAt: Annotated[
        str | None,
        Meta(
            description="The last pull of the affected account, the earliest of several; null if there is "
            "no account.",
            extra_json_schema={"format": "date-time"},
        ),
    ]


class AdSpend(TypedDict):
    """Ad spend and its return. The rows add up to the shop's orders."""

    rows: list[AdSpendRow]
    attributionCoverage: Annotated[
        dict[str, float | None],
        Meta(
            description="By provider: the percentage of the window's submissions from this provider (by "
            "`utm_source`) whose campaign is known; null if there are no such submissions."
        ),
    ]
    unavailableProviders: Annotated[
        list[UnavailableProvider],
        Meta(description="One entry per provider and reason. Order: provider, reason."),
    ]
