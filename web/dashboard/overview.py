"""`/`: the shop at a glance."""

from collections.abc import Sequence
from typing import Any, Final

from sqlalchemy import Connection, func, select

from warehouse.domain.rounding import percent
from warehouse.domain.vocabulary import CUSTOMER_TYPES
from warehouse.operations.form_rules import is_counted
from warehouse.tables import form
from web.api.forms import all_forms_funnel
from web.dashboard import formatting
from web.dashboard.ads import ad_card
from web.dashboard.compare import ComparedRow
from web.dashboard.daily_noise import daily_noise, summary
from web.dashboard.forms_table import COLUMNS, MARKS, ShopForms, share_bars, shop_forms
from web.dashboard.page import Page, View
from web.dashboard.revenue import (
    CAMPAIGN_MARKS,
    CAMPAIGNS_AT_A_GLANCE,
    campaign_rows,
    days_of,
    orders_of_campaign,
    shop_revenue,
)
from web.dashboard.table import Card, card, columns_of, table
from web.dashboard.worth_a_look import worth_a_look
from web.http.parameters import ORDER_CLOCK
from web.reports.ads import ad_spend
from web.reports.attribution import ROW
from web.reports.new_returning import ROW as CUSTOMERS
from web.reports.new_returning import new_returning

# Forms and campaigns at a glance; their own pages have all.
_FORMS: Final = 10
_CAMPAIGNS: Final = 4
_column = columns_of(CUSTOMERS)
_CUSTOMERS: Final = (
    _column("customerType"),
    _column("orders"),
    _column("averageOrderValueCents", deep=True),
    _column("shareOfRevenue", deep=True),
    _column("netRevenueCents", compared=True, main=True),
)


def overview(view: View) -> Page:
    forms, campaigns, revenue = shop_forms(view), campaign_rows(view), shop_revenue(view)
    rows, whole = share_bars(forms.with_names(forms.all_names)), view.whole
    of_shop, *of_forms = _cards(view, revenue.total(ROW.total), forms)
    of_ads = ad_card(view)
    return view.page(
        "overview.html",
        cards=of_forms if view.selection.filters else [of_shop, *of_forms, of_ads],
        cards_of_shop=[of_shop, of_ads],
        **days_of(whole),
        forms=table(
            view,
            "forms",
            COLUMNS,
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
        all_forms=_count_forms(view.answers.connection, view.shop.key) + len(forms.unlisted),
        campaigns=table(
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
        customers=table(
            whole,
            "customers",
            _CUSTOMERS,
            _customers(view),
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
    """That of the whole shop, then those of its forms."""
    total, currency, net = forms.total, view.shop.currency, "netRevenueCents"
    orders = view.changes.cell(revenue.amount("orders"), name="orders")
    bought = total.rate("convertedSubmissions", "submissions")
    shares = forms.clock == ORDER_CLOCK and not view.selection.filters
    return [
        card(
            view.whole,
            "Net revenue",
            net,
            revenue.amount(net),
            "",
            currency,
            [("orders", orders)],
            orders=[{}],
        ),
        card(
            view,
            "Credited to forms",
            net,
            total.amount(net),
            _share(total, revenue) if shares else "",
            currency,
            orders=forms.all_orders,
        ),
        card(view, "Submissions", "submissions", total.amount("submissions")),
        card(view, "Sign-ups that bought", "conversionRate", bought),
    ]


def _share(credited: ComparedRow, revenue: ComparedRow) -> str:
    """The credited share of the net revenue; "" where there is no revenue."""
    net: Any = revenue["netRevenueCents"]
    if net <= 0:
        return ""
    return formatting.percent(round(percent(credited["netRevenueCents"], net)))


def _customers(view: View) -> Sequence[ComparedRow]:
    noise = daily_noise(
        view,
        CUSTOMERS,
        [summary(view, new_returning, "new_returning", "customer_type")],
        lambda row: CUSTOMER_TYPES.index(row["customerType"]),
    )
    rows = view.compared(new_returning, "customerType", noise=noise).rows()
    return [row for row in rows if row["orders"] or row["customerType"] != CUSTOMER_TYPES[-1]]


def _count_forms(connection: Connection, shop_key: int) -> int:
    statement = select(func.count()).select_from(form)
    statement = statement.where(form.c.shop_key == shop_key, is_counted())
    return int(connection.execute(statement).scalar_one())
