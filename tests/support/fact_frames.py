"""Frames of facts, events and orders from literals: a column that a row leaves out has its default."""

from collections.abc import Iterable, Mapping
from typing import Any

import pandas as pd
from sqlalchemy import Table

from jobs.facts.changes import by_id
from jobs.facts.read_raw import RawEvents, RawOrders
from warehouse import tables
from warehouse.domain.hash_ids import text_id
from warehouse.domain.time import MICROS_PER_DAY, NEVER
from warehouse.domain.vocabulary import UNATTRIBUTED, UTM_FIELDS
from warehouse.tables.base import is_text

Row = Mapping[str, Any]

_INSTANTS = ("first_at", "viewed_at", "started_at", "subscribed_at", "completed_at", "submitted_at")
_EVENT: dict[str, Any] = {
    "edition": 1,
    "session_hash": 1,
    "form": 1,
    "visitor": 1,
    "type": 1,
    "at": 0,
    "device": 0,
    "step": 0,
    "step_index": 0,
    "field": 0,
    "email": 0,
    "code": 0,
    "utm": 0,
    "variant": 0,
    "event_id": "",
    "form_session_id": "s",
    "step_id": "",
    "step_name": "",
    "value": "",
    "customer_id": "",
    "discount_id": "",
    "customer": 0,
}
_RAW_ORDER: dict[str, Any] = {
    "edition": 1,
    "order": 1,
    "created_at": 0,
    "gross": 0,
    "refunded": 0,
    "email": 0,
    "visitor": 0,
    "customer_seen": 0,
    "order_utm": 0,
    "test": 0,
    "order_id": "",
    "customer_id": "",
}
_TEXT = {"edition": 1, "id": 0, "text": ""}
_UTM = {"edition": 1, "utm": 0, **dict.fromkeys(UTM_FIELDS, "")}


def frame(rows: Iterable[Row], defaults: Row) -> pd.DataFrame:
    """Rows with their defaults; texts and whole numbers as the facts have them."""
    kinds = {name: "str" if isinstance(value, str) else "int64" for name, value in defaults.items()}
    listed = [{**defaults, **row} for row in rows]
    return pd.DataFrame(listed, columns=list(defaults)).astype(kinds)


def raw_events(rows: Iterable[Row] = ()) -> RawEvents:
    """Raw events, by default of one session."""
    return RawEvents(frame(rows, _EVENT), frame([], _UTM), frame([], _TEXT))


def raw_orders(rows: Iterable[Row] = (), codes: Iterable[Row] = ()) -> RawOrders:
    """The standing versions of orders, and the codes that they used."""
    used = rows_of(tables.fact_order_code, *codes)
    return RawOrders(frame(rows, _RAW_ORDER), used, frame([], _UTM), frame([], _TEXT))


def texts(*words: str) -> pd.DataFrame:
    """Texts with their ids: edition, id, text."""
    return frame(({"edition": 1, "id": text_id(word), "text": word} for word in words), _TEXT)


def sessions(*rows: Row) -> pd.DataFrame:
    """Form sessions by their id."""
    defaults = _defaults(tables.fact_form_session) | dict.fromkeys(_INSTANTS, NEVER)
    return by_id(frame(rows, defaults | {"edition": 1, "form": 1, "visitor": 1}), "session")


def orders(*rows: Row) -> pd.DataFrame:
    """Orders by their id."""
    defaults = _defaults(tables.fact_order) | {"type": UNATTRIBUTED}
    return by_id(frame(rows, defaults | {"edition": 1}), "order")


def rows_of(table: Table, *rows: Row) -> pd.DataFrame:
    return frame(rows, _defaults(table) | {"edition": 1})


def at(day: float) -> int:
    return int(day * MICROS_PER_DAY)


def _defaults(table: Table) -> dict[str, Any]:
    return {column.name: "" if is_text(column) else 0 for column in table.columns}
