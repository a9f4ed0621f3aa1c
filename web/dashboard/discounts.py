"""`/discounts`: codes issued and used. They are live codes: the page asks for `discounts:view`."""

from web.auth.permissions import require_discounts
from web.dashboard.page import View


def discounts(view: View) -> str:
    require_discounts(view.member.member.permissions)
    return view.render("discounts.html", rows=view.data("/discounts/performance"))
