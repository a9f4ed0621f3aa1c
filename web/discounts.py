"""Discount performance (16)."""

from functools import cache
from typing import Any

from sqlalchemy import Select, bindparam, func, select

from warehouse.schema import dim_code, dim_text
from web.dimensions import portions
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
    codes = _single_codes(question, [line["discount"] for line in lines])
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


def _single_codes(question: Question, discounts: list[int]) -> dict[int, int]:
    """discount -> its code, for those of the discounts that ever had exactly one."""
    codes = {}
    for ids in portions(discounts):
        values = {"edition": question.shop.edition, "discounts": ids}
        for discount, least, greatest in question.connection.execute(_codes(), values):
            if least and least == greatest:
                codes[discount] = least
    return codes


@cache
def _codes() -> Select[Any]:
    """Discounts with their least and greatest code: two index look-ups each, however many codes a pool
    has."""
    extremes = (
        select(extreme(dim_code.c.code))
        .where(dim_code.c.edition == dim_text.c.edition, dim_code.c.discount == dim_text.c.id)
        .scalar_subquery()
        for extreme in (func.min, func.max)
    )
    return select(dim_text.c.id, *extremes).where(
        dim_text.c.edition == bindparam("edition"),
        dim_text.c.id.in_(bindparam("discounts", expanding=True)),
    )


blueprint = resource(
    "discounts",
    Endpoint("GET", "/discounts/performance", "discounts:read", discount_performance),
)
