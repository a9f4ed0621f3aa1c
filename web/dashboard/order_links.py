"""Links from a figure of the order clock to the orders that it is made of, which add up to it.

Figures of the submission clock have none: `GET /v1/orders` chooses orders by their own day, not by that of
the sign-up. Nor have figures under a UTM filter, which chooses sessions by their own UTM, while orders go by
the effective one: that of the order where the sign-up has none.
"""

from collections.abc import Mapping, Sequence
from typing import Final

from warehouse.domain.vocabulary import ATTRIBUTION_TYPES, UNATTRIBUTED
from web.dashboard.page import View

# Filters of `GET /v1/orders`, with `range` for a part of the days that are shown.
Filters = Mapping[str, str]

CREDITED: Final = {
    "discount_code": "by a code",
    "customer": "by the customer",
    "visitor": "by the visitor",
    "unattributed": "to no form",
}
# The figures that orders add up to, by their names in the API.
SUMS_OF_ORDERS: Final = frozenset(
    ("orders", "grossRevenueCents", "totalRefundedCents", "netRevenueCents", "attributedOrders")
) | {"attributedNetRevenueCents"}


def credited(**filters: str) -> list[Filters]:
    """All that are credited to a form, in parts: a list of orders has one way of credit, or all."""
    return [{"type": kind, **filters} for kind in ATTRIBUTION_TYPES[:UNATTRIBUTED]]


def order_links(view: View, parts: Sequence[Filters]) -> list[tuple[str, str]]:
    """(words, address) of each part; nothing for members who may not see orders."""
    links = [
        (f"orders {CREDITED[part['type']]}" if len(parts) > 1 else "its orders", address)
        for part in parts
        if (address := view.orders_address(**part))
    ]
    return links if len(links) == len(parts) else []
