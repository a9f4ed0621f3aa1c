"""Orders as they stand: contract section 2, orders, and section 1, "order"."""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from tests.support.oracle.records import Row, email_hash, present, utm_of
from tests.support.oracle.times import instant


@dataclass(frozen=True)
class Order:
    id: str
    at: datetime
    gross: int
    refunded: int
    cancelled: bool
    customer: str | None
    email: str | None
    visitor: str | None
    codes: dict[str, int]
    """Upper-cased code -> what it took off, in cents."""
    discount_ids: frozenset[tuple[str, str]]
    """The (code, discount_id) pairs that the order names."""
    utm: tuple[str, ...]

    @property
    def net(self) -> int:
        return self.gross - self.refunded


def orders_of(rows: Iterable[Row], shop_id: str) -> list[Order]:
    """The shop's orders: the standing version of each, unless that one is a test."""
    standing: dict[str, Row] = {}
    for row in rows:
        if row["shop_id"] == shop_id:
            before = standing.get(row["order_id"])
            if before is None or version_of(row) > version_of(before):
                standing[row["order_id"]] = row
    return [order_of(row) for row in standing.values() if not present(row, "test")]


def version_of(row: Row) -> tuple[datetime, str]:
    """Section 2: "the version with the greater `updated_at` (where missing: `exported_at`; where both are:
    `created_at`) stands; ties by a fixed rule" that the contract does not name (here: the greater text).

    `tests/contract/test_ties.py` holds the product to it.
    """
    stated = (present(row, name) for name in ("updated_at", "exported_at", "created_at"))
    return instant(next(filter(None, stated))), json.dumps(row, sort_keys=True)


def order_of(row: Row) -> Order:
    gross = row["total_cents"]
    return Order(
        id=row["order_id"],
        at=instant(row["created_at"]),
        gross=gross,
        refunded=gross if present(row, "cancelled_at") else min(gross, refunds_of(row)),
        cancelled=bool(present(row, "cancelled_at")),
        customer=present(row, "customer_id"),
        email=email_hash(row),
        visitor=present(row, "visitor_id"),
        codes=codes_of(row),
        discount_ids=frozenset(
            (entry["code"].upper(), entry["discount_id"])
            for entry in present(row, "discount_codes") or []
            if present(entry, "discount_id")
        ),
        utm=utm_of(row),
    )


def refunds_of(row: Row) -> int:
    """Section 2: "A `refund_id` counts once in an order": the latest of it, then the greatest."""
    once: dict[str, tuple[datetime, int]] = {}
    for refund in present(row, "refunds") or []:
        entry = (instant(refund["created_at"]), refund["amount_cents"])
        once[refund["refund_id"]] = max(entry, once.get(refund["refund_id"], entry))
    return sum(amount for _, amount in once.values())


def codes_of(row: Row) -> dict[str, int]:
    """Section 2: "A code without `amount_cents` has the order's `discount_cents` where it is the
    only one, else 0." Entries of one code (upper-cased) add up."""
    amounts: dict[str, list[int]] = {}
    for entry in present(row, "discount_codes") or []:
        given = amounts.setdefault(entry["code"].upper(), [])
        if present(entry, "amount_cents") is not None:
            given.append(entry["amount_cents"])
    if len(amounts) == 1 and not any(amounts.values()):
        return dict.fromkeys(amounts, present(row, "discount_cents") or 0)
    return {code: sum(given) for code, given in amounts.items()}
