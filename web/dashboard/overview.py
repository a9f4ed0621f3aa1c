"""`/`: the shop at a glance."""

from typing import Any, Final

from warehouse.domain.rounding import percent
from web.dashboard.ads import by_currency
from web.dashboard.campaigns import campaign_rows, campaigns
from web.dashboard.comparison import Amount, Rate, sum_of
from web.dashboard.page import View
from web.dashboard.revenue import days_of
from web.dashboard.shop_forms import COLUMNS, active_forms, form_lines
from web.dashboard.sorting import sorted_table
from web.dashboard.worth_a_look import worth_a_look

# Forms and campaigns at a glance; their own pages have all.
_FORMS: Final = 8
_CAMPAIGNS: Final = 6

Rows = list[dict[str, Any]]


def overview(view: View) -> str:
    revenue, former_revenue = view.data("/attribution"), view.before("/attribution")
    by_campaign, former_by_campaign = campaign_rows(view)
    ads, former_ads = view.data("/ads/spend"), view.before("/ads/spend")
    lines = form_lines(view, active_forms(view))
    forms = sorted_table("forms", lines, COLUMNS, "-views")
    return view.render(
        "overview.html",
        cards=_revenue_cards(revenue, former_revenue)
        | _submission_cards(by_campaign, former_by_campaign),
        shares=[_credited_share(rows) for rows in (revenue, former_revenue) if rows],
        spent=[
            total
            for total in by_currency(ads, former_ads, view.shop.currency)
            if total.line.spend or total.spend.before
        ],
        **days_of(view),
        forms=forms,
        shown=forms.rows[:_FORMS],
        more_forms=len(lines) - _FORMS,
        campaigns=[
            campaign
            for campaign in campaigns(by_campaign, former_by_campaign)
            if campaign.orders.now
        ][:_CAMPAIGNS],
        notes=worth_a_look(view, ads, lines[:_FORMS]),
        is_empty=not (
            view.data("/forms/funnel") or by_campaign or _sum(revenue, "orders") or ads["rows"]
        ),
    )


def _revenue_cards(rows: Rows, before: Rows | None) -> dict[str, Amount]:
    """On the order clock."""
    credited = _credited(rows)
    return {
        "net": sum_of("netRevenueCents", rows, before),
        "credited": sum_of("netRevenueCents", credited, before and _credited(before)),
        "orders": sum_of("orders", rows, before),
    }


def _submission_cards(rows: Rows, before: Rows | None) -> dict[str, Amount | Rate]:
    """On the submission clock: each submission has one campaign, or none, which is a row as well."""
    submissions = sum_of("submissionCount", rows, before)
    converted = sum_of("convertedSubmissions", rows, before)
    return {
        "submissions": submissions,
        "conversion": Rate(converted.now, submissions.now, converted.before, submissions.before),
    }


def _credited_share(rows: Rows) -> float | None:
    """The credited share of the net revenue, in per cent; None where there is none."""
    net = _sum(rows, "netRevenueCents")
    return percent(_sum(_credited(rows), "netRevenueCents"), net) if net > 0 else None


def _credited(rows: Rows) -> Rows:
    return [row for row in rows if row["attributionType"] != "unattributed"]


def _sum(rows: Rows, name: str) -> int:
    return sum(row[name] for row in rows)
