"""`/`: the shop at a glance."""

from typing import Any, Final

from sqlalchemy import Connection, func, select

from warehouse.domain.rounding import percent
from warehouse.operations.form_rules import is_counted
from warehouse.tables import form
from web.api.forms import all_forms_funnel
from web.dashboard import formatting
from web.dashboard.ads import spend_by_currency
from web.dashboard.comparable import ORDERS
from web.dashboard.compare import ComparedRow
from web.dashboard.forms_table import COLUMNS, MARKS, ShopForms, shop_forms
from web.dashboard.page import Page, View
from web.dashboard.revenue import CAMPAIGN_MARKS, CAMPAIGNS_AT_A_GLANCE, campaign_rows, days_of
from web.dashboard.table import Card, card, table
from web.dashboard.worth_a_look import worth_a_look
from web.http.parameters import ORDER_CLOCK
from web.reports.ads import ad_spend
from web.reports.attribution import ROW, attribution

# Forms and campaigns at a glance; their own pages have all.
_FORMS: Final = 10
_CAMPAIGNS: Final = 6


def overview(view: View) -> Page:
    forms, campaigns = shop_forms(view), campaign_rows(view)
    revenue = view.compared(attribution, "attributionType", made_of=(ORDERS,))
    rows = forms.with_names(forms.all_names)
    return view.page(
        "overview.html",
        cards=_cards(view, revenue.total(ROW.total), forms),
        spent=[
            sums for sums in spend_by_currency(view) if sums["spend"] or sums.amount("spend").before
        ],
        **days_of(view),
        forms=table(
            view,
            "forms",
            COLUMNS,
            rows,
            "-revenue",
            marks=MARKS,
            sums=forms.sums,
            most=_FORMS,
            noun="",
            is_exact=False,
            empty="No form was viewed in these days.",
        ),
        shown_forms=min(len(rows), _FORMS),
        all_forms=_count_forms(view.answers.connection, view.shop.key) + len(forms.unlisted),
        campaigns=table(
            view,
            "campaigns",
            CAMPAIGNS_AT_A_GLANCE,
            [row for row in campaigns if row["attributedOrders"]],
            marks=CAMPAIGN_MARKS,
            most=_CAMPAIGNS,
            noun="",
            is_exact=False,
            empty="No order in these days is credited to a submission.",
        ),
        notes=worth_a_look(view, view.data(ad_spend), forms),
        is_empty=not (
            forms.rows.now
            or campaigns
            or any(row["orders"] for row in revenue.now)
            or view.data(ad_spend)["rows"]
            or view.data(all_forms_funnel)
        ),
    )


def _cards(view: View, revenue: ComparedRow, forms: ShopForms) -> list[Card]:
    total, currency, net = forms.total, view.shop.currency, "netRevenueCents"
    if forms.clock == ORDER_CLOCK:
        credited = _share(total, revenue) or "orders in these days"
    else:
        credited = "from sign-ups of these days, to date"
    return [
        card("Net revenue", net, revenue.amount(net), "orders in these days", currency),
        card("Credited to forms", net, total.amount(net), credited, currency),
        card("Orders", "orders", revenue.amount("orders"), "orders in these days"),
        card("Submissions", "submissions", total.amount("submissions"), "in these days"),
        card(
            "Sign-ups that bought",
            "conversionRate",
            total.rate("convertedSubmissions", "submissions"),
            "of the submissions in these days, to date",
        ),
    ]


def _share(credited: ComparedRow, revenue: ComparedRow) -> str:
    """The credited share of the net revenue; "" where there is no revenue."""
    net: Any = revenue["netRevenueCents"]
    share = formatting.percent(percent(credited["netRevenueCents"], net)) if net > 0 else ""
    return share and f"{share} of net revenue; orders in these days"


def _count_forms(connection: Connection, shop_key: int) -> int:
    statement = select(func.count()).select_from(form)
    statement = statement.where(form.c.shop_key == shop_key, is_counted())
    return int(connection.execute(statement).scalar_one())
