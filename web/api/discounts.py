"""Discount performance (16)."""

from functools import cache
from typing import Any

from sqlalchemy import Select, bindparam, func, select

from warehouse.tables import dim_discount_code, dim_text
from web.api.endpoint import Answer, Endpoint
from web.api.endpoint import blueprint as resource
from web.api.figures import figures, with_figures
from web.api.query import Query
from web.api.row_limit import OTHER, limit_rows, other_rows
from web.api.schemas.envelope import LimitedMeta
from web.api.schemas.shop import DiscountFigures, DiscountRow
from web.db.dimensions import in_chunks


def discount_performance(query: Query) -> Answer[list[DiscountRow]]:
    """How often discounts were issued and used, and the revenue of their orders.

    A row per discount that was issued or used in the window. `issued` is dated by the submission, all else
    by the order. Order: orders descending, issued descending, discountId. At most 10,000 discounts; the
    others are summed in the row `(other)`.
    """
    columns = query.sums("discount", by=("discount",)).columns
    (discounts,), sums = with_figures(columns, ("discount",))
    found = limit_rows(
        sums,
        (sums["orders"], sums["issued"]),
        query.texts_of(discounts),
        query.limits.rows,
    )
    codes = _codes_of(query, discounts[found.shown].tolist())
    rows: list[DiscountRow] = [
        {"discountId": discount_id, "code": code, **figures(DiscountFigures, line)}
        for ((discount_id,), line), code in zip(found.rows(), [*codes, OTHER], strict=False)
    ]
    return Answer(rows, meta=other_rows(found.others))


def _codes_of(query: Query, discounts: list[int]) -> list[str | None]:
    """The code of each discount; None unless it ever had exactly one."""
    codes = _single_codes(query, discounts)
    texts = query.texts(codes.values())
    return [texts[codes[discount]] if discount in codes else None for discount in discounts]


def _single_codes(query: Query, discounts: list[int]) -> dict[int, int]:
    """discount -> code, for the discounts that ever had exactly one code."""
    codes = {}
    for ids in in_chunks(discounts):
        values = {"edition": query.shop.edition, "discounts": ids}
        for discount, least, greatest in query.connection.execute(_codes(), values):
            if least and least == greatest:
                codes[discount] = least
    return codes


@cache
def _codes() -> Select[Any]:
    """Discounts with their least and greatest code: two index look-ups each, even for a pool of very many
    codes."""
    extremes = (
        select(extreme(dim_discount_code.c.code))
        .where(
            dim_discount_code.c.edition == dim_text.c.edition,
            dim_discount_code.c.discount == dim_text.c.id,
        )
        .scalar_subquery()
        for extreme in (func.min, func.max)
    )
    return select(dim_text.c.id, *extremes).where(
        dim_text.c.edition == bindparam("edition"),
        dim_text.c.id.in_(bindparam("discounts", expanding=True)),
    )


blueprint = resource(
    "discounts",
    Endpoint(
        "GET",
        "/discounts/performance",
        "discounts:read",
        discount_performance,
        meta=LimitedMeta,
    ),
)
