"""The text of a rejected row that is kept: known fields only, no e-mail address, no free answer. A text
that cannot be parsed leaves nothing."""

import json
import re
from decimal import Decimal, InvalidOperation
from typing import Any, Final

from jobs.importing.files.chunk import HIDDEN, MAX_KEPT_TEXT
from jobs.importing.files.json import ENCODE
from jobs.importing.kinds.base import Kind
from warehouse.domain.email_hash import EmailHasher, is_sha256, keyed_of

Row = dict[str, Any]

_PLAIN_HASH: Final = re.compile(r"email_?sha256", re.IGNORECASE)


def kept_text(text: str, kind: Kind, hasher: EmailHasher, *, mapped: bool = False) -> str:
    """The text of a rejected row as it may be kept. A retry of it, or a file of it, comes to the same
    row: the mark of a keyed hash is read as the address. A text that is no object, or too long, is hidden.

    `mapped`: the text is a record of another system, of which its format has kept what it may.
    """
    repeats: list[Row] = []

    def members(pairs: list[tuple[str, Any]]) -> Row:
        row = dict(pairs)
        if len(row) < len(pairs):
            repeats.append(row)
        return row

    try:
        row = json.loads(
            text[: MAX_KEPT_TEXT + 1],
            object_pairs_hook=members,
            parse_float=_number,
            parse_constant=_number,
        )
        if not isinstance(row, dict):
            return HIDDEN
        fields = kind.field_names()
        known = {name: value for name, value in row.items() if name in fields}
        known = row if mapped else kind.conceal(known)
        kept = _without_addresses(hasher, known)
        encoded = ENCODE(kept).decode()
    except (ValueError, RecursionError):
        return HIDDEN
    # Where a name comes twice, only its last value was looked at.
    stays = kept == row and not repeats
    return text if stays else encoded if len(encoded) <= MAX_KEPT_TEXT else HIDDEN


def _number(written: str) -> Decimal:
    """A number of JSON, which `NaN` and the infinite ones are not. Raises ValueError."""
    try:
        number = Decimal(written)
    except InvalidOperation:
        raise ValueError(f"no program holds the number {written[:9]}...") from None
    if not number.is_finite():
        raise ValueError(f"{written} is not JSON")
    return number


def _without_addresses(hasher: EmailHasher, value: Any, name: str = "") -> Any:
    if isinstance(value, dict):
        return {
            hasher.masked(key): _without_addresses(hasher, inner, key)
            for key, inner in value.items()
        }
    if isinstance(value, list):
        return [_without_addresses(hasher, inner) for inner in value]
    if not isinstance(value, str):
        return value
    if _PLAIN_HASH.fullmatch(name):
        # A text that should be a plain hash. One that is none must not become one: a retry would
        # accept it.
        digest = value.strip().lower()
        if is_sha256(digest):
            return hasher.mark(digest)
        return value if not digest or keyed_of(digest) else HIDDEN
    if name == "email":
        return hasher.email(value)
    stored = hasher.text(value)
    return hasher.masked(value) if stored == value else stored
