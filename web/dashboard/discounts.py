"""`/discounts`: codes issued and used. They are live codes: the page asks for `discounts:view`.

Issued is on the submission clock, everything else on the order clock.
"""

from dataclasses import dataclass
from typing import Any, Final

from warehouse.domain.rounding import cents, percent
from web.api.row_limit import OTHER
from web.auth.permissions import require_discounts
from web.dashboard.comparison import Amount
from web.dashboard.page import View
from web.dashboard.sorting import sorted_table
from web.dashboard.statistics import FEW

Rows = list[dict[str, Any]]

_PATH: Final = "/discounts/performance"
# Codes of the warning; the table has all.
_WARNED: Final = 5


@dataclass(frozen=True, slots=True)
class Totals:
    """The sums of all rows. An order with two discounts is in both of them, each time whole.

    `redemption` is that of the discounts issued in these days, in per cent, None where there are none: an
    order with another one was issued it earlier, or elsewhere. `all_issued` says whether there is no such
    order. Money is in minor units.
    """

    issued: int
    orders: int
    cost: int
    net: int
    average: int
    redemption: float | None
    all_issued: bool


def discounts(view: View) -> str:
    require_discounts(view.member.member.permissions)
    rows, rows_before = view.data(_PATH), view.before(_PATH)
    others = used_by_others(rows)
    totals = _totals(rows)
    before = _totals(rows_before) if rows_before is not None else None
    return view.render(
        "discounts.html",
        totals=totals,
        totals_before=before,
        cards={
            name: Amount(getattr(totals, name), getattr(before, name) if before else None)
            for name in ("issued", "orders", "cost", "net")
        },
        others=others[:_WARNED],
        few=FEW,
        more_others=len(others) - len(others[:_WARNED]),
        table=sorted_table(
            "codes",
            _compared(rows, rows_before),
            {
                "discount": lambda row: row["discountId"],
                "code": lambda row: row["code"],
                "issued": lambda row: row["issued"],
                "orders": lambda row: row["orders"],
                "rate": lambda row: row["redemptionRate"] if row["issued"] else None,
                "cost": lambda row: row["discountCents"],
                "net": lambda row: row["netRevenueCents"],
                "average": lambda row: row["averageOrderValueCents"] if row["orders"] else None,
            },
            "-orders",
        ),
    )


def used_by_others(rows: Rows) -> Rows:
    """The discounts that more orders used than submissions got, in the order of the API's rows."""
    return [row for row in rows if _is_used_by_others(row)]


def _is_used_by_others(row: dict[str, Any]) -> bool:
    """A discount that was not issued in these days can be one of the shop's own: it is none of them."""
    return bool(0 < row["issued"] < row["orders"] and row["discountId"] != OTHER)


def _totals(rows: Rows) -> Totals:
    issued_rows = [row for row in rows if row["issued"]]
    issued, orders = _sum(rows, "issued"), _sum(rows, "orders")
    return Totals(
        issued=issued,
        orders=orders,
        cost=_sum(rows, "discountCents"),
        net=_sum(rows, "netRevenueCents"),
        average=cents(_sum(rows, "grossRevenueCents"), orders),
        redemption=percent(_sum(issued_rows, "orders"), issued) if issued else None,
        all_issued=_sum(issued_rows, "orders") == orders,
    )


def _compared(rows: Rows, before: Rows | None) -> Rows:
    """Each row with its orders and net revenue as an `Amount`, and whether others use it."""
    former = {row["discountId"]: row for row in before or []}
    # A discount that is not among the former rows can be in their sum of others.
    missing = None if before is None or OTHER in former else 0

    def amount(row: dict[str, Any], name: str) -> Amount:
        known = former.get(row["discountId"])
        return Amount(row[name], known[name] if known else missing)

    return [
        {
            **row,
            "used": amount(row, "orders"),
            "net": amount(row, "netRevenueCents"),
            "is_used_by_others": _is_used_by_others(row),
        }
        for row in rows
    ]


def _sum(rows: Rows, name: str) -> int:
    return sum(row[name] for row in rows)
