"""`/discounts`: codes issued and used. They are live codes: the report asks for a permission.

Issued is on the submission clock, everything else on the order clock.
"""

from collections.abc import Mapping
from typing import Any, Final

from web.api.forms_table import form_names
from web.api.row_limit import OTHER
from web.dashboard.compare import Amount, ComparedRow, Rows, beside, total
from web.dashboard.page import View
from web.dashboard.statistics import FEW
from web.dashboard.table import Card, Column, Sum, card, columns_of, shown, table
from web.reports.discounts import ROW, discount_performance

# Codes of the warning; the table has all.
_WARNED: Final = 5
_NONE_ISSUED: Final = "no code was issued in these days"
# The discount id of a form's pool of single-use codes begins so.
_POOL: Final = "form:"
_ISSUED_EARLIER: Final = "some orders used codes that were not issued in these days"


def is_used_by_others(row: Any) -> bool:
    """True if more orders used the discount than submissions got it. Discounts that were not issued in these
    days (perhaps the shop's own) and the row `(other)` are left out."""
    return bool(0 < row["issued"] < row["orders"] and row["discountId"] != OTHER)


_column = columns_of(ROW)
_COLUMNS: Final = (
    Column("name", _column("discountId").label, "text", sort="discount"),
    _column("code", without="several codes"),
    _column("issued"),
    _column("orders", compared=True),
    _column(
        "redemptionRate",
        mark=("change worse", "used by others", is_used_by_others),
        bar=lambda row: min(row["redemptionRate"] / 100, 1) if row["issued"] else None,
        sort="rate",
    ),
    _column("discountCents", sort="cost"),
    _column("netRevenueCents", compared=True, sort="net"),
    _column("averageOrderValueCents", sort="average"),
)


def discounts(view: View) -> str:
    rows, before = named_discounts(view), view.before(discount_performance)
    others = [row for row in rows if is_used_by_others(row)]
    sums = total(ROW, rows, before)
    redeemed = Amount(_redemption(rows), _redemption(before or []))
    currency = view.shop.currency
    return view.render(
        "discounts.html",
        cards=[
            card("Issued", sums.amount("issued"), "to submissions of these days"),
            card("Used", sums.amount("orders"), "in orders of these days"),
            Card(
                "Redeemed",
                [
                    (
                        shown(redeemed, "percent", without=_NONE_ISSUED),
                        "of the codes issued in these days",
                    )
                ],
            ),
            card("Cost", sums.amount("discountCents"), "taken off orders of these days", currency),
            card(
                "Net revenue",
                sums.amount("netRevenueCents"),
                "orders of these days that used a code",
                currency,
            ),
        ],
        others=others[:_WARNED],
        more_others=len(others[_WARNED:]),
        few=FEW,
        codes=table(
            view,
            _COLUMNS,
            beside(rows, before, "discountId"),
            "codes.-orders",
            empty="No code was issued or used in these days. A form that issues a code sends it with its "
            "events (discount_code).",
            sums=[_all_codes(rows, sums, redeemed)],
        ),
    )


def named_discounts(view: View) -> list[dict[str, Any]]:
    """The discounts of these days, each with a `name`: its id, or the form whose single-use codes it is."""
    rows = view.data(discount_performance)
    ids = [row["discountId"].removeprefix(_POOL) for row in rows if _is_pool(row)]
    names = form_names(view.answers.connection, view.shop.key, ids)
    return [{**row, "name": _name(row, names)} for row in rows]


def _is_pool(row: Mapping[str, Any]) -> bool:
    return bool(row["discountId"].startswith(_POOL))


def _name(row: Mapping[str, Any], form_names: Mapping[str, str]) -> str:
    form_id = row["discountId"].removeprefix(_POOL)
    if _is_pool(row) and form_id in form_names:
        return f"codes of {form_names[form_id]}"
    return str(row["discountId"])


def _all_codes(rows: Rows, sums: ComparedRow, redeemed: Amount) -> Sum:
    """An order with two discounts is in both of them, each time whole. An order with a discount that was not
    issued in these days got it earlier, or elsewhere: the redemption of all is then no rate."""
    is_rate = all(row["issued"] for row in rows if row["orders"])
    reason = _NONE_ISSUED if redeemed.now is None else _ISSUED_EARLIER
    rate = redeemed.now if is_rate else None
    return Sum(
        "All codes", ComparedRow({**sums.now, "redemptionRate": rate}), {"redemptionRate": reason}
    )


def _redemption(rows: Rows) -> float | None:
    """The rate of the discounts issued in these days, in per cent; None where there are none."""
    issued = [row for row in rows if row["issued"]]
    return ROW.total(issued)["redemptionRate"] if issued else None
