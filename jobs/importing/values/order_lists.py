"""The lists that an order carries: refunds and discount codes."""

import json
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

import orjson

from jobs.importing.values.errors import InvalidValue, quoted
from jobs.importing.values.fields import ID, INSTANT, WHOLE, Field
from jobs.importing.values.numbers import LIMIT
from warehouse.domain.text_rules import read_float

_REFUND: Final = (
    Field("refund_id", ID, "counts once in an order", required=True),
    Field("created_at", INSTANT, "when the money was given back", required=True),
    Field("amount_cents", WHOLE, "in minor units", required=True),
)
_CODE: Final = (
    Field("code", ID, "the code, in any case", required=True),
    Field("amount_cents", WHOLE, "what the code took off"),
    Field("discount_id", ID, "the discount that the code belongs to"),
)

# How an id is stored that may be an e-mail address; and who is told why an element is left out.
HashText = Callable[[str], str]
LeaveOut = Callable[[str], object]


def refunds(value: Any, hash_text: HashText, leave_out: LeaveOut) -> str:
    """A list of refunds as JSON `[[refund_id, created_at, amount], ...]`, by time (microseconds), then by
    id. A repeated id counts once: its latest amount, then its greatest. Refunds that cannot be read are left
    out. Raises InvalidValue."""
    latest: dict[str, tuple[int, int]] = {}
    for refund_id, created_at, amount in _members(value, _REFUND, hash_text, leave_out):
        entry = created_at, amount
        latest[refund_id] = max(entry, latest.get(refund_id, entry))
    items = sorted((created_at, name, amount) for name, (created_at, amount) in latest.items())
    return orjson.dumps([[name, created_at, amount] for created_at, name, amount in items]).decode()


def refunded_cents(text: str) -> int:
    """The sum of the refunds that `refunds` wrote, at most 2^63 - 1."""
    return min(sum(amount for _, _, amount in orjson.loads(text)), LIMIT - 1)


def discount_codes(value: Any, hash_text: HashText, leave_out: LeaveOut) -> str:
    """A list of discount codes as JSON `[[CODE, amount, discount_id], ...]` in the codes' order. A sole
    code without an amount has null there: it takes the order's discount. Codes that cannot be read are left
    out. Raises InvalidValue."""
    amounts: dict[str, list[int]] = {}
    ids: dict[str, str] = {}
    for code, amount, discount_id in _members(value, _CODE, hash_text, leave_out):
        code = code.upper()
        stated = amounts.setdefault(code, [])
        if amount is not None:
            stated.append(amount)
        ids[code] = max(ids.get(code, ""), discount_id or "")
    sums: dict[str, int | None] = {code: sum(stated) for code, stated in amounts.items()}
    if max((total or 0 for total in sums.values()), default=0) >= LIMIT:
        raise InvalidValue("amount_cents: the sum of a code is beyond 64 bits")
    if len(sums) == 1 and not any(amounts.values()):
        sums = dict.fromkeys(sums)
    return orjson.dumps([[code, sums[code], ids[code]] for code in sorted(sums)]).decode()


def from_json(text: Any) -> Any:
    """A list that is written as JSON text (CSV, Parquet); other values as they are."""
    if not isinstance(text, str):
        return text
    try:
        return json.loads(text, parse_float=read_float)
    except (ValueError, RecursionError):
        raise InvalidValue(f"{quoted(text)} is not JSON") from None


def _members(
    value: Any, fields: Sequence[Field], hash_text: HashText, leave_out: LeaveOut
) -> Iterator[list[Any]]:
    """The members of each object in a list. One that must be there and cannot be read costs its object, any
    other only itself. Raises InvalidValue for what is no list."""
    if value is not None and not isinstance(value, list):
        raise InvalidValue(f"{quoted(value)} is not a list of objects")

    def member(written: Any, field: Field) -> Any:
        """Read a member: None if it is missing, or may be missing and cannot be read. Raises InvalidValue
        with its name."""
        if written is None or (isinstance(written, str) and not written.strip()):
            if field.required:
                raise InvalidValue(f"{field.name}: missing")
            return None
        try:
            if field.type.may_be_address and isinstance(written, str):
                written = hash_text(written)
            return field.type.read(written)
        except InvalidValue as cause:
            reason = f"{field.name}: {cause}"
            if field.required:
                raise InvalidValue(reason) from None
            leave_out(reason)
            return None

    for item in value or ():
        if not isinstance(item, dict):
            leave_out("the list has an element that is not an object")
            continue
        try:
            yield [member(item.get(field.name), field) for field in fields]
        except InvalidValue as cause:
            leave_out(str(cause))
