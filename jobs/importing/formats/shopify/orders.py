"""An order of Shopify as a row, and what its two exports share."""

from abc import abstractmethod
from collections.abc import Iterable
from typing import Any, ClassVar, Final
from urllib.parse import parse_qsl, urlsplit

from jobs.importing.formats.base import ROUNDED, Format, Record, Row, Target
from warehouse.domain.vocabulary import UTM_FIELDS

# Attributes of an order in which a shop's theme can leave the visitor's id. The checkout does not show
# those with an underscore in front.
VISITOR_ATTRIBUTES: Final = ("visitor_id", "_visitor_id")


class ShopifyOrders(Format):
    """Orders whose members are named in snake_case (REST) or camelCase (GraphQL).

    `times`: the members created, updated, cancelled. `emails`: the places of the buyer's address, the
    best first. `attributes`: the member with the order's attributes, and the name of an attribute's name.
    """

    kind = "orders"
    counts: ClassVar = (ROUNDED,)
    times: ClassVar[tuple[str, str, str]]
    emails: ClassVar[tuple[tuple[str, ...], ...]]
    attributes: ClassVar[tuple[str, str]]

    def row(self, record: Record, target: Target) -> Row:
        created, updated, cancelled = self.times
        currency = self.currency(record)
        return {
            "order_id": last_part(record.get("id")),
            "created_at": record.get(created),
            "updated_at": record.get(updated),
            "currency": currency,
            "total_cents": self.total(record, currency, target),
            "discount_cents": self.discount(record, currency, target),
            "customer_id": last_part(inner(record, "customer", "id")),
            "email": first_of(inner(record, *path) for path in self.emails),
            "visitor_id": self._visitor(record),
            "discount_codes": self.codes(record, currency, target),
            "refunds": [
                {
                    "refund_id": last_part(refund.get("id")),
                    "created_at": first_of(
                        (refund.get(created), record.get(updated), record.get(created))
                    ),
                    "amount_cents": self.refunded(refund, record, currency, target),
                }
                for refund in objects(record.get("refunds"))
            ],
            "cancelled_at": record.get(cancelled),
            "test": record.get("test"),
            **self.utm(record),
        }

    @abstractmethod
    def currency(self, record: Record) -> Any: ...

    @abstractmethod
    def total(self, record: Record, currency: Any, target: Target) -> int | None: ...

    @abstractmethod
    def discount(self, record: Record, currency: Any, target: Target) -> int | None: ...

    @abstractmethod
    def codes(self, record: Record, currency: Any, target: Target) -> list[Row]: ...

    @abstractmethod
    def refunded(self, refund: Record, order: Record, currency: Any, target: Target) -> int | None:
        """The amount of a refund: the sum of its transactions that moved money."""

    @abstractmethod
    def utm(self, record: Record) -> Row: ...

    def _visitor(self, record: Record) -> Any:
        member, name = self.attributes
        pairs = [(item.get(name), item.get("value")) for item in objects(record.get(member))]
        return first_of(
            value for wanted in VISITOR_ATTRIBUTES for key, value in pairs if key == wanted
        )


def utm_of(address: Any) -> Row:
    """The UTM parameters of a page's address; of repeated ones the first that is not empty."""
    if not isinstance(address, str) or "utm_" not in address:
        return {}
    try:
        query = urlsplit(address).query
    except ValueError:  # text with brackets that is no address
        return {}
    # Addresses in ads have long parameters of the ads' own, too.
    tags = "&".join(part for part in query.split("&") if part.startswith("utm_"))
    row: Row = {}
    for name, value in parse_qsl(tags):
        if name in UTM_FIELDS:
            row.setdefault(name, value.replace("\0", ""))
    return row


def paid_back(transaction: Record) -> bool:
    """Whether a transaction of a refund has moved money."""
    kind, status = (str(transaction.get(name)).lower() for name in ("kind", "status"))
    return kind == "refund" and status == "success"


def last_part(gid: Any) -> Any:
    """The number of a global id (`gid://shopify/Order/1`); other values as they are."""
    if not isinstance(gid, str) or not gid.startswith("gid://"):
        return gid
    return gid.rpartition("/")[2].partition("?")[0]


def objects(value: Any) -> list[Record]:
    """The objects in a list; none if it is no list."""
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def inner(record: Any, *names: str) -> Any:
    """The value in nested objects; None if one of them is missing."""
    for name in names:
        record = record.get(name) if isinstance(record, dict) else None
    return record


def first_of(values: Iterable[Any]) -> Any:
    """The first value that is not missing."""
    return next((value for value in values if value not in (None, "")), None)
