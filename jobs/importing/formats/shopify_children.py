"""The lines of a bulk operation as whole orders: children, which name their parents, brought to them."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

from jobs.importing.formats.gathering import Gathering
from jobs.importing.formats.json_values import json_values
from jobs.importing.formats.keeping import kept_record
from jobs.importing.formats.records import Record, Records
from jobs.importing.formats.shopify_orders import objects
from jobs.importing.portion import HIDDEN, Broken

PARENT: Final = "__parentId"
ORDER: Final = "gid://shopify/Order/"
_REFUND: Final = "gid://shopify/Refund/"
_CODE: Final = "DiscountCodeApplication"
_ORPHAN: Final = "its order is not in the file"
# Orders that are given at once.
_ORDERS: Final = 5_000


def whole_orders(path: Path, keep: Callable[[Record], str]) -> Iterator[Records]:
    """The orders, each with its children in the lists that they are of, wherever in the file they
    are; by the file's end. `keep`: an order as text, with what is taken of it alone, and without
    anybody's address. Raises OSError."""
    some = Records([])
    with Gathering() as gathering:
        for found in json_values(path, ()):
            some.position = found.position
            if found.wrong:
                some.broken.append(Broken(found.line, HIDDEN, found.wrong))
            elif (part := _part(found.value)) is not None:
                own, parent = (str(found.value.get(name) or "") for name in ("id", PARENT))
                gathering.add(found.line, own, parent, keep(part))
        for line, order_id, text in gathering.wholes():
            some.found.append((line, _whole(gathering, order_id, text)))
            if len(some.found) >= _ORDERS:
                yield some
                some = Records([], position=some.position)
        some.broken += [Broken(line, HIDDEN, _ORPHAN) for line in gathering.orphans()]
    yield some


def _part(value: Record) -> Record | None:
    """An object of a line as the order that it is, or the part of one; None where it is none."""
    parent, own = str(value.get(PARENT) or ""), str(value.get("id") or "")
    if not parent:
        return value
    if parent.startswith(_REFUND) and "amountSet" in value:
        return {"refunds": [{"transactions": [value]}]}
    if not parent.startswith(ORDER):
        return None
    if own.startswith(_REFUND):
        return {"refunds": [value]}
    if value.get("discountAllocations"):
        return {"lineItems": [value]}
    # Applications of discounts have no id; lines of shipping have one, and a code of another kind.
    if value.get("code") and not own and value.get("__typename", _CODE) == _CODE:
        return {"discountApplications": [value]}
    return None


def _whole(gathering: Gathering, order_id: str, text: str) -> Record:
    order = kept_record(text) or {}
    for part in gathering.parts(order_id):
        for name, items in (kept_record(part) or {}).items():
            order[name] = [*objects(order.get(name)), *items]
    for refund in objects(order.get("refunds")):
        parts = [kept_record(part) or {} for part in gathering.parts(str(refund.get("id")))]
        if parts:
            refund["transactions"] = [
                one for part in parts for of in part["refunds"] for one in of["transactions"]
            ]
    return order
