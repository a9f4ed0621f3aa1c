"""Discount performance (16)."""

from functools import cache
from typing import Any

from sqlalchemy import Select, bindparam, func, select

from warehouse.tables import DAILY, dim_code
from web.endpoint import Endpoint
from web.endpoint import blueprint as resource
from web.figures import any_figure, money
from web.questions import Question
from web.rounding import cents, percent
from web.shapes.shop import DiscountRow


def discount_performance(question: Question) -> list[DiscountRow]:
    """Codes issued, redeemed, and what they brought.

    A row per discount issued or used in the range: issued on the submission's day, the rest on the
    order's. Order: orders descending, issued descending, discountId.
    """
    sums = question.sums("discount", by=("discount",))
    lines = [line for line in sums.rows() if any_figure(line, "discount")]
    codes = _single_codes(question)
    texts = question.texts(
        [line["discount"] for line in lines] + [codes.get(line["discount"], 0) for line in lines]
    )
    rows: list[DiscountRow] = []
    for line in lines:
        code = codes.get(line["discount"])
        revenue = money(line)
        rows.append(
            {
                "discountId": texts[line["discount"]],
                "code": texts[code] if code else None,
                "issued": line["issued"],
                "orders": line["orders"],
                "attributedOrders": line["attributed"],
                "redemptionRate": percent(line["orders"], line["issued"]),
                "discountCents": line["discounted"],
                "grossRevenueCents": revenue["grossRevenueCents"],
                "totalRefundedCents": revenue["totalRefundedCents"],
                "netRevenueCents": revenue["netRevenueCents"],
                "averageOrderValueCents": cents(line["gross"], line["orders"]),
            }
        )
    return sorted(rows, key=lambda row: (-row["orders"], -row["issued"], row["discountId"]))


def _single_codes(question: Question) -> dict[int, int]:
    """discount -> its code, for those discounts in the range that ever had exactly one."""
    rows = question.connection.execute(
        _codes(),
        {
            "edition": question.shop.edition,
            "first": question.window.first,
            "last": question.window.last,
        },
    )
    return {discount: least for discount, least, greatest in rows if least and least == greatest}


@cache
def _codes() -> Select[Any]:
    """Each discount in the range with its least and greatest code: two index look-ups a discount,
    however many codes a pool has."""
    daily = DAILY["discount"]
    used = (
        select(daily.c.discount)
        .where(
            daily.c.edition == bindparam("edition"),
            daily.c.day.between(bindparam("first"), bindparam("last")),
        )
        .distinct()
        .subquery()
    )
    extremes = (
        select(extreme(dim_code.c.code))
        .where(dim_code.c.edition == bindparam("edition"), dim_code.c.discount == used.c.discount)
        .scalar_subquery()
        for extreme in (func.min, func.max)
    )
    return select(used.c.discount, *extremes)


blueprint = resource(
    "discounts",
    Endpoint("GET", "/discounts/performance", "discounts:read", discount_performance),
)
