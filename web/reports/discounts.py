"""Discount performance (16). `issued` is dated by the submission, all else by the order."""

from collections.abc import Iterator
from typing import Final

from sqlalchemy import bindparam, func, select

from warehouse.daily.group_sum import Column
from warehouse.domain.figures import REVENUE, count, money, percent
from warehouse.tables import dim_discount_code, dim_text
from web.api.endpoint import get
from web.api.query import Query
from web.api.row_limit import Texts
from web.api.rows import Answer, Row, ranked, text
from web.db.dimensions import in_chunks
from web.http.parameters import ORDER_CLOCK

# fmt: off
ROW: Final = Row(
    "DiscountRow",
    """A discount that was issued or used in the window. An order with two discounts is in both rows, each
    time with its whole revenue. Order: orders descending, issued descending, discountId.""",
    text("discountId", "Discount",
        "The discount's id. A form's pool of single-use codes without an id has `form:` and the form's "
        "id; any other code without an id is its own, in upper case."),
    text("code", "Code",
        "The code in upper case, if the discount ever had exactly one; else null.", null=True),
    count("issued", "Issued",
        "Submissions of the window to which the discount was issued.",
        "Submissions of these days that got the discount."),
    "orders attributedOrders",
    percent("redemptionRate", "Redeemed",
        "`orders` / `issued` x 100, to 2 decimals. It is above 100 if the code was also given out "
        "elsewhere, and 0 if none was issued.",
        "How many orders used the discount for every 100 submissions that got it. Above 100, the code "
        "was also given out elsewhere.",
        over=("orders", "issued"), without="not issued in these days"),
    money("discountCents", "Cost",
        "The amount that the discount took off these orders, in minor units of the shop's currency.",
        "The money that the discount took off these orders.",
        measure="discounted"),
    f"{REVENUE} averageOrderValueCents",
    says={
        "orders": (
            "Orders of the window that used the discount.",
            "Orders of these days that used the discount."),
        "attributedOrders": (
            "Those orders that are credited by a discount code.",
            "How many of these orders were credited to a submission by such a code."),
    },
    clock=ORDER_CLOCK,
    owner="A discount is here if it was issued or used in these days. It is issued on the day of the "
    "submission, and used on the day of the order. An order with two discounts is in both rows, each "
    "time with its whole revenue.",
)
# fmt: on
_code = dim_discount_code.c
_OF_DISCOUNT: Final = (_code.edition == dim_text.c.edition, _code.discount == dim_text.c.id)
# Discounts with their least and greatest code: two index look-ups each, even for a pool of very many codes.
_CODES: Final = select(
    dim_text.c.id,
    select(func.min(_code.code)).where(*_OF_DISCOUNT).scalar_subquery(),
    select(func.max(_code.code)).where(*_OF_DISCOUNT).scalar_subquery(),
).where(
    dim_text.c.edition == bindparam("edition"),
    dim_text.c.id.in_(bindparam("discounts", expanding=True)),
)


@get(
    "/discounts/performance",
    "discounts:read",
    ROW,
    limited=True,
)
def discount_performance(query: Query) -> Answer:
    """How often discounts were issued and used, and the revenue of their orders.

    A row per discount that was issued or used in the window. `issued` is dated by the submission, all else
    by the order. Order: orders descending, issued descending, discountId. At most 10,000 discounts; the
    others are summed in the row `(other)`.
    """

    def code_of(_texts: list[Texts], discounts: Column) -> Iterator[tuple[str | None]]:
        codes = {}
        for ids in in_chunks(discounts.tolist()):
            values = {"edition": query.shop.edition, "discounts": ids}
            for discount, least, greatest in query.connection.execute(_CODES, values):
                # Those that ever had exactly one.
                if least and least == greatest:
                    codes[discount] = least
        texts = query.texts(codes.values())
        return ((texts[codes[each]] if each in codes else None,) for each in discounts.tolist())

    sums = query.sums("discount", by=("discount",))
    limit = query.limits.rows
    return ranked(ROW, sums, ["discount"], query.texts_of, "orders issued", limit, code_of)
