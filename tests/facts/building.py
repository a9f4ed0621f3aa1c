"""Frames of facts and events from literals: what a row leaves out is missing."""

from collections.abc import Iterable, Mapping
from typing import Any

import pandas as pd

from warehouse import tables
from warehouse.columns import Table
from warehouse.days import MICROS_PER_DAY, NEVER
from warehouse.vocabulary import UNATTRIBUTED

Row = Mapping[str, Any]

_INSTANTS = ("first_at", "viewed_at", "started_at", "subscribed_at", "completed_at", "submitted_at")
_EVENT: dict[str, Any] = {
    "edition": 1,
    "natural": 1,
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
    "event_id": "",
    "form_session_id": "s",
    "step_id": "",
    "step_name": "",
    "value": "",
    "customer_id": "",
    "discount_id": "",
    "customer": 0,
}


def frame(rows: Iterable[Row], defaults: Row) -> pd.DataFrame:
    """Rows with their defaults; texts and whole numbers as the facts have them."""
    kinds = {name: "str" if isinstance(value, str) else "int64" for name, value in defaults.items()}
    listed = [{**defaults, **row} for row in rows]
    return pd.DataFrame(listed, columns=list(defaults)).astype(kinds)


def events(rows: Iterable[Row]) -> pd.DataFrame:
    """Events as `raw.read_events` gives them: of one session, if nothing else is said."""
    return frame(rows, _EVENT)


def sessions(*rows: Row) -> pd.DataFrame:
    """Form sessions by their id, as the working set holds them."""
    defaults = _defaults(tables.fact_form_session) | dict.fromkeys(_INSTANTS, NEVER)
    found = frame(rows, defaults | {"edition": 1, "form": 1, "visitor": 1})
    return found.set_index("session", drop=False)


def orders(*rows: Row) -> pd.DataFrame:
    """Orders by their id, as the working set holds them."""
    defaults = _defaults(tables.fact_order) | {"type": UNATTRIBUTED}
    return frame(rows, defaults | {"edition": 1}).set_index("order", drop=False)


def rows_of(table: Table, *rows: Row) -> pd.DataFrame:
    return frame(rows, _defaults(table) | {"edition": 1})


def at(day: float) -> int:
    return int(day * MICROS_PER_DAY)


def _defaults(table: Table) -> dict[str, Any]:
    return {name: "" if name in table.texts else 0 for name in table.names}
