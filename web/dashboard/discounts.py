"""`/discounts`: codes issued and used. They are live codes: the page asks for `discounts:view`."""

from typing import Any

from web.api.row_limit import OTHER
from web.auth.permissions import require_discounts
from web.dashboard.page import View

Rows = list[dict[str, Any]]


def discounts(view: View) -> str:
    require_discounts(view.member.member.permissions)
    return view.render("discounts.html", rows=view.data("/discounts/performance"))


def used_by_others(rows: Rows) -> Rows:
    """The discounts that more orders used than submissions got, in the order of the API's rows.

    A discount that was not issued in these days can be one of the shop's own: it is none of them.
    """
    return [row for row in rows if 0 < row["issued"] < row["orders"] and row["discountId"] != OTHER]
