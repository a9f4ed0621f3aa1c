"""`/`: the shop at a glance."""

from collections.abc import Sequence
from functools import partial
from typing import Final

from sqlalchemy import func, select

from warehouse.domain.rounding import percent
from warehouse.domain.vocabulary import CUSTOMER_TYPES
from warehouse.forms.form_rules import is_counted
from warehouse.tables import form
from web.api.forms import all_forms_funnel
from web.dashboard import formatting
from web.dashboard.ads import ad_card
from web.dashboard.compare import ComparedRow
from web.dashboard.daily_noise import daily_noise, summary
from web.dashboard.forms import MARKS, ShopForms, form_columns, shop_forms
from web.dashboard.page import Page, View
from web.dashboard.revenue import (
    CAMPAIGN_MARKS,
    CAMPAIGNS_AT_A_GLANCE,
    campaign_rows,
    days_of,
    orders_of_campaign,
    shop_revenue,
)
from web.dashboard.table import Card, Table, card, columns_of
from web.dashboard.worth_a_look import worth_a_look
from web.http.parameters import ORDER_CLOCK
from web.reports.ads import ad_spend
from web.reports.attribution import ROW
from web.reports.new_returning import ROW as CUSTOMERS
from web.reports.new_returning import new_returning
from web.reports.revenue_by_form import ROW as FORMS

# Forms and campaigns at a glance; their own pages have all.
_FORMS: Final = 10
_CAMPAIGNS: Final = 4
_of_shop, _of_forms = (partial(columns_of(row), compared=True) for row in (ROW, FORMS))
_column = columns_of(CUSTOMERS)
_CUSTOMERS: Final = (
    _column("customerType"),
    _column("orders"),
    _column("averageOrderValueCents", deep=True),
    _column("shareOfRevenue", deep=True),
    _column("netRevenueCents", compared=True, main=True),
)


def overview(view: View) -> Page:
    forms, whole = shop_forms(view), view.whole
    campaigns, revenue = campaign_rows(whole), shop_revenue(whole)
    rows = forms.with_names(forms.all_names)
    of_shop, *of_forms = _cards(view, revenue.total(ROW.total), forms)
    of_ads = ad_card(whole)
    listed = select(func.count()).select_from(form)
    listed = listed.where(form.c.shop_key == view.shop.key, is_counted())
    all_forms = view.answers.connection.execute(listed).scalar_one() + len(forms.unlisted)
    return view.page(
        "overview.html",
        cards=of_forms if view.selection.filters else [of_shop, *of_forms, of_ads],
        cards_of_shop=[of_shop, of_ads],
        **days_of(whole, revenue),
        forms=Table(
            view,
            "forms",
            form_columns(view),
            rows,
            "-revenue",
            marks=MARKS,
            sums=forms.sums,
            orders=forms.orders_of,
            most=_FORMS,
            noun="",
            is_exact=False,
            empty="No form was viewed in these days.",
        ),
        shown_forms=min(len(rows), _FORMS),
        all_forms=all_forms,
        campaigns=Table(
            whole,
            "campaigns",
            CAMPAIGNS_AT_A_GLANCE,
            [row for row in campaigns if row["attributedOrders"]],
            marks=CAMPAIGN_MARKS,
            orders=orders_of_campaign,
            most=_CAMPAIGNS,
            noun="",
            is_exact=False,
            empty="No order in these days is credited to a submission.",
        ),
        all_campaigns=len(campaigns),
        customers=Table(
            whole,
            "customers",
            _CUSTOMERS,
            _customers(whole),
            marks={"row": "customerType"},
            orders=lambda row, _: [{"customer": row["customerType"]}],
            is_exact=False,
        ),
        notes=worth_a_look(whole, view.data(ad_spend), shop_forms(whole)),
        is_empty=not (
            forms.rows.now
            or campaigns
            or any(row["orders"] for row in revenue.now)
            or view.data(ad_spend)["rows"]
            or whole.data(all_forms_funnel)
        ),
    )


def _cards(view: View, revenue: ComparedRow, forms: ShopForms) -> list[Card]:
    """The card of the whole shop, then those of its forms."""
    total, net = forms.total, "netRevenueCents"
    share, all_net = "", revenue[net]
    if forms.clock == ORDER_CLOCK and not view.selection.filters and all_net > 0:
        share = formatting.percent(round(percent(total[net], all_net)))
    orders = [_of_shop("orders", "orders")]
    return [
        card(view.whole, _of_shop(net), revenue, more=orders, orders=[{}]),
        card(view, _of_forms(net, "Credited to forms"), total, share, orders=forms.all_orders),
        card(view, _of_forms("submissions", "Submissions"), total),
        card(view, _of_forms("conversionRate", "Sign-ups that bought"), total),
    ]


def _customers(view: View) -> Sequence[ComparedRow]:
    noise = daily_noise(
        view,
        CUSTOMERS,
        [summary(new_returning, "new_returning", "customer_type")],
        lambda row: CUSTOMER_TYPES.index(row["customerType"]),
    )
    rows = view.compared(new_returning, "customerType", noise=noise).rows()
    return [row for row in rows if row["orders"] or row["customerType"] != CUSTOMER_TYPES[-1]]
