"""What the two exports of Shopify's orders have in common."""

from collections.abc import Iterable
from fractions import Fraction
from typing import Any, Final
from urllib.parse import parse_qsl, urlsplit

from jobs.importing.cells import Malformed
from jobs.importing.formats.format import Row, Target
from warehouse.vocabulary import UTM_FIELDS

# Attributes of an order under which a shop's theme can leave the visitor's id. Those with an
# underscore in front are not shown at the checkout.
VISITOR_ATTRIBUTES: Final = ("visitor_id", "_visitor_id")


def utm_of(address: Any) -> Row:
    """The UTM parameters of the address of a page, of each the first that is not empty."""
    if not isinstance(address, str) or "utm_" not in address:
        return {}
    try:
        query = urlsplit(address).query
    except ValueError:  # no address, but something with brackets
        return {}
    # Pages that ads lead to have long parameters of the ads' own, too.
    tags = "&".join(part for part in query.split("&") if part.startswith("utm_"))
    found: Row = {}
    for name, value in parse_qsl(tags):
        if name in UTM_FIELDS:
            found.setdefault(name, value.replace("\0", ""))
    return found


def visitor_of(attributes: Any, name: str) -> Any:
    """The visitor's id among an order's attributes, each with its name under `name`."""
    given = [(one.get(name), one.get("value")) for one in objects(attributes)]
    return first_of(
        value for wanted in VISITOR_ATTRIBUTES for found, value in given if found == wanted
    )


def paid_back(transaction: dict[str, Any]) -> bool:
    """Whether a transaction of a refund has moved money."""
    kind, status = (str(transaction.get(name)).lower() for name in ("kind", "status"))
    return kind == "refund" and status == "success"


def last_part(gid: Any) -> Any:
    """The number of a global id (`gid://shopify/Order/1`); what is none stays as it is."""
    if not isinstance(gid, str) or not gid.startswith("gid://"):
        return gid
    return gid.rpartition("/")[2].partition("?")[0]


def objects(value: Any) -> list[dict[str, Any]]:
    """The objects of a list; none where it is no list."""
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def inner(record: Any, *names: str) -> Any:
    """What lies in nested objects; None where one of them is missing."""
    for name in names:
        record = record.get(name) if isinstance(record, dict) else None
    return record


def first_of(values: Iterable[Any]) -> Any:
    """The first that is not missing."""
    return next((value for value in values if value not in (None, "")), None)


def minor(
    target: Target, place: str, amount: Any, currency: Any, rate: Fraction | None = None
) -> int | None:
    """An amount in minor units (see `Target.minor`), None where it is missing. Raises Malformed with
    the place."""
    if amount is None or amount == "":
        return None
    try:
        return target.minor(amount, currency, rate)
    except Malformed as cause:
        raise Malformed(f"{place}: {cause}") from None
