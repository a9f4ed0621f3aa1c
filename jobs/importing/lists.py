"""The lists that an order carries: refunds and discount codes."""

import json
from decimal import Decimal
from typing import Any, Final

import numpy as np
import orjson
import pyarrow as pa

from jobs.importing.checks import ID_LENGTH, Checks
from jobs.importing.numbers import MOST, is_number, number_text, whole_number
from jobs.importing.times import UNREADABLE, instant
from warehouse.days import EARLIEST, LATEST

_ITEMS: Final = "not a list of objects"


class Malformed(ValueError):
    """Why a list cannot be taken."""


def refunded(checks: Checks) -> np.ndarray:
    """What was given back, as int64: the sum of the refunds, each `refund_id` once."""
    found = np.zeros(len(checks.portion), dtype=np.int64)
    for row, items in _lists(checks, "refunds"):
        try:
            found[row] = min(_sum_of_refunds(items), MOST)
        except Malformed as error:
            checks.refuse([row], f"refunds: {error}")
    return found


def discount_codes(checks: Checks, discount: np.ndarray) -> pa.Array:
    """JSON texts `[[CODE, amount, discount_id], ...]` in the codes' order, "[]" without any.

    `discount`: the orders' `discount_cents`, which a sole code without an amount takes.
    """
    found = ["[]"] * len(checks.portion)
    for row, items in _lists(checks, "discount_codes"):
        try:
            codes = _codes(items, int(discount[row]))
        except Malformed as error:
            checks.refuse([row], f"discount_codes: {error}")
            continue
        found[row] = orjson.dumps(codes).decode()
    return pa.array(found, pa.string())


def _lists(checks: Checks, name: str) -> list[tuple[int, list[dict[str, Any]]]]:
    """Row and list of each row that has one; text that holds one as JSON where files are textual."""
    found = []
    for row, value in enumerate(checks.objects(name)):
        if value is None or value == "":
            continue
        if isinstance(value, str) and checks.portion.textual:
            try:
                value = json.loads(value, parse_float=Decimal)
            except (ValueError, RecursionError):
                checks.refuse([row], f"{name}: not JSON")
                continue
        if value is None:
            continue
        if isinstance(value, list) and all(isinstance(one, dict) for one in value):
            found.append((row, value))
        else:
            checks.refuse([row], f"{name}: {_ITEMS}")
    return found


def _sum_of_refunds(items: list[dict[str, Any]]) -> int:
    """Of a repeated id the latest counts, then the greatest."""
    once: dict[str, tuple[int, int]] = {}
    for item in items:
        name = _text(item, "refund_id", required=True)
        at = _instant(item)
        entry = (at, _amount(item, required=True) or 0)
        once[name] = max(entry, once.get(name, entry))
    return sum(amount for _, amount in once.values())


def _codes(items: list[dict[str, Any]], discount: int) -> list[list[Any]]:
    amounts: dict[str, list[int]] = {}
    ids: dict[str, str] = {}
    for item in items:
        code = _text(item, "code", required=True).upper()
        given = amounts.setdefault(code, [])
        amount = _amount(item)
        if amount is not None:
            given.append(amount)
        ids[code] = max(ids.get(code, ""), _text(item, "discount_id"))
    sole = len(amounts) == 1 and not any(amounts.values())
    summed = {code: discount if sole else sum(given) for code, given in amounts.items()}
    if max(summed.values(), default=0) > MOST:
        raise Malformed("amount_cents: beyond 64 bits")
    return [[code, summed[code], ids[code]] for code in sorted(summed)]


def _text(item: dict[str, Any], name: str, *, required: bool = False) -> str:
    value: Any = item.get(name)
    if is_number(value):
        value, reason = number_text(value, whole=True)
        if reason:
            raise Malformed(f"{name}: {reason}")
    if value is None or value == "":
        if required:
            raise Malformed(f"{name}: missing")
        return ""
    if not isinstance(value, str):
        raise Malformed(f"{name}: not a text")
    if "\0" in value:
        raise Malformed(f"{name}: has a NUL character")
    if len(value) > ID_LENGTH:
        raise Malformed(f"{name}: longer than {ID_LENGTH} characters")
    return value


def _amount(item: dict[str, Any], *, required: bool = False) -> int | None:
    value = item.get("amount_cents")
    if value is None or value == "":
        if required:
            raise Malformed("amount_cents: missing")
        return None
    number, reason = whole_number(value, textual=False)
    if reason:
        raise Malformed(f"amount_cents: {reason}")
    return number


def _instant(item: dict[str, Any]) -> int:
    value = item.get("created_at")
    if value is None or value == "":
        raise Malformed("created_at: missing")
    at = instant(value)
    if at == UNREADABLE:
        raise Malformed("created_at: not an ISO 8601 time")
    if not EARLIEST <= at < LATEST:
        raise Malformed("created_at: before 2000 or after 2100")
    return at
