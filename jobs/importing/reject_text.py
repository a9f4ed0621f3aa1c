"""The text of a rejected row that is kept: known fields only, no e-mail address, no free answer."""

import json
import re
from collections.abc import Collection
from decimal import Decimal, InvalidOperation
from typing import Any, Final

import msgspec

from jobs.importing.files.chunk import HIDDEN, MAX_KEPT_TEXT
from jobs.importing.kinds.base import Kind
from warehouse.domain.addresses import LONGEST_ADDRESS
from warehouse.domain.email_hash import EmailHasher, is_sha256, keyed_of

Row = dict[str, Any]

# Numbers keep their digits. Half of a surrogate pair, which no database stores, is an error.
_ENCODE: Final = msgspec.json.Encoder(decimal_format="number").encode
# Where a name ends, and what stands behind `"email":`. Strangers write these texts: nothing is looked at
# more than twice.
_END_OF_NAME: Final = re.compile(r'"\s*+:')
_CLEAR_EMAIL: Final = re.compile(r'("email"\s*+:\s*+")((?:[^"\\]++|\\.)*+)', re.DOTALL)
_PLAIN_HASH: Final = re.compile(r"email_?sha256", re.IGNORECASE)

# The names of fields are shorter.
_LONGEST_NAME: Final = 64


def kept_text(text: str, kind: Kind, hasher: EmailHasher, *, mapped: bool = False) -> str:
    """The text of a rejected row as it may be kept. A retry of it, or a file of it, comes to the same
    row: the mark of a keyed hash is read as the address.

    `mapped`: the text is a record of another system, of which its format has kept what it may.
    """
    # Cut first: what is not kept must not cost time. A text that was cut is no JSON any more.
    text = text[: MAX_KEPT_TEXT + LONGEST_ADDRESS]
    try:
        row = json.loads(
            text,
            object_pairs_hook=_without_repeats,
            parse_float=_number,
            parse_constant=_not_a_number,
        )
        if not isinstance(row, dict | list):
            raise ValueError("neither a row nor a list")
        kept = _without_addresses(hasher, row if mapped else _kept(row, kind))
        if kept != row:
            text = _ENCODE(kept).decode()
    except (ValueError, RecursionError):
        text = _kept_raw(hasher, text, kind.field_names(), kind.free_text())
    # PostgreSQL stores no NUL, and JSON has none.
    return text.replace("\0", "\\u0000")[:MAX_KEPT_TEXT]


def _kept(row: Any, kind: Kind) -> Any:
    if isinstance(row, list):  # no row, but rows may lie in it
        return [_kept(item, kind) for item in row]
    if not isinstance(row, dict):
        return row
    names = kind.field_names()
    return kind.conceal({name: value for name, value in row.items() if name in names})


def _number(written: str) -> Decimal:
    try:
        return Decimal(written)
    except InvalidOperation:
        raise ValueError(f"{written[:9]} is a number that no program holds") from None


def _not_a_number(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


def _without_repeats(pairs: list[tuple[str, Any]]) -> Row:
    row = dict(pairs)
    if len(row) < len(pairs):
        raise ValueError("a name comes twice, and only its last value would be looked at")
    return row


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
        return _without_plain_hash(hasher, value)
    if name == "email":
        return hasher.email(value)
    stored = hasher.text(value)
    return hasher.masked(value) if stored == value else stored


def _without_plain_hash(hasher: EmailHasher, value: str) -> str:
    """A text that should be a plain hash. One that is none must not become one: a retry would accept it."""
    digest = value.strip().lower()
    if is_sha256(digest):
        return hasher.mark(digest)
    return value if not digest or keyed_of(digest) else HIDDEN


def _kept_raw(
    hasher: EmailHasher, text: str, names: Collection[str], free_text: Collection[str]
) -> str:
    """Text that is no JSON, as far as it is kept: nothing of it if it has a name that is no field of the
    kind, since what belongs to which name cannot be told; else nothing from a field of free text on."""
    if not all(_is_named(text, end.start(), names) for end in _END_OF_NAME.finditer(text)):
        return HIDDEN
    for name in free_text:
        text = re.sub(rf'("{name}"\s*+:\s*+).*', rf'\1"{HIDDEN}"', text, flags=re.DOTALL)
    text = _CLEAR_EMAIL.sub(lambda match: match[1] + hasher.email(match[2]), text)
    return hasher.masked(hasher.without_digests(text), MAX_KEPT_TEXT)


def _is_named(text: str, end: int, names: Collection[str]) -> bool:
    """Whether one of these names, in quotation marks, ends here."""
    start = text.rfind('"', max(end - _LONGEST_NAME - 1, 0), end)
    return start >= 0 and text[start + 1 : end] in names
