"""Finer keys of ad spend (ad set, ad, device, ...) as the one text that `segment` is."""

from collections.abc import Iterable
from hashlib import sha256
from typing import Any, Final
from urllib.parse import quote

from jobs.importing.values.errors import InvalidValue
from jobs.importing.values.texts import text
from warehouse.domain.text_rules import MAX_ID

# These stay as they are. "/", "=" and "%" are escaped, so that no two sets of keys share a text.
_PLAIN: Final = " :;,.+&()[]<>@#!?*$'"


def segment_of(keys: Iterable[tuple[str, Any]]) -> str:
    """A text such as `adset=23851/ad=23852/device=mobile`: the keys that have a value, in the given
    order; its hash (`sha256=...`) if it is longer than an id may be; "" without any.

    Raises InvalidValue if a value is neither text nor number.
    """
    written = "/".join(
        f"{name}={quote(_text(name, value), safe=_PLAIN)}"
        for name, value in keys
        if value is not None and value != ""
    )
    if len(written) <= MAX_ID:
        return written
    return f"sha256={sha256(written.encode()).hexdigest()}"


def _text(name: str, value: Any) -> str:
    try:
        return text(value)
    except InvalidValue as cause:
        raise InvalidValue(f"{name}: {cause}") from None
