"""Events: what happened on a form (contract 2)."""

import json
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from jobs.importing import answers
from jobs.importing.checks import Checks
from jobs.importing.inserting import insert_new
from jobs.importing.kind import Kind, Written
from jobs.importing.numbers import is_number, number_text
from jobs.importing.portion import HIDDEN
from jobs.importing.shops import Shops
from warehouse import tables
from warehouse.bulk import Bulk
from warehouse.vocabulary import (
    AGGREGATABLE_FIELD_TYPES,
    ANSWER,
    DEVICES,
    EVENT_TYPES,
    OTHER_DEVICE,
    STEP_COMPLETE,
    STEP_VIEW,
    UTM_FIELDS,
)

_TYPES = {name: code for code, name in enumerate(EVENT_TYPES) if name}
_DEVICES = {name: code for code, name in enumerate(DEVICES)}
_NAME_LENGTH = 1000


class Events(Kind):
    name = "events"
    fields: ClassVar = (
        "event_id",
        "shop_id",
        "form_id",
        "form_session_id",
        "visitor_id",
        "type",
        "occurred_at",
        "device_type",
        "step_id",
        "step_index",
        "step_name",
        "field_id",
        "field_type",
        "value",
        "customer_id",
        "email",
        "email_sha256",
        "discount_id",
        "discount_code",
        *UTM_FIELDS,
    )
    private = frozenset({"value"})

    def check(self, checks: Checks, shops: Shops) -> pa.Table:
        """The columns of raw_event but batch_id."""
        shop = checks.shop(shops.keys)
        columns: dict[str, Any] = {
            "event_id": checks.text("event_id", required=True),
            "form_id": checks.uuid("form_id", required=True),
            "form_session_id": checks.text("form_session_id", required=True),
            "visitor_id": checks.text("visitor_id", required=True),
        }
        types = checks.codes("type", checks.text("type"), lambda text: _TYPES.get(text, -1))
        columns["type"] = types.astype(np.int16)
        columns["occurred_at"] = checks.instant("occurred_at", required=True)
        device = checks.codes(
            "device_type",
            checks.word("device_type", DEVICES[OTHER_DEVICE]),
            lambda text: _DEVICES.get(text.lower(), OTHER_DEVICE),
        )
        columns["device"] = device.astype(np.int16)
        columns |= _step(checks, types) | _answer(checks, types)
        columns["customer_id"] = checks.text("customer_id")
        columns["email_sha256"] = checks.email_sha256()
        columns["discount_id"] = checks.text("discount_id")
        code = checks.text("discount_code")
        columns["discount_code"] = checks.mapped("discount_code", code, str.upper, "")
        for name in UTM_FIELDS:
            columns[name] = checks.text(name, cut=255)
        return pa.table({"shop_key": shop, **columns})

    def write(self, bulk: Bulk, rows: pa.Table) -> Written:
        """Add the events whose id is not taken yet."""
        new = sum(insert_new(bulk, self.name, tables.raw_event, rows).values())
        return Written(new, rows.num_rows - new)

    def conceal(self, row: dict[str, Any]) -> dict[str, Any]:
        """Without a value that is free text: that there was one is all that a retry needs."""
        if row.get("field_type") in AGGREGATABLE_FIELD_TYPES or row.get("value") in (None, "", []):
            return row
        return row | {"value": _hidden(row["value"])}


def _hidden(value: Any) -> Any:
    """Something in the place of a value that is taken, or refused, for the same reason."""
    if isinstance(value, dict):
        return {}
    if isinstance(value, list):
        return [_hidden(one) for one in value]
    if is_number(value) and number_text(value)[1]:
        return 2**64
    if isinstance(value, str) and isinstance(written := answers.typed(value, ""), list):
        return json.dumps(_hidden(written))
    return HIDDEN + "\0" if isinstance(value, str) and "\0" in value else HIDDEN


def _step(checks: Checks, types: np.ndarray) -> dict[str, Any]:
    of_step = (types == STEP_VIEW) | (types == STEP_COMPLETE)
    step = checks.text("step_id")
    index, missing = checks.whole("step_index")
    checks.refuse(of_step & (pc.equal(step, "").to_numpy(zero_copy_only=False)), "step_id: missing")
    checks.refuse(of_step & missing, "step_index: missing")
    return {
        "step_id": step,
        "step_index": index,
        "step_name": checks.text("step_name", cut=_NAME_LENGTH),
    }


def _answer(checks: Checks, types: np.ndarray) -> dict[str, Any]:
    """Field, type and value of the answers; empty for all other events."""
    rows = np.flatnonzero(types == ANSWER)
    field, field_type = checks.text("field_id"), checks.text("field_type")
    given = checks.objects("value")
    values = [given[row] for row in rows.tolist()]
    fields, field_types = field.take(pa.array(rows)), field_type.take(pa.array(rows))
    for name, texts in (("field_id", fields), ("field_type", field_types)):
        checks.refuse(rows[pc.equal(texts, "").to_numpy(zero_copy_only=False)], f"{name}: missing")
    missing = np.array([value is None or value == "" for value in values], dtype=bool)
    checks.refuse(rows[missing], "value: missing")
    found = answers.stored_answers(field_types.to_pylist(), values, textual=checks.portion.textual)
    for reason in answers.WRONG:
        bad = np.array([text == reason for text in found], dtype=bool)
        checks.refuse(rows[bad & ~missing], f"value: {reason}")
    nothing = np.array([text is None for text in found], dtype=bool)
    stored = np.full(len(types), "", dtype=object)
    stored[rows] = [text or "" for text in found]
    answered = np.zeros(len(types), dtype=bool)
    answered[rows[~nothing]] = True
    return {
        "field_id": pc.if_else(pa.array(answered), field, ""),
        "field_type": pc.if_else(pa.array(answered), field_type, ""),
        "value": pa.array(stored, pa.string()),
    }
