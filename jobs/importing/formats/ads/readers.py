"""Values of ad platforms that are written in a way of their own: the words behind `read =` in the tables, and
the finer keys of a row as one text."""

import re
from collections.abc import Callable, Iterable
from hashlib import sha256
from typing import Any, Final
from urllib.parse import quote

from jobs.importing.values.errors import InvalidValue
from jobs.importing.values.money import of_millionths
from jobs.importing.values.numbers import exact_sum
from jobs.importing.values.order_lists import from_json
from jobs.importing.values.texts import text
from jobs.importing.values.times import without_midnight
from warehouse.domain.text_rules import MAX_ID
from warehouse.domain.vocabulary import PROVIDER_SOURCES

_CUSTOMER: Final = re.compile(r"customers/(\d+)/")
# The purchases that an ad brought, under the names of the same purchases on more and more places: all of
# them, those of shops and apps, those on the website. The first that a row has counts.
_PURCHASES: Final = ("omni_purchase", "purchase", "offsite_conversion.fb_pixel_purchase")
_PROVIDERS: Final = {
    source: name for name, sources in PROVIDER_SOURCES.items() for source in sources
}
# These stay as they are. "/", "=" and "%" are escaped, so that no two sets of keys share a text.
_PLAIN: Final = " :;,.+&()[]<>@#!?*$'"


def account(written: Any) -> str:
    """The id of an account, which platforms also write as `act_123` or `123-456-7890`."""
    return text(written).removeprefix("act_").replace("-", "")


def customer(resource: Any) -> str | None:
    """The customer in the name of a resource of Google (`customers/123/campaigns/4`)."""
    match = _CUSTOMER.match(resource) if isinstance(resource, str) else None
    return match[1] if match else None


def day(written: Any) -> Any:
    """A day that is written as its midnight."""
    return without_midnight(written) if isinstance(written, str) else written


def provider(written: Any) -> Any:
    """The provider by the name that the product uses; an unknown one by its own, without "Ads" behind it, as
    UTM sources have it."""
    if not isinstance(written, str):
        return written
    name = written.strip().lower()
    without_ads = name.removesuffix("ads").rstrip()
    return _PROVIDERS.get(without_ads) or name.removesuffix(" ads").rstrip() or written


def purchases(actions: Any) -> str | None:
    """The number of purchases among Meta's actions, or their value; None if there are none. Breakdowns of
    actions split one type over several entries. Raises InvalidValue."""
    by_type: dict[str, list[Any]] = {}
    actions = from_json(actions)
    for action in actions if isinstance(actions, list) else ():
        if isinstance(action, dict) and action.get("value") is not None:
            by_type.setdefault(str(action.get("action_type")), []).append(action["value"])
    values = next((by_type[kind] for kind in _PURCHASES if kind in by_type), None)
    return None if values is None else exact_sum(values)


def segment_of(keys: Iterable[tuple[str, Any]]) -> str:
    """A text such as `adset=23851/ad=23852/device=mobile`: the keys that have a value, in the given
    order; its hash (`sha256=...`) if it is longer than an id may be; "" without any.

    Raises InvalidValue if a value is neither text nor number.
    """
    written = "/".join(
        f"{name}={quote(read_at(name, text, value), safe=_PLAIN)}"
        for name, value in keys
        if value is not None and value != ""
    )
    if len(written) <= MAX_ID:
        return written
    return f"sha256={sha256(written.encode()).hexdigest()}"


def read_at(place: str, read: Callable[[Any], Any], value: Any) -> Any:
    """A value as it is read. Raises InvalidValue with its place."""
    try:
        return read(value)
    except InvalidValue as cause:
        raise InvalidValue(f"{place}: {cause}") from None


READERS: Final[dict[str, Callable[[Any], Any]]] = {
    "account": account,
    "customer": customer,
    "day": day,
    "micros": of_millionths,
    "provider": provider,
    "purchases": purchases,
}
"""Each raises InvalidValue, and is only asked for a value that is there."""
