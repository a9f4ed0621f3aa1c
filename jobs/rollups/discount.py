"""Discounts: to how many submissions they were issued, and the orders that used them."""

import numpy as np

from jobs.arrays.columns import int_column, take
from jobs.arrays.group_keys import group_keys, index_of
from jobs.facts.facts import Facts
from jobs.rollups.parts import DailyRows, part, total
from jobs.rollups.submissions import submissions
from warehouse.domain.vocabulary import BY_CODE


def discount(facts: Facts) -> DailyRows:
    """Counts by discount: submissions that were issued it, on their day; orders that used it, on theirs.

    Several codes of one discount count once per submission and once per order; `discounted` is the
    sum of their amounts. An order with two discounts counts for each with its whole revenue.
    `attributed`: orders that were attributed by the code.
    """
    submitted = submissions(facts.sessions)
    issues = facts.issues[facts.issues["discount"] != 0]
    index = index_of(submitted["session"], int_column(issues, "session"))
    issues, index = issues[index >= 0], index[index >= 0]
    once = group_keys(index, int_column(issues, "discount")).dense().any_row()
    issued = take(issues, once, ["edition", "discount"])
    day = submitted["day"][index[once]]
    codes = facts.order_codes[facts.order_codes["discount"] != 0]
    index = index_of(int_column(facts.orders, "order"), int_column(codes, "order"))
    once = group_keys(index, int_column(codes, "discount")).dense().any_row()
    orders = take(facts.orders, index[once], ["edition", "day", "type", "gross", "refunded"])
    return total(
        "discount",
        part(issued, day=day, issued=1),
        part(codes, day=int_column(facts.orders, "day")[index], discounted="discounted"),
        part(
            orders,
            discount=int_column(codes, "discount")[once],
            orders=1,
            attributed=(orders["type"] == BY_CODE).astype(np.int64),
            gross="gross",
            refunded="refunded",
        ),
    )
