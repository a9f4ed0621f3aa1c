"""The orders behind the figures of the order clock (20), and why one is credited as it is (21).

They are read from facts, a page at a time, and add up to the reports of the same window and filter.
"""

from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections import namedtuple
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from typing import Any, Final

import orjson
from sqlalchemy import (
    ColumnElement,
    Select,
    and_,
    bindparam,
    func,
    select,
    tuple_,
)

from warehouse.connections.look_ups import read_rows
from warehouse.domain.figures import REVENUE
from warehouse.domain.hash_ids import shop_text_id, text_id
from warehouse.domain.time import MICROS_PER_DAY, day_start, iso_millis
from warehouse.domain.vocabulary import (
    ATTRIBUTION_TYPES,
    BY_CODE,
    CUSTOMER_TYPES,
    DEVICES,
    OTHER_DEVICE,
    UTM_FIELDS,
)
from warehouse.tables import (
    dim_text,
    dim_utm,
    fact_code_issued,
    fact_form_session,
    fact_order,
    fact_order_code,
)
from web.api.endpoint import for_pages, get
from web.api.filters import (
    DEVICE,
    NONE,
    UTM_FILTERS,
    VARIANT,
    VISITOR,
    VISITORS,
    has_utm,
    is_asked,
    utm_values,
    variant_id,
)
from web.api.meta import RECEIPTS_META
from web.api.query import Query
from web.api.rows import Answer, Row, column, rows, text
from web.auth.permissions import VIEW_CUSTOMERS
from web.http.current_request import Shop
from web.http.errors import not_found
from web.http.parameters import CURSOR, LIMIT, ORDER_CLOCK, Parameter, any_text, of_form, one_of
from web.reports.new_returning import CUSTOMER_TYPE
from web.reports.order_candidates import (
    CANDIDATE,
    MOST_CANDIDATES,
    SECONDS,
    candidates,
    seconds_to_order,
)

_PAGE_NEEDS: Final = VIEW_CUSTOMERS, "see orders"

# fmt: off
_COLUMNS: Final = (
    text("orderId", "Order", "The order's id."),
    text("createdAt", "Ordered", "When it was placed.", format="date-time"),
    column("cancelled", "Cancelled", "Whether it was cancelled: then all of it counts as refunded.",
        {"type": "boolean"}),
    REVENUE,
    CUSTOMER_TYPE,
    text("attributionType", "Credited", "How the order is credited to a submission.",
        enum=list(ATTRIBUTION_TYPES)),
    text("formId", "Form", "The form of that submission; null where there is none.", null=True),
    text("formName", "Name", "The form's name; null if the shop's forms do not include it.", null=True),
    text("submittedAt", "Submitted", "When the form was submitted; null where there is none.", null=True,
        format="date-time"),
    column("secondsToOrder", "Seconds to order",
        "Whole seconds from the submission to the order; null where there is none.",
        {"anyOf": [SECONDS, {"type": "null"}]}),
    text("code", "Code",
        "For `discount_code`, the code that decided, in upper case; of several the first. null for a key "
        "without `discounts:read`.", null=True),
    text("utmSource", "Source", "The effective source: the submission's if it has UTM, else the order's."),
    text("utmCampaign", "Campaign", "The effective UTM campaign."),
    text("utmMedium", "Medium", "The effective UTM medium."),
    text("utmTerm", "Term", "The effective UTM term."),
    text("utmContent", "Content", "The effective UTM content."),
)
ROW: Final = Row(
    "Receipt",
    """One order of the window. The orders and the money of all pages are those of the reports of all revenue
    for the same window and filter. Order: createdAt descending, then orderId descending.""",
    *_COLUMNS,
    clock=ORDER_CLOCK,
    owner="Each order of these days, with the submission that it is credited to.",
)
STORY: Final = Row(
    "OrderStory",
    "One order, and the submissions by which it could be credited.",
    *_COLUMNS,
    rows("candidates", "Candidates",
        "The submissions in the attribution window, or in one twice as long, that match the order: the "
        "chosen one first, then the latest first.",
        CANDIDATE, maxItems=MOST_CANDIDATES, in_one_cell=True),
    clock=ORDER_CLOCK,
    owner="Why this order is credited as it is.",
)
_OF_ORDERS: Final = (
    one_of("type", ATTRIBUTION_TYPES, "Only orders that are credited like this."),
    of_form("Only orders that are credited to this form."),
    any_text("discount_id", "Only orders that used this discount, as `discountId` has it in "
        "`/v1/discounts/performance`. Needs the scope `discounts:read`.", scope="discounts:read"),
    one_of("customer", CUSTOMER_TYPES, "Only orders of such customers, see `customerType`."),
)


def _of_utm(name: str) -> Parameter:
    kind = name.removeprefix("utm_")
    # An empty source or campaign was a value before there was `(none)`.
    allow_empty = name in ("utm_source", "utm_campaign")
    none = f"an empty one or `{NONE}`" if allow_empty else f"`{NONE}`"
    words = f"Only orders with this effective UTM {kind}, exactly; {none}: without any."
    return any_text(name, words, allow_empty=allow_empty)


# An order has an effective UTM whether it is credited or not.
_FILTERS: Final = (DEVICE, VISITOR, *map(_of_utm, UTM_FILTERS), VARIANT)
_OF_SESSION: Final = {each.name for each in _FILTERS} - {*UTM_FILTERS}
# fmt: on
_order, _session, _utm = fact_order.c, fact_form_session.c, dim_utm.c
_IS_CREDITED: Final = and_(
    _session.edition == _order.edition, _session.session == _order.session, _order.session != 0
)
# SQLite joins in this order: it asks what filters want of a session before it looks up UTM values.
_FROM: Final = fact_order.outerjoin(fact_form_session, _IS_CREDITED).outerjoin(
    dim_utm, and_(_utm.edition == _order.edition, _utm.utm == _order.utm)
)
# A session that an order is credited to has orders. PostgreSQL reads these by an index, else all sessions.
_COUNTED: Final = fact_order.outerjoin(fact_form_session, and_(_IS_CREDITED, _session.orders != 0))
_READ: Final = (
    *(
        _order[name]
        for name in ("order", "order_id", "created_at", "cancelled", "gross", "refunded")
    ),
    *(_order[name] for name in ("customer_type", "type", "form", "session", "customer", "visitor")),
    _session.submitted_at,
    *(func.coalesce(_utm[name], "").label(name) for name in UTM_FIELDS),
)
_FIRST_AND_LAST: Final = select(
    *(
        select(end(_order.created_at))
        .where(_order.edition == bindparam("edition"))
        .scalar_subquery()
        for end in (func.min, func.max)
    )
)
_ORDERS: Final = select(*_READ).select_from(_FROM)
_Order: Final[Any] = namedtuple("_Order", _ORDERS.selected_columns.keys())  # type: ignore[misc]
_IS_AFTER: Final = tuple_(_order.created_at, _order.order_id) < tuple_(
    bindparam("created_at"), bindparam("order_id")
)
_SUMS: Final = select(func.count(), func.coalesce(func.sum(_order.gross - _order.refunded), 0))
_NEWEST_FIRST: Final = _ORDERS.order_by(_order.created_at.desc(), _order.order_id.desc())
_used, _issued = fact_order_code.c, fact_code_issued.c
# The conditions of orders: those of one filter by its name, and those of several.
_CONDITIONS: Final[Mapping[str, ColumnElement[bool]]] = {
    "type": _order.type == bindparam("type"),
    "form_id": _order.form == bindparam("form_id"),
    "discount_id": select(_used.order)
    .where(
        _used.edition == _order.edition,
        _used.order == _order.order,
        _used.discount == bindparam("discount_id"),
    )
    .exists(),
    # UTM is the effective one; all else is of the session that the order is credited to.
    "utm": has_utm(_order.utm),
    # An order that is credited to none has no session, and no value that is asked for.
    "session": and_(
        is_asked(_session.device, "device", "other_device"),
        is_asked(_session.is_first_session, "visitor"),
        is_asked(_session.variant, "variant"),
    ),
    "customer": _order.customer_type == bindparam("customer"),
}
_FILTERS_OF: Final = {"utm": set(UTM_FILTERS), "session": _OF_SESSION}
# The value of a filter, as rows have it.
_VALUE_OF: Final[Mapping[str, Callable[[str], int]]] = {
    "type": ATTRIBUTION_TYPES.index,
    "form_id": text_id,
    "discount_id": text_id,
    "customer": CUSTOMER_TYPES.index,
    "device": DEVICES.index,
    "visitor": VISITORS.index,
    "variant": variant_id,
}
# The summary with the sums of the orders that meet at most one condition, and the condition's dimension.
_SUMMARIES: Final = {
    (): ("attribution", ""),
    ("type",): ("attribution", "type"),
    ("form_id",): ("form_orders", "form"),
    ("customer",): ("new_returning", "customer_type"),
}
# The first code that an order used and that its submission was issued.
_CODES: Final = (
    select(_used.order, func.min(dim_text.c.text))
    .join(fact_order, and_(_order.edition == _used.edition, _order.order == _used.order))
    .join(
        fact_code_issued,
        and_(
            _issued.edition == _used.edition,
            _issued.session == _order.session,
            _issued.code == _used.code,
        ),
    )
    .join(dim_text, and_(dim_text.c.edition == _used.edition, dim_text.c.id == _used.code))
    .where(
        _used.edition == bindparam("edition"), _used.order.in_(bindparam("orders", expanding=True))
    )
    .group_by(_used.order)
)


@get(
    "/orders",
    "customers:read",
    ROW,
    *_OF_ORDERS,
    LIMIT,
    CURSOR,
    filters=_FILTERS,
    meta=RECEIPTS_META,
    page_needs=_PAGE_NEEDS,
    response_headers=("Link",),
)
def orders(query: Query, limit: int, cursor: str | None, **filters: str | None) -> Answer:
    """The orders behind the figures, page by page.

    The orders of the window that meet all filters, newest first. `meta.total` and `meta.netRevenueCents` are
    their number and their net revenue, over all pages. No e-mail address, customer or visitor is in them.
    """

    names, values = _asked(query, filters)

    def add_up() -> tuple[int, int]:
        if names in _SUMMARIES:
            summary, dim = _SUMMARIES[names]
            sums = query.sums(summary, where={dim: values[names[0]]} if dim else None).total()
            return sums["orders"], sums["gross"] - sums["refunded"]
        statement = _counted(names, _is_unindexed(query))
        [(number, money)] = read_rows(query.connection, statement, values)
        return number, int(money)

    # Each page has the sums of all.
    name = f"orders {query.window} {filters} {query.filter}"
    total, net = query.cache.get(name, query.shop.key, query.shop.data_version, add_up)
    meta: dict[str, Any] = {"total": total, "netRevenueCents": net, "nextCursor": None}
    if cursor is not None:
        after = _read_cursor(cursor)
        if after is None or _order_row(query, after[1], _order.created_at == after[0]) is None:
            return Answer([], meta=meta)
        values |= {"created_at": after[0], "order_id": after[1]}
    # To find that there is none takes a look at every order.
    found = _read_page(query, names, values, limit + 1) if total else []
    shown = found[:limit]
    if len(found) > limit:
        meta["nextCursor"] = _write_cursor(shown[-1].created_at, shown[-1].order_id)
    return Answer(_receipts(query, shown, ROW), meta=meta)


@for_pages(
    "first orders",
    ROW,
    parameters=(*_OF_ORDERS, *_FILTERS),
    filters=_FILTERS,
    page_needs=_PAGE_NEEDS,
)
def first_orders(query: Query, **filters: str | None) -> Answer:
    """The newest orders that meet all filters, as many as an answer may have: for the file of a page."""
    newest = _read_page(query, *_asked(query, filters), query.limits.rows)
    return Answer(_receipts(query, newest, ROW))


def _is(shop: Shop, order_id: str) -> ColumnElement[bool]:
    return and_(_order.edition == shop.edition, _order.order == shop_text_id(shop.key, order_id))


@get(
    "/orders/{orderId}",
    "customers:read",
    STORY,
    single=True,
    ranged=False,
    exists=lambda connection, shop, order_id: (
        connection.scalar(select(_order.order).where(_is(shop, order_id))) is not None
    ),
    page_needs=_PAGE_NEEDS,
)
def one_order(query: Query) -> dict[str, Any]:
    """Why one order is credited as it is.

    The order, and every submission by which it could be credited in the attribution window, or would be in
    one twice as long: at most 100, the chosen one first, then the latest first.
    """
    order = _order_row(query, query.item_id)
    if order is None:
        raise not_found()
    [story] = _receipts(query, [order], STORY, [candidates(query, order)])
    return story


def _is_unindexed(query: Query) -> bool:
    """Whether all orders of the window are read without their index: where they are a fifth of the shop's or
    more. SQLite looks up each order that an index finds. That takes five times as long as to read it where it
    lies."""

    def find() -> Sequence[int | None]:
        values = {"edition": query.shop.edition}
        return query.connection.execute(_FIRST_AND_LAST, values).one()

    of_shop = query.shop.key, query.shop.data_version
    first, last = (
        (instant or 0) // MICROS_PER_DAY
        for instant in query.cache.get("first and last order", *of_shop, find)
    )
    days = min(last, query.window.last) - max(first, query.window.first) + 1
    return query.connection.dialect.name == "sqlite" and 5 * days >= last - first + 1


def _asked(
    query: Query, filters: Mapping[str, str | None]
) -> tuple[tuple[str, ...], dict[str, Any]]:
    """The names of the conditions that orders must meet, and the values of all parameters."""
    shop, window, utm = query.shop, query.window, utm_values(query.filter)
    given = {name: text for name, text in {**filters, **query.filter}.items() if text is not None}
    values = {name: _VALUE_OF[name](given[name]) if name in given else None for name in _VALUE_OF}
    # A session without a device counts under "other".
    values["other_device"] = 0 if values["device"] == OTHER_DEVICE else values["device"]
    days = day_start(window.first, shop.timezone), day_start(window.last + 1, shop.timezone)
    names = (name for name in _CONDITIONS if given.keys() & _FILTERS_OF.get(name, {name}))
    window_of = {"edition": shop.edition, "start": days[0], "end": days[1]}
    return tuple(names), {**window_of, **values, **utm}


@cache
def _counted(names: tuple[str, ...], is_unindexed: bool) -> Select[Any]:
    # Only filters by sessions ask for more than an order itself has.
    sums = _SUMS.select_from(_COUNTED if "session" in names else fact_order)
    return _meeting(sums, names, _order.created_at + 0 if is_unindexed else _order.created_at)


@cache
def _page(names: tuple[str, ...], is_next: bool) -> Select[Any]:
    page = _meeting(_NEWEST_FIRST, names, _order.created_at).limit(bindparam("limit"))
    return page.where(_IS_AFTER) if is_next else page


def _meeting(orders: Select[Any], names: Iterable[str], instant: ColumnElement[int]) -> Select[Any]:
    is_in_window = instant >= bindparam("start"), instant < bindparam("end")
    of_edition = _order.edition == bindparam("edition")
    return orders.where(of_edition, *is_in_window, *map(_CONDITIONS.__getitem__, names))


def _read_page(
    query: Query, names: tuple[str, ...], values: Mapping[str, Any], limit: int
) -> list[Any]:
    """The newest orders that meet these conditions, from the position of a cursor on if there is one."""
    page = _page(names, "order_id" in values)
    return list(map(_Order._make, read_rows(query.connection, page, {**values, "limit": limit})))


def _order_row(query: Query, order_id: str, *also: ColumnElement[bool]) -> Any:
    """An order of the shop; None where there is none, or it is a test."""
    found = _ORDERS.where(_is(query.shop, order_id), *also)
    return query.connection.execute(found).one_or_none()


def _receipts(
    query: Query, found: Sequence[Any], row: Row, *more: Sequence[Any]
) -> list[dict[str, Any]]:
    """The rows of orders; `more` are further plain columns of each."""
    forms = query.texts({order.form for order in found})
    names = query.form_names([form for form in forms.values() if form])
    codes: dict[int, str] = {}
    by_code = [order.order for order in found if order.type == BY_CODE]
    if query.sees_codes and by_code:
        values = {"edition": query.shop.edition, "orders": by_code}
        codes = {row[0]: row[1] for row in query.connection.execute(_CODES, values)}
    lines = []
    # Taken apart in one step, in the order of `_READ`: a row of SQLAlchemy is slow to find columns by name.
    for order, *each in zip(found, *more, strict=True):
        key, order_id, created_at, cancelled, gross, refunded, customer_type, *rest = order
        kind, form, session, _, _, submitted_at, source, medium, campaign, *others, _ = rest
        given = (
            order_id,
            iso_millis(created_at),
            bool(cancelled),
            CUSTOMER_TYPES[customer_type],
            ATTRIBUTION_TYPES[kind],
            forms[form] or None,
            names.get(forms[form]),
            iso_millis(submitted_at) if session else None,
            seconds_to_order(submitted_at, created_at) if session else None,
            codes.get(key),
            source,
            campaign,
            medium,
            *others,
            *each,
        )
        lines.append(row.filled(given, {"orders": 1, "gross": gross, "refunded": refunded}))
    return [{name: line[name] for name in row.columns} for line in lines]


def _write_cursor(created_at: int, order_id: str) -> str:
    return urlsafe_b64encode(orjson.dumps([created_at, order_id])).decode().rstrip("=")


def _read_cursor(cursor: str) -> tuple[int, str] | None:
    """The position in a cursor; None for a text that `_write_cursor` did not write."""
    try:
        written = urlsafe_b64decode(cursor.encode("ascii") + b"=" * (-len(cursor) % 4))
        created_at, order_id = orjson.loads(written)
    except (ValueError, TypeError):
        return None
    known = type(created_at) is int and isinstance(order_id, str)
    # A larger number does not fit into the database's integer.
    if not known or abs(created_at) >= 2**62 or _write_cursor(created_at, order_id) != cursor:
        return None
    return created_at, order_id
