"""`/orders`: the orders behind a figure (endpoint 20), a page at a time; `/orders/ID`: why one is credited as
it is (endpoint 21).

The filters are in the address, by their names in the API. `page` is the cursor of a page; a link to other
days drops it.
"""

from collections.abc import Mapping
from typing import Final
from urllib.parse import quote

from flask import current_app, request, url_for

from warehouse.domain.figures import REVENUE
from warehouse.domain.time import zone
from web.api.endpoint import ROW_LIMITS
from web.api.equal_age import window_days
from web.api.filters import NONE
from web.api.forms_table import form_names
from web.dashboard import order_story
from web.dashboard.compare import ComparedRow
from web.dashboard.filters import LABELS
from web.dashboard.page import Page, View
from web.dashboard.selection import address
from web.dashboard.table import CREDITED, Table, card, columns_of
from web.reports import discount_performance, receipts

_PAGE: Final = 50
_CUSTOMERS: Final = {"new": "new", "returning": "returning", "unknown": "unknown"}
# The filters in words; those that are chosen from a list have its words.
_FILTERS: Final[dict[str, tuple[str, Mapping[str, str]]]] = {
    "type": ("Credited", CREDITED),
    "form_id": ("Form", {}),
    "customer": ("Customer", _CUSTOMERS),
    "discount_id": ("Discount", {}),
    **{name: (label, {}) for name, label in LABELS.items()},
}

_column = columns_of(receipts.ROW)
_COLUMNS: Final = (
    _column("orderId", unit="drawn"),
    # Second, so that a phone has it on its screen.
    _column("netRevenueCents"),
    _column("createdAt", unit="drawn"),
    _column("formName", "Credited to", unit="drawn"),
    _column("attributionType", "How", text=lambda row: CREDITED[row["attributionType"]]),
    _column("code", absent="—"),
    _column("customerType", text=lambda row: _CUSTOMERS[row["customerType"]]),
    _column("utmSource", absent="no source", filters=lambda row: {"utm_source": row["utmSource"]}),
    _column(
        "utmCampaign",
        absent="no campaign",
        filters=lambda row: {"utm_campaign": row["utmCampaign"]},
    ),
    _column("totalRefundedCents"),
)


def orders(view: View) -> Page:
    # As the API takes them. A filter without a value is none: a form sends it so.
    asked = ((each.name, request.args.get(each.name)) for each in receipts.first_orders.parameters)
    filters = {name: text for name, text in asked if text}
    window, answers = view.selection.window, view.answers
    listed = {"limit": f"{_PAGE}"}
    if "page" in request.args:
        listed["cursor"] = request.args["page"]
    rows, meta = answers.with_meta(receipts.orders, window, filters | listed)
    if request.args.get("csv"):
        # The file has all pages.
        rows, _ = answers.with_meta(receipts.first_orders, window, filters)
    # The name and the value of each filter, and the address without it.
    described = []
    for name, value in filters.items():
        label, words = _FILTERS[name]
        if name == "form_id":
            value = value.lower()
            words = form_names(answers.connection, view.shop.key, [value])
        text = "none" if value == NONE else words.get(value, value)
        described.append((label, text, address(**{name: ""})))
    sees_codes = view.may_see(discount_performance)
    all_of_them = ComparedRow({"orders": meta["total"], "netRevenueCents": meta["netRevenueCents"]})
    net = _column("netRevenueCents")
    return view.page(
        "orders.html",
        cards=[
            card(view, _column("orders"), all_of_them, "in these days"),
            card(view, net, all_of_them, "of these orders, after refunds"),
        ],
        orders=Table(
            view,
            "orders",
            [column for column in _COLUMNS if column.name != "code" or sees_codes],
            [ComparedRow(row) for row in rows],
            marks={"row": "orderId"},
            empty="No order of these days is among them.",
            most=_PAGE,
            noun="",
        ),
        most_in_file=current_app.config[ROW_LIMITS].rows,
        total=meta["total"],
        filters=described,
        asked=filters,
        choices={"type": CREDITED, "customer": _CUSTOMERS},
        is_first="page" not in request.args,
        next_page=meta["nextCursor"] and address(page=meta["nextCursor"]),
        report=receipts.orders,
        moment=view.local_time,
        # Slashes too: a browser takes `a/../b` for another path.
        path_of=lambda order_id: f"{url_for('dashboard.orders')}/{quote(order_id, safe='')}",
    )


def one_order(view: View, order_id: str) -> Page:
    story, _ = view.answers.with_meta(receipts.one_order, view.selection.window, order_id=order_id)
    window, timezone = window_days(view.shop), zone(view.shop.timezone)
    return view.page(
        "order.html",
        order=story,
        money=[
            (column.label, column.cell(view, ComparedRow(story), is_exact=True))
            for column in map(_column, REVENUE.split())
        ],
        verdict=order_story.verdict(story, window, timezone),
        others=order_story.others(story, window, timezone),
        is_cut=order_story.is_cut(story),
        moment=view.local_time,
    )
