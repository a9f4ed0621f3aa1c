"""`/discounts`: codes issued and used. They are live codes: the report asks for a permission.

Issued is on the submission clock, everything else on the order clock.
"""

from typing import Any, Final

from sqlalchemy import bindparam, select

from warehouse.domain.hash_ids import text_id
from warehouse.domain.rounding import percent
from warehouse.forms import form_rules
from warehouse.tables import fact_code_issued
from web.api.forms_table import form_names
from web.api.row_limit import OTHER
from web.dashboard import formatting
from web.dashboard.compare import ComparedRow, Line, Rows, Value
from web.dashboard.daily_noise import daily_noise, summary
from web.dashboard.page import Page, View
from web.dashboard.statistics import FEW
from web.dashboard.table import Column, Sum, Table, card, columns_of
from web.db.dimensions import in_chunks
from web.reports.discounts import ROW, discount_performance

_ISSUED: Final = (
    select(fact_code_issued.c.code)
    .distinct()
    .where(
        fact_code_issued.c.edition == bindparam("edition"),
        fact_code_issued.c.code.in_(bindparam("codes", expanding=True)),
    )
)
# Codes of the warning; the table has all.
_WARNED: Final = 5
_NONE_ISSUED: Final = "no code was issued in these days"
# The id of a form's pool of single-use codes begins so.
_POOL: Final = "form:"
_ISSUED_EARLIER: Final = "some orders used codes that were not issued in these days"


def is_used_by_others(row: Any) -> bool:
    """Whether more orders used the discount than submissions got it. Discounts that were not issued in these
    days (perhaps the shop's own) and the row `(other)` are left out."""
    return bool(0 < row["issued"] < row["orders"] and row["discountId"] != OTHER)


def _cost_share(row: ComparedRow) -> float | None:
    """The cost in per cent of the gross revenue of the orders; None without any."""
    gross = row["grossRevenueCents"]
    return percent(row["discountCents"], gross) if gross > 0 else None


_column = columns_of(ROW)
_COLUMNS: Final = (
    _column("code", without="several codes", deep=True),
    _column("issued"),
    _column("orders"),
    _column(
        "redemptionRate",
        mark=("change worse", "used by others", is_used_by_others),
        bar=100,
        sort="rate",
    ),
    _column("discountCents", sort="cost"),
    Column(
        "costShare",
        "of revenue",
        "percent",
        figure=lambda row: Value(_cost_share(row)),
        without="no revenue",
        api=None,
        sort="share",
    ),
    _column("netRevenueCents", compared=True, main=True, sort="net"),
    _column("averageOrderValueCents", deep=True, sort="average"),
)
# That of all codes. It has no value where no discount was issued.
_REDEEMED: Final = _column(
    "redemptionRate",
    "Redeemed",
    figure=lambda row: row.value(lambda line: line.get("redemptionRate"), "redemptionRate"),
    without=_NONE_ISSUED,
    of="",
)


def discounts(view: View) -> Page:
    noise = daily_noise(
        view,
        ROW,
        [summary(discount_performance, "discount", "discount")],
        lambda row: text_id(row["discountId"]),
    )
    report = view.compared(discount_performance, "discountId", noise=noise)
    rows, sums = report.now, report.total(ROW.total)
    names = discount_names(view, rows)
    others = [row for row in rows if is_used_by_others(row)]

    def of_issued(rows: Rows) -> Line:
        issued = [row for row in rows if row["issued"]]
        return ROW.total(issued) if issued else {}

    redeemed = report.total(of_issued)
    share = _cost_share(sums)
    of_revenue = "" if share is None else f"{formatting.percent(share)} of revenue"
    return view.page(
        "discounts.html",
        cards=[
            card(view, _column("issued", "Issued"), sums),
            card(view, _column("orders", "Used"), sums),
            card(view, _REDEEMED, redeemed),
            card(view, _column("discountCents", "Cost"), sums, of_revenue),
            card(view, _column("netRevenueCents"), sums),
        ],
        others=others[:_WARNED],
        names=names,
        more_others=len(others[_WARNED:]),
        **_of_forms(view, rows),
        few=FEW,
        codes=Table(
            view,
            "codes",
            [
                _column(
                    "discountId",
                    text=lambda row: (
                        names.get(row["discountId"]) or row["code"] or row["discountId"]
                    ),
                    sort="discount",
                ),
                *_COLUMNS,
            ],
            report.rows(),
            "-orders",
            marks={"row": "discountId"},
            orders=lambda row, column: [{"discount_id": row["discountId"]}] if column.main else [],
            empty="No code was issued or used in these days. A form that issues a code sends it with its "
            "events (discount_code).",
            sums=[_all_codes(rows, sums, redeemed.now.get("redemptionRate"))],
            is_exact=False,
        ),
    )


def _of_forms(view: View, rows: Rows) -> dict[str, Any]:
    """The codes that are a form's by a rule, and those that orders of these days used and no form reports."""
    connection, shop = view.answers.connection, view.shop
    tied = form_rules.read(connection, shop.key).codes
    names = form_names(connection, shop.key, sorted(set(tied.values())))
    used = [
        row["code"] for row in rows if row["code"] and row["orders"] and row["code"] not in tied
    ]
    ids = {text_id(code): code for code in used if code != OTHER}
    found = (
        connection.execute(_ISSUED, {"edition": shop.edition, "codes": chunk}).scalars()
        for chunk in in_chunks(list(ids))
    )
    reported = {ids[number] for numbers in found for number in numbers}
    unreported = [code for code in ids.values() if code not in reported]
    return {
        "tied": {code: names.get(form_id, form_id) for code, form_id in sorted(tied.items())},
        "unreported": unreported[:_WARNED],
        "more_unreported": len(unreported[_WARNED:]),
    }


def discount_names(view: View, rows: Rows) -> dict[str, str]:
    """The names, by id, of discounts that are not called by their id. A form's pool of single-use codes is
    called by the form."""
    pools = [row["discountId"] for row in rows if row["discountId"].startswith(_POOL)]
    ids = [pool.removeprefix(_POOL) for pool in pools]
    forms = form_names(view.answers.connection, view.shop.key, ids)
    return {
        pool: f"codes of {forms[form_id]}"
        for pool, form_id in zip(pools, ids, strict=True)
        if form_id in forms
    }


def _all_codes(rows: Rows, sums: ComparedRow, redeemed: float | None) -> Sum:
    """An order with two discounts is in both of them, each time whole. An order with a discount that was not
    issued in these days got it earlier, or elsewhere: the redemption of all is then no rate."""
    is_rate = all(row["issued"] for row in rows if row["orders"])
    reason = _NONE_ISSUED if redeemed is None else _ISSUED_EARLIER
    line = ComparedRow({**sums.now, "redemptionRate": redeemed if is_rate else None})
    return Sum("All codes", line, {"redemptionRate": reason})
