"""The forms of a shop: existence, a page of them, create, replace a draft.

Every statement narrows by the shop first. A change moves the shop's data version in the same
transaction, since it changes what the shop's requests are answered.
"""

from dataclasses import asdict, dataclass
from functools import cache
from typing import Any

from sqlalchemy import (
    Connection,
    Row,
    Select,
    bindparam,
    case,
    insert,
    select,
    text,
    tuple_,
    update,
)

from warehouse.days import MICROS_PER_MS
from warehouse.schema import form
from warehouse.versions import moved

Position = tuple[int, str]
"""Where a form stands in the list: (created_at, form_id), newest first."""


@dataclass(frozen=True, slots=True)
class FormRow:
    """A form as it is listed. Instants are in microseconds."""

    form_id: str
    name: str
    status: str
    created_at: int
    updated_at: int


@dataclass(frozen=True, slots=True)
class Draft:
    """A form with its draft, a JSON text."""

    form: FormRow
    schema: str


def known_forms(connection: Connection, shop_key: int, form_ids: frozenset[str]) -> set[str]:
    """Those of the ids that are forms of the shop."""
    values = {"shop_key": shop_key, "form_ids": list(form_ids)}
    return set(connection.execute(_known(), values).scalars())


def get_form(connection: Connection, shop_key: int, form_id: str) -> FormRow:
    """A form that exists."""
    row = connection.execute(_one(), {"shop_key": shop_key, "form_id": form_id}).one()
    return _form(row)


def get_draft(connection: Connection, shop_key: int, form_id: str) -> Draft:
    """A form that exists, with its draft."""
    row = connection.execute(_draft(), {"shop_key": shop_key, "form_id": form_id}).one()
    return Draft(_form(row), row.draft_schema)


def list_forms(
    connection: Connection, shop_key: int, limit: int, after: Position | None
) -> list[FormRow]:
    """At most `limit` forms, newest first (creation time, then id), after a place in the list."""
    values: dict[str, Any] = {"shop_key": shop_key, "limit": limit}
    if after is not None:
        values |= {"created_at": after[0], "form_id": after[1]}
    return [_form(row) for row in connection.execute(_page(after is not None), values)]


def stands_at(connection: Connection, shop_key: int, position: Position) -> bool:
    """Whether a form of the shop stands at this place in the list."""
    key = {"shop_key": shop_key, "form_id": position[1]}
    row = connection.execute(_one(), key).one_or_none()
    return row is not None and row.created_at == position[0]


def new_form(form_id: str, name: str, now: int) -> FormRow:
    """A form as it is when it is created: in status `draft`."""
    return FormRow(form_id, name, "draft", now, now)


def create_form(connection: Connection, shop_key: int, created: FormRow, schema: str) -> None:
    """Store a new form; its schema (JSON text) is also where its draft starts."""
    connection.execute(
        insert(form),
        {"shop_key": shop_key, "schema": schema, "draft_schema": schema, **asdict(created)},
    )
    _move_data_version(connection, shop_key, created.created_at)


def replace_draft(
    connection: Connection,
    shop_key: int,
    form_id: str,
    draft_schema: str,
    now: int,
    seen: Draft | None,
) -> FormRow | None:
    """A form that exists, with another draft; None, with nothing changed, where it is no longer as it
    was `seen`. Its `updated_at` grows by a millisecond at least, which is the least that an answer
    shows, even where an import dated the form in the future."""
    unchanged = []
    if seen is not None:
        unchanged = [
            form.c.name == seen.form.name,
            form.c.status == seen.form.status,
            form.c.updated_at == seen.form.updated_at,
            form.c.draft_schema == seen.schema,
        ]
    moment = now - now % MICROS_PER_MS
    stands = form.c.updated_at - form.c.updated_at % MICROS_PER_MS
    row = connection.execute(
        update(form)
        .where(form.c.shop_key == shop_key, form.c.form_id == form_id, *unchanged)
        .values(
            draft_schema=draft_schema,
            updated_at=case((stands < moment, now), else_=stands + MICROS_PER_MS),
        )
        .returning(*_LISTED)
    ).one_or_none()
    if row is None:
        return None
    _move_data_version(connection, shop_key, now)
    return _form(row)


def _move_data_version(connection: Connection, shop_key: int, now: int) -> None:
    statement = text(f"UPDATE shop SET {moved(now)} WHERE shop_key = :shop_key")
    connection.execute(statement, {"shop_key": shop_key})


_LISTED = (form.c.form_id, form.c.name, form.c.status, form.c.created_at, form.c.updated_at)


def _form(row: Row[Any]) -> FormRow:
    return FormRow(row.form_id, row.name, row.status, row.created_at, row.updated_at)


@cache
def _known() -> Select[Any]:
    return select(form.c.form_id).where(
        form.c.shop_key == bindparam("shop_key"),
        form.c.form_id.in_(bindparam("form_ids", expanding=True)),
    )


@cache
def _one() -> Select[Any]:
    return select(*_LISTED).where(
        form.c.shop_key == bindparam("shop_key"), form.c.form_id == bindparam("form_id")
    )


@cache
def _draft() -> Select[Any]:
    return _one().add_columns(form.c.draft_schema)


@cache
def _page(continued: bool) -> Select[Any]:
    place = tuple_(form.c.created_at, form.c.form_id)
    statement = select(*_LISTED).where(form.c.shop_key == bindparam("shop_key"))
    if continued:
        statement = statement.where(place < tuple_(bindparam("created_at"), bindparam("form_id")))
    return statement.order_by(form.c.created_at.desc(), form.c.form_id.desc()).limit(
        bindparam("limit")
    )
