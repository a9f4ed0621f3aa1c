"""Discounts: to how many submissions they were issued, and the orders that used them."""

import numpy as np
import pandas as pd

from jobs.codes import code, lookup
from jobs.columns import ints, take
from jobs.facts.frames import Facts
from jobs.rollups.submissions import submissions
from jobs.rollups.summing import Part, part, total
from warehouse.vocabulary import BY_CODE


def rollup(facts: Facts) -> pd.DataFrame:
    """By discount: submissions that were issued it, on their day; orders that used it, on theirs.

    Several codes of one discount count once per submission and once per order; the amounts of all
    of them are `discounted`. An order with two discounts counts for each with its whole revenue.
    `attributed`: orders that were attributed by the code.
    """
    return total("discount", _issued(facts), *_used(facts))


def _issued(facts: Facts) -> Part:
    submitted = submissions(facts.sessions)
    issues = facts.issues[facts.issues["discount"] != 0]
    place = lookup(submitted["session"], ints(issues, "session"))
    issues, place = issues[place >= 0], place[place >= 0]
    once = code(place, ints(issues, "discount")).dense().places()
    issued = take(issues, once, ["edition", "discount"])
    return part(issued, day=submitted["day"][place[once]], issued=1)


def _used(facts: Facts) -> list[Part]:
    codes = facts.order_codes[facts.order_codes["discount"] != 0]
    place = lookup(ints(facts.orders, "order"), ints(codes, "order"))
    once = code(place, ints(codes, "discount")).dense().places()
    orders = take(facts.orders, place[once], ["edition", "day", "type", "gross", "refunded"])
    return [
        part(codes, day=ints(facts.orders, "day")[place], discounted="discounted"),
        part(
            orders,
            discount=ints(codes, "discount")[once],
            orders=1,
            attributed=(orders["type"] == BY_CODE).astype(np.int64),
            gross="gross",
            refunded="refunded",
        ),
    ]
