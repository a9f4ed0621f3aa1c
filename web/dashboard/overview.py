"""`/`: the shop at a glance."""

from typing import Any, Final

from warehouse.domain.rounding import percent
from web.api.forms import all_forms_funnel
from web.dashboard import formatting
from web.dashboard.ads import by_currency
from web.dashboard.compare import ComparedRow, Rows, total
from web.dashboard.forms_table import COLUMNS, active_forms, form_rows
from web.dashboard.page import View
from web.dashboard.revenue import CAMPAIGNS_AT_A_GLANCE, campaign_rows, days_of
from web.dashboard.table import Card, card, table
from web.dashboard.worth_a_look import worth_a_look
from web.reports.ads import ad_spend
from web.reports.attribution import ROW, attribution
from web.reports.revenue_by_utm import CAMPAIGN, revenue_by_utm

# Forms and campaigns at a glance; their own pages have all.
_FORMS: Final = 8
_CAMPAIGNS: Final = 6


def overview(view: View) -> str:
    ads, former_ads = view.data(ad_spend), view.before(ad_spend)
    revenue, campaigns = view.data(attribution), campaign_rows(view)
    forms = form_rows(view, active_forms(view))
    return view.render(
        "overview.html",
        cards=[*_revenue_cards(view), *_submission_cards(view)],
        spent=[
            sums
            for sums in by_currency(ads, former_ads, view.shop.currency)
            if sums["spend"] or (sums.before and sums.before["spend"])
        ],
        **days_of(view),
        forms=table(
            view,
            COLUMNS,
            forms,
            "forms.-views",
            most=_FORMS,
            noun="",
            is_exact=False,
            empty="No form was viewed in these days.",
        ),
        more_forms=len(forms) - _FORMS,
        campaigns=table(
            view,
            CAMPAIGNS_AT_A_GLANCE,
            [row for row in campaigns if row["attributedOrders"]],
            most=_CAMPAIGNS,
            noun="",
            is_exact=False,
            empty="No order in these days is credited to a submission.",
        ),
        notes=worth_a_look(view, ads, forms[:_FORMS]),
        is_empty=not (
            view.data(all_forms_funnel)
            or campaigns
            or any(row["orders"] for row in revenue)
            or ads["rows"]
        ),
    )


def _revenue_cards(view: View) -> list[Card]:
    """On the order clock."""
    rows, before, money = view.data(attribution), view.before(attribution), view.shop.currency
    sums = total(ROW, rows, before)
    credited = total(ROW, _credited(rows), before and _credited(before))
    clock, net = "orders in these days", "netRevenueCents"
    return [
        card("Net revenue", sums.amount(net), clock, money),
        card(
            "Credited to forms",
            credited.amount(net),
            _share(credited, sums) or clock,
            money,
        ),
        card("Orders", sums.amount("orders"), clock),
    ]


def _submission_cards(view: View) -> list[Card]:
    """On the submission clock: each submission has one campaign, or none, which is a row as well."""
    utm: Any = {"report": revenue_by_utm, "dimension": "campaign"}
    before = view.before(**utm)
    sums = total(CAMPAIGN, view.data(**utm)["rows"], before and before["rows"])
    return [
        card("Submissions", sums.amount("submissionCount"), "submissions in these days"),
        card(
            "Conversion",
            sums.rate("convertedSubmissions", "submissionCount"),
            "submissions in these days that bought, to date",
        ),
    ]


def _share(credited: ComparedRow, sums: ComparedRow) -> str:
    """The credited share of the net revenue, and the one before; "" where there is no revenue."""

    def text(part: Any, whole: Any) -> str:
        net = whole["netRevenueCents"] if whole else 0
        return formatting.percent(percent(part["netRevenueCents"], net)) if net > 0 else ""

    now, before = text(credited.now, sums.now), text(credited.before, sums.before)
    return now and f"{now} of net revenue" + (before and f", before {before}")


def _credited(rows: Rows) -> Rows:
    return [row for row in rows if row["attributionType"] != "unattributed"]
