"""The raw rows of a shop as an import reads them: one function per kind, from a stored row to its fields.

Stored values are read as themselves: to import the rows gives the same stored rows. Three things are not
stored as they came, and have a value in their place that is read alike: the time at which an order was
cancelled (its creation), the answer to a question whose answers are not kept (`true`), and the question
of an answer without content (`-`). An e-mail address is exported as the mark of its keyed hash,
which another installation stores as it is, and so has the same persons.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final

import orjson
from sqlalchemy import Connection, Select, Table, exists, or_, select, tuple_, union

from warehouse.domain.email_hash import keyed_mark
from warehouse.domain.time import NEVER, day_date, from_micros
from warehouse.domain.vocabulary import ANSWER, DEVICES, EVENT_TYPES, STEP_COMPLETE, STEP_VIEW
from warehouse.forms.form_rules import BY_MEMBER
from warehouse.tables import (
    ad_account,
    ad_spend,
    exchange_rate,
    form,
    raw_event,
    raw_order,
    shop,
)

Row = dict[str, Any]

_ACCOUNT: Final = "shop_id provider account_id status message"
_SPEND: Final = (
    "shop_id provider account_id campaign_id segment campaign_name currency spend impressions clicks "
    "reported_conversions reported_value"
)
# Rows that are in memory at once.
_ROWS: Final = 5_000


def kinds_of_rows(
    connection: Connection, shop_key: int, shop_id: str
) -> Iterator[tuple[str, Iterator[Row]]]:
    """The kinds of files in the order of their import, each with its rows. The snapshot of the connection
    is read, a few rows at a time."""
    used = union(
        select(shop.c.currency).where(shop.c.shop_key == shop_key),
        select(ad_spend.c.currency).where(ad_spend.c.shop_key == shop_key),
    )
    currencies = connection.scalars(used).all()
    of_currencies = or_(exchange_rate.c.base.in_(currencies), exchange_rate.c.quote.in_(currencies))
    later = raw_order.alias()
    # Among several versions of one instant the same one stands for ever, so the others are left out: without
    # the addresses, of which only keyed hashes are exported, another installation might choose another one.
    is_last = ~exists().where(
        *(later.c[name] == raw_order.c[name] for name in ("shop_key", "order_id", "updated_at")),
        tuple_(later.c.precedence, later.c.content)
        > tuple_(raw_order.c.precedence, raw_order.c.content),
    )

    def of_shop(table: Table) -> Select[Any]:
        return select(table).where(table.c.shop_key == shop_key)

    selected: dict[str, tuple[Select[Any], Callable[[Row], Iterable[Row]]]] = {
        "shops": (of_shop(shop), lambda row: [_named(row, "shop_id name currency timezone")]),
        "forms": (of_shop(form), _forms),
        "exchange-rates": (
            select(exchange_rate).where(of_currencies),
            lambda row: [_named(row, "base quote rate") | {"date": _day(row["day"])}],
        ),
        "ad-accounts": (
            of_shop(ad_account),
            lambda row: [_named(row, _ACCOUNT) | {"synced_at": _instant(row["synced_at"])}],
        ),
        "ad-spend": (
            of_shop(ad_spend),
            lambda row: [_named(row, _SPEND) | {"date": _day(row["day"])}],
        ),
        "events": (of_shop(raw_event), _events),
        "orders": (of_shop(raw_order).where(is_last), _orders),
    }

    def rows(statement: Select[Any], rows_of: Callable[[Row], Iterable[Row]]) -> Iterator[Row]:
        result = connection.execute(statement, execution_options={"yield_per": _ROWS})
        for stored in result.mappings():
            for row in rows_of({"shop_id": shop_id, **stored}):
                yield {name: value for name, value in row.items() if value not in ("", None)}

    for kind, how in selected.items():
        yield kind, rows(*how)


def _forms(stored: Row) -> Iterator[Row]:
    """The form as events of another system told of it, then the form itself. A schema is JSON as text, which
    keeps its spelling."""
    own = _named(stored, "form_id shop_id name")
    drafted = {
        "draft_schema": stored["draft_schema"],
        "updated_at": _instant(stored["updated_at"]),
    }
    is_ours = stored["named_at"] == NEVER
    if stored["first_event_at"] != NEVER:
        seen = own | _named(stored, "source source_id")
        seen["first_event_at"] = _instant(stored["first_event_at"])
        if not is_ours:
            # The name that a member gave came at no instant.
            came_at = stored["named_at"] % BY_MEMBER
            seen["named_at"] = _instant(came_at) if came_at else None
            seen |= drafted if stored["draft_schema"] else {}
        yield seen
    if is_ours:
        yield (
            own
            | drafted
            | {
                "status": stored["status"],
                "schema": stored["schema"],
                "created_at": _instant(stored["created_at"]),
            }
        )


_EVENT_TEXTS: Final = (
    "event_id shop_id form_id form_session_id visitor_id step_id step_name field_id field_type "
    "customer_id discount_id discount_code variant page_path utm_source utm_medium utm_campaign "
    "utm_term utm_content utm_id"
)


def _events(stored: Row) -> Iterator[Row]:
    row = _named(stored, _EVENT_TEXTS) | {
        "email_sha256": keyed_mark(stored["email_sha256"]),
        "type": EVENT_TYPES[stored["type"]],
        "occurred_at": _instant(stored["occurred_at"]),
        "device_type": DEVICES[stored["device"]],
    }
    if stored["step_index"] or stored["type"] in (STEP_VIEW, STEP_COMPLETE):
        row["step_index"] = stored["step_index"]
    if stored["type"] == ANSWER:
        if not stored["field_id"]:
            row |= {"field_id": "-", "field_type": "-", "value": []}
        else:
            row["value"] = orjson.Fragment(stored["value"]) if stored["value"] else True
    yield row


_ORDER_TEXTS: Final = (
    "order_id shop_id customer_id visitor_id utm_source utm_medium utm_campaign utm_term "
    "utm_content utm_id"
)


def _orders(stored: Row) -> Iterator[Row]:
    created_at = _instant(stored["created_at"])
    version = "updated_at" if stored["exported_at"] == NEVER else "exported_at"
    yield _named(stored, _ORDER_TEXTS) | {
        "email_sha256": keyed_mark(stored["email_sha256"]),
        "created_at": created_at,
        version: _instant(stored["updated_at"]),
        "total_cents": stored["gross"],
        "discount_cents": stored["discounted"],
        "discount_codes": [
            {"code": code, "amount_cents": amount, "discount_id": discount_id}
            for code, amount, discount_id in orjson.loads(stored["codes"])
        ],
        "refunds": [
            {"refund_id": refund_id, "created_at": _instant(at), "amount_cents": amount}
            for refund_id, at, amount in orjson.loads(stored["refunds"])
        ],
        "cancelled_at": created_at if stored["cancelled"] else None,
        "test": bool(stored["test"]),
    }


def _named(stored: Row, names: str) -> Row:
    return {name: stored[name] for name in names.split()}


def _instant(instant: int) -> str:
    return from_micros(instant).isoformat().replace("+00:00", "Z")


def _day(day: int) -> str:
    return day_date(day).isoformat()
