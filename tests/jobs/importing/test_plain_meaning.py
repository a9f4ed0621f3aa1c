"""Columns mean what the plain reading of one row after the other means, on random valid rows."""

import json
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from jobs.importing.files.ndjson import chunk_of_texts
from jobs.importing.kinds import KINDS
from jobs.importing.shops import ImportedShops
from jobs.importing.values.columns import ChunkColumns
from tests.support.depth import examples
from tests.support.hashing import HASHER
from tests.support.oracle.orders import order_of
from tests.support.oracle.records import UTM, Event, Row, event_of
from tests.support.strategies import worlds
from tests.support.worlds import World
from warehouse.domain.time import to_micros
from warehouse.domain.vocabulary import DEVICES, EVENT_TYPES

QUIET = settings(examples(60), suppress_health_check=list(HealthCheck))


def stored(kind: str, rows: list[Row], currencies: dict[str, str]) -> list[dict[str, Any]]:
    texts = [(n, json.dumps(row)) for n, row in enumerate(rows, 1)]
    columns = ChunkColumns(chunk_of_texts(KINDS[kind].field_names(), texts, textual=False), HASHER)
    keys = {shop: key for key, shop in enumerate(currencies, 1)}
    shops = ImportedShops(keys, {keys[shop]: currency for shop, currency in currencies.items()})
    table = KINDS[kind].check(columns, shops)
    assert columns.refused() == []
    assert columns.chunk.broken == []
    return table.to_pylist()


def currencies_of(world: World) -> dict[str, str]:
    return {shop: cast.currency for shop, cast in world.casts.items()}


def plain_event(event: Event) -> dict[str, Any]:
    """The row in raw_event of an event, by the plain meaning of its fields."""
    value, answer = "", event.answer
    if answer and answer.values is not None:
        values = list(answer.values)
        value = json.dumps(values if answer.is_list else values[0], ensure_ascii=False)
    return {
        "event_id": event.id,
        "form_id": event.form_id,
        "form_session_id": event.session_id,
        "visitor_id": event.visitor,
        "type": EVENT_TYPES.index(event.type),
        "occurred_at": to_micros(event.at),
        "device": DEVICES.index(event.device or ""),
        "step_id": event.step_id or "",
        "step_index": event.step_index or 0,
        "step_name": event.step_name or "",
        "field_id": event.field_id if answer else "",
        "value": value.replace('", "', '","'),
        "customer_id": event.customer or "",
        "email_sha256": (event.email and HASHER.keyed(event.email)) or "",
        "discount_id": event.discount_id or "",
        "discount_code": event.code or "",
        **dict(zip(UTM, event.utm, strict=True)),
    }


@QUIET
@given(worlds(20))
def test_events(world: World) -> None:
    rows = world.records["events"]
    found = stored("events", rows, currencies_of(world))
    for row in found:
        del row["shop_key"], row["field_type"]
    for name in ("variant", "page_path"):
        assert [row.pop(name) for row in found] == [row.get(name) or "" for row in rows]
    assert found == [plain_event(event_of(row)) for row in rows]


@QUIET
@given(worlds(20))
def test_orders(world: World) -> None:
    rows = world.records["orders"]
    for row, given_row in zip(stored("orders", rows, currencies_of(world)), rows, strict=True):
        order = order_of(given_row)
        codes = json.loads(row["codes"])
        assert row["order_id"] == order.id
        assert (row["gross"], row["refunded"]) == (order.gross, order.refunded)
        if not row["cancelled"]:
            kept = sum(amount for _, _, amount in json.loads(row["refunds"]))
            assert min(kept, order.gross) == order.refunded
        assert row["created_at"] == to_micros(order.at)
        assert {code: amount for code, amount, _ in codes} == order.codes
        named = {(code, discount) for code, _, discount in codes if discount}
        assert named <= order.discount_ids
        assert {code for code, _ in named} == {code for code, _ in order.discount_ids}
        assert row["email_sha256"] == ((order.email and HASHER.keyed(order.email)) or "")
        assert row["customer_id"] == (order.customer or "")
        assert row["visitor_id"] == (order.visitor or "")
        assert tuple(row[name] for name in UTM) == order.utm


texts = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1)
# The range of 64 bits.
numbers = st.integers(-(2**63), 2**63 - 1) | st.floats(-9.2e18, 9.2e18)
scalars = texts | numbers | st.booleans()


@QUIET
@given(
    st.lists(
        st.tuples(
            st.sampled_from(["choice", "multi_choice", "scale", "boolean", "text", "odd"]),
            scalars | st.lists(scalars),
        ),
        min_size=1,
    )
)
def test_values(pairs: list[tuple[str, Any]]) -> None:
    base = {
        "event_id": "e",
        "shop_id": "s",
        "form_id": "0190c4a2-5b7e-7c3d-8f1a-2b3c4d5e6f70",
        "form_session_id": "s",
        "visitor_id": "v",
        "type": "answer",
        "field_id": "f",
        "occurred_at": "2026-01-01",
    }
    rows = [base | {"field_type": kind, "value": value} for kind, value in pairs]
    for row, found in zip(rows, stored("events", rows, {"s": "EUR"}), strict=True):
        answer = event_of(row).answer
        assert (found["field_id"] == "f") == (answer is not None)
        if answer is None or answer.values is None:
            assert found["value"] == ""
        else:
            value = json.loads(found["value"])
            assert (value if answer.is_list else [value]) == list(answer.values)
