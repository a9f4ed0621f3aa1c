"""The table of forms: names, one form, a page of forms; create, replace a draft.

Every statement narrows by the shop first. A change moves the shop's data version in the same
transaction, because it changes the shop's answers (`form_quota.use` does).
"""

from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Collection, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any, Final

from sqlalchemy import (
    Connection,
    Select,
    bindparam,
    insert,
    select,
    text,
    tuple_,
)

from warehouse.connections.look_ups import read_rows
from warehouse.domain.time import MICROS_PER_MS
from warehouse.forms.form_rules import is_counted
from warehouse.tables import form
from web.api import form_quota
from web.db.dimensions import in_chunks

_LISTED: Final = (form.c.form_id, form.c.name, form.c.status, form.c.created_at, form.c.updated_at)
_OF_SHOP: Final = form.c.shop_key == bindparam("shop_key")
_NAMES: Final = select(form.c.form_id, form.c.name).where(
    _OF_SHOP, form.c.form_id.in_(bindparam("form_ids", expanding=True)), is_counted()
)
_VERSION: Final = select(*_LISTED, form.c.schema, form.c.draft_schema).where(
    _OF_SHOP, form.c.form_id == bindparam("form_id")
)
_LOCKED: Final = _VERSION.with_for_update()
_CREATE: Final = insert(form)
_REPLACE: Final = text(
    "UPDATE form SET draft_schema = :draft_schema, updated_at = :updated_at "
    "WHERE shop_key = :shop_key AND form_id = :form_id"
)
_FIRST_PAGE: Final = (
    select(*_LISTED)
    .where(_OF_SHOP, is_counted())
    .order_by(form.c.created_at.desc(), form.c.form_id.desc())
    .limit(bindparam("limit"))
)
_NEXT_PAGE: Final = _FIRST_PAGE.where(
    tuple_(form.c.created_at, form.c.form_id)
    < tuple_(bindparam("created_at"), bindparam("form_id"))
)

Position = tuple[int, str]
"""The key by which the list is sorted, newest first: (created_at, form_id)."""


@dataclass(frozen=True, slots=True)
class FormRow:
    """A form as it is listed. Instants are in microseconds."""

    form_id: str
    name: str
    status: str
    created_at: int
    updated_at: int


@dataclass(frozen=True, slots=True)
class FormVersion:
    """A form with its schema and its draft: JSON texts, "" where there is none."""

    form: FormRow
    schema: str
    draft_schema: str


def form_names(connection: Connection, shop_key: int, form_ids: Collection[str]) -> dict[str, str]:
    """The names of those of the ids that are forms of the shop."""
    names: dict[str, str] = {}
    for ids in in_chunks(list(form_ids)):
        values = {"shop_key": shop_key, "form_ids": ids}
        names |= {row.form_id: row.name for row in connection.execute(_NAMES, values)}
    return names


def get_version(connection: Connection, shop_key: int, form_id: str) -> FormVersion:
    """An existing form as it is now."""
    return _read_version(connection, _VERSION, {"shop_key": shop_key, "form_id": form_id})


def list_forms(
    connection: Connection, shop_key: int, limit: int, after: Position | None
) -> list[FormRow]:
    """At most `limit` forms after a position, newest first (creation time, then id)."""
    values: dict[str, Any] = {"shop_key": shop_key, "limit": limit}
    if after is not None:
        values |= {"created_at": after[0], "form_id": after[1]}
    statement = _FIRST_PAGE if after is None else _NEXT_PAGE
    return [_form(row) for row in connection.execute(statement, values)]


def is_position(connection: Connection, shop_key: int, position: Position) -> bool:
    """Whether a position is that of a form of the shop."""
    key = {"shop_key": shop_key, "form_id": position[1]}
    row = connection.execute(_VERSION, key).one_or_none()
    return row is not None and row.created_at == position[0]


def write_cursor(position: Position) -> str:
    """The cursor of the page after this position."""
    created_at, form_id = position
    return urlsafe_b64encode(f"{created_at}/{form_id}".encode()).decode().rstrip("=")


def read_cursor(cursor: str) -> Position | None:
    """The position in a cursor; None for a text that `write_cursor` did not write."""
    try:
        text = urlsafe_b64decode(cursor.encode("ascii") + b"=" * (-len(cursor) % 4)).decode()
        created_at, form_id = text.split("/")
        position = int(created_at), form_id
    except ValueError:
        return None
    # Each position has one spelling. A larger number does not fit into the database's integer.
    if abs(position[0]) >= 2**62 or write_cursor(position) != cursor:
        return None
    return position


def create_form(connection: Connection, shop_key: int, created: FormRow, schema: str) -> None:
    """Store a new form. Its schema (JSON text) is also its first draft. Raises the 409 of the quota."""
    size = form_quota.stored_bytes(schema, schema)
    form_quota.use(connection, shop_key, created.created_at, forms=1, size=size)
    connection.execute(
        _CREATE,
        {"shop_key": shop_key, "schema": schema, "draft_schema": schema, **asdict(created)},
    )


def replace_draft(
    connection: Connection,
    shop_key: int,
    form_id: str,
    draft_schema: str,
    now: int,
    seen: FormVersion | None,
) -> FormVersion | None:
    """Replace the draft of an existing form. None if the form is no longer the version `seen`; nothing
    is changed then. Raises the 409 of the quota.

    `updated_at` grows by at least a millisecond, the smallest step that an answer shows, even if an
    import dated the form in the future.
    """
    form_quota.lock(connection, shop_key)
    key = {"shop_key": shop_key, "form_id": form_id}
    former = _read_version(connection, _LOCKED, key)
    if seen not in (None, former):
        return None
    before_ms, now_ms = (at - at % MICROS_PER_MS for at in (former.form.updated_at, now))
    updated_at = now if before_ms < now_ms else before_ms + MICROS_PER_MS
    connection.execute(_REPLACE, {**key, "draft_schema": draft_schema, "updated_at": updated_at})
    size = form_quota.stored_bytes(draft_schema) - form_quota.stored_bytes(former.draft_schema)
    form_quota.use(connection, shop_key, now, forms=0, size=size)
    return FormVersion(replace(former.form, updated_at=updated_at), former.schema, draft_schema)


def _read_version(
    connection: Connection, statement: Select[Any], key: Mapping[str, Any]
) -> FormVersion:
    [(*listed, schema, draft_schema)] = read_rows(connection, statement, key)
    return FormVersion(FormRow(*listed), schema, draft_schema)


def _form(row: Any) -> FormRow:
    return FormRow(row.form_id, row.name, row.status, row.created_at, row.updated_at)
