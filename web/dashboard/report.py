"""`/data/report`: a month beside the shop's own report, with the cause of each difference."""

from datetime import date, timedelta
from typing import Final

from flask import request

from warehouse.shops.reconcile import amount_of, reconcile
from web.dashboard.page import Page, View
from web.db.database import query_of

# The parameters of the address, which are the fields of the form: the month and the report's figures.
_FIELDS: Final = ("month", "orders", "gross", "refunded", "net")
_LONGEST: Final = 40


def report(view: View) -> Page:
    given = {name: request.args.get(name, "").strip()[:_LONGEST] for name in _FIELDS}
    connection, found, problem, apart = view.member.connection, None, "", 0

    if any(given.values()):
        try:
            if not (given["orders"].isascii() and given["orders"].isdigit()):
                raise ValueError(f"{given['orders']!r} is not a number of orders; write it as 120")
            figures = int(given["orders"]), given["gross"], given["refunded"] or "0"
            found = reconcile(query_of(connection), view.shop.shop_id, given["month"], *figures)
            if given["net"]:
                apart = amount_of(given["net"], found.currency) - found.report.net
        except ValueError as error:
            problem = str(error)
    orders_of_month = ""
    if found:
        first = date.fromisoformat(f"{found.month}-01")
        last = (first + timedelta(31)).replace(day=1) - timedelta(1)
        orders_of_month = view.orders_address(range=f"{first}..{last}")
    return view.page(
        "report.html",
        given=given,
        found=found,
        problem=problem,
        apart=apart,
        orders_of_month=orders_of_month,
    )
