"""What of a rejected row is kept: no e-mail address in clear, and no free answer."""

import json
import re
from collections.abc import Callable
from decimal import Decimal
from hashlib import sha256
from typing import Any, Final

import msgspec

from jobs.importing.identity import hashed_email
from jobs.importing.portion import HIDDEN, LONGEST_TEXT

Row = dict[str, Any]

# In a line that is no JSON, letters and the @ may still be escaped as JSON escapes them.
_LETTER: Final = r"(?:[^\s\"'`<>,;:()\[\]{}\\@=|&?/*]|\\u[0-9a-fA-F]{4})"
_ADDRESS: Final = re.compile(
    rf"{_LETTER}{{1,254}}(?:@|%40|\\u0040){_LETTER}{{0,253}}\.{_LETTER}{{1,63}}(?<!\.)"
)
# Numbers keep their digits. Half of a surrogate pair, which no database keeps, is an error.
_ENCODE: Final = msgspec.json.Encoder(decimal_format="number").encode
_ESCAPED: Final = re.compile(r"\\u([0-9a-fA-F]{4})")
_CLEAR_FIELD: Final = re.compile(r'("email"\s*:\s*")((?:[^"\\]|\\.)*)', re.DOTALL)


def kept_text(text: str, conceal: Callable[[Row], Row], private: frozenset[str]) -> str:
    """The text of a rejected row as it may be kept.

    `conceal` takes free answers out of a row's fields; of a text that is no JSON object, whatever
    follows one of the `private` fields is hidden. A retry of the kept text comes to the same row:
    a hash in the place of an address is taken for the hash that it is.
    """
    try:
        row = json.loads(
            text,
            object_pairs_hook=_without_repeats,
            parse_float=Decimal,
            parse_constant=_no_number,
        )
        concealed = _concealed(row, conceal)
        if concealed != row:
            text = _ENCODE(concealed).decode()
    except (ValueError, RecursionError):
        text = _raw(text, private)
    # NUL is no character of a text in PostgreSQL, and none of JSON either.
    return text.replace("\0", "\\u0000")[:LONGEST_TEXT]


def _concealed(row: Any, conceal: Callable[[Row], Row]) -> Any:
    if isinstance(row, dict):
        return _without_addresses(conceal(row))
    if isinstance(row, list):
        # No row, but rows may lie in it.
        inner = [conceal(item) if isinstance(item, dict) else item for item in row]
        return _without_addresses(inner)
    raise ValueError("neither a row nor a list")


def _no_number(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


def _without_repeats(pairs: list[tuple[str, Any]]) -> Row:
    row = dict(pairs)
    if len(row) < len(pairs):
        raise ValueError("a name comes twice: only the last of its values would be looked at")
    return row


def _without_addresses(value: Any, name: str = "") -> Any:
    if isinstance(value, dict):
        return {_masked(key): _without_addresses(inner, key) for key, inner in value.items()}
    if isinstance(value, list):
        return [_without_addresses(inner) for inner in value]
    if not isinstance(value, str):
        return value
    return hashed_email(value) if name == "email" else _masked(value)


def _masked(text: str) -> str:
    if "@" not in text and "%40" not in text and "\\u0040" not in text:
        return text
    return _ADDRESS.sub(lambda found: _hash(found[0]), text)


def _hash(address: str) -> str:
    plain = _ESCAPED.sub(lambda found: chr(int(found[1], 16)), address).replace("%40", "@")
    return sha256(plain.lower().encode("utf-8", "replace")).hexdigest()


def _raw(text: str, private: frozenset[str]) -> str:
    for name in private:
        # As far as the line goes: where it breaks off, or breaks, is not known.
        text = re.sub(rf'("{name}"\s*:\s*).*', rf'\1"{HIDDEN}"', text, flags=re.DOTALL)
    text = _CLEAR_FIELD.sub(lambda found: found[1] + hashed_email(found[2]), text)
    return _masked(text)
