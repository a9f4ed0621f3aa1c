"""Forms that calls name: which of them become known, and how."""

import json
from concurrent.futures import ThreadPoolExecutor
from itertools import permutations
from pathlib import Path
from random import Random
from typing import Any

import pytest
from sqlalchemy import insert, text

from jobs.importing.rejects import retry_rejects
from tests.jobs.importing.conftest import with_shops as new_warehouse
from tests.support.form_calls import BEGAN, SHOP, Call, call, ours
from tests.support.import_files import FORM, NO_UUID, event, form
from tests.support.product import Product
from tests.support.waiting import PATIENCE_SECONDS, wait_until
from tests.support.warehouse import Warehouse
from warehouse import tables
from warehouse.connections.arrow import open_arrow
from warehouse.connections.engine import open_engine
from warehouse.domain.hash_ids import form_id_of
from warehouse.domain.time import MICROS_PER_DAY, NEVER
from web.api import form_quota
from web.api.forms_table import get_version, replace_draft


def take(warehouse: Warehouse, *calls: Call) -> dict[str, int]:
    path = warehouse.folder / "calls.ndjson"
    path.write_text("".join(json.dumps(one) + "\n" for one in calls))
    return warehouse.take_file("events", path, SHOP)


def known(warehouse: Warehouse) -> dict[str, str]:
    """The name of each form, by its id in the other system, or else by its own."""
    rows = warehouse.records("SELECT form_id, source_id, name FROM form ORDER BY form_id")
    return {row["source_id"] or row["form_id"]: row["name"] for row in rows}


def shop(warehouse: Warehouse) -> dict[str, Any]:
    (row,) = warehouse.records(f"SELECT * FROM shop WHERE shop_id = '{SHOP}'")
    return row


def empty(warehouse: Warehouse) -> None:
    for table in ("raw_event", "import_batch", "form", "form_seen"):
        warehouse.change(f"DELETE FROM {table}")
    warehouse.change("UPDATE shop SET form_count = 0, form_bytes = 0")


def test_a_form_is_known_from_its_first_event(warehouse: Warehouse) -> None:
    assert (
        take(warehouse, call("popup-1", 5, "Pop-up"), call(FORM.upper(), 7), call(12))["new"] == 3
    )
    rows = {row.pop("form_id"): row for row in warehouse.records("SELECT * FROM form")}
    named = {form_id for form_id, row in rows.items() if row.pop("named_at")}
    assert named == {ours("popup-1")}
    plain = {"shop_key": 1, "status": "published", "schema": "", "draft_schema": ""}
    plain |= {"on_own_page": 0}
    assert rows == {
        form_id: {
            **plain,
            "name": name,
            **dict.fromkeys(("created_at", "updated_at", "first_event_at"), at),
            "source": "segment" if source_id else "",
            "source_id": source_id,
        }
        for form_id, name, at, source_id in (
            (ours("popup-1"), "Pop-up", BEGAN + 5_000_000, "popup-1"),
            (FORM, FORM, BEGAN + 7_000_000, ""),
            (ours("12"), "12", BEGAN, "12"),
        )
    }
    events = warehouse.records("SELECT DISTINCT form_id FROM raw_event")
    assert {row["form_id"] for row in events} == rows.keys()
    before = shop(warehouse)
    assert (before["form_count"], before["form_bytes"], before["data_version"]) == (0, 0, 1)
    # The same again, and later events that tell nothing new of the form.
    take(warehouse, call("popup-1", 5, "Pop-up"), call(FORM), call("popup-1", 6))
    take(warehouse, call(FORM, 8))
    assert shop(warehouse)["data_version"] == 2  # the first event of FORM was earlier
    assert take(warehouse, call(FORM, 8), call("12", 9))["duplicate"] == 1
    assert shop(warehouse)["data_version"] == 2


def test_events_of_our_own_kind_make_no_form_known(warehouse: Warehouse) -> None:
    row = {
        "event_id": "e",
        "shop_id": SHOP,
        "form_session_id": "s",
        "visitor_id": "v",
        "type": "view",
        "occurred_at": "2026-01-02T03:00:00Z",
    }
    counts = warehouse.take("events", [row | {"form_id": FORM}, row | {"form_id": "popup-1"}])
    assert (counts["new"], counts["rejected"]) == (1, 1)
    assert warehouse.reasons() == [(2, "form_id: 'popup-1'" + NO_UUID)]
    assert known(warehouse) == {}


def test_own_rows_with_a_source_name_forms_of_several_shops(warehouse: Warehouse) -> None:
    warehouse.take("shops", [{"shop_id": "b.example", "currency": "EUR"}])
    rows = [
        event(event_id="1", form_id="popup-1", source="segment", form_name="Pop-up"),
        event(event_id="1", form_id="popup-1", source="segment", shop_id="b.example"),
        event(event_id="2", form_id=FORM.upper(), source="segment"),
        event(event_id="3", form_id="popup-1", source="other"),
        event(event_id="4", form_id="popup-1"),
        event(event_id="5", form_id="", source="segment"),
        # Columns of these names that mean something else are not read.
        event(event_id="6", source={"app": "x"}, form_name=["y"]),
        event(event_id="7", source="web", form_name="a\0b"),
    ]
    counts = warehouse.take("events", rows)
    assert (counts["new"], counts["rejected"]) == (5, 3)
    assert warehouse.reasons() == [
        (4, "form_id: 'popup-1'" + NO_UUID),
        (5, "form_id: 'popup-1'" + NO_UUID),
        (6, "form_id: missing"),
    ]
    stored = warehouse.records(
        "SELECT s.shop_id, f.form_id, f.name, f.source FROM form f JOIN shop s USING (shop_key)"
    )
    assert {tuple(row.values()) for row in stored} == {
        (SHOP, form_id_of(SHOP, "segment", "popup-1"), "Pop-up", "segment"),
        ("b.example", form_id_of("b.example", "segment", "popup-1"), "popup-1", "segment"),
        (SHOP, FORM, FORM, ""),
    }
    events = warehouse.records("SELECT DISTINCT form_id FROM raw_event")
    assert {row["form_id"] for row in events} == {row["form_id"] for row in stored}


CALLS = [
    call("a", 9),
    call("a", 3, "Old"),
    call("a", 8, "New"),
    call("a", 8, "Neu"),
    call("b", 1, "B"),
    call("b", 2),
    call("c", 4, "C"),
    call("c", 5),
    call("d", 4, "D"),
    call("e", 7),
    call("f", 0),
    call("f", 0, "F"),
]
STATED = "2020-01-01T00:00:00Z"
# Rows of one form that is among the first, and of one that is not.
ROWS = [
    form(form_id=ours("b"), name="Row of b", created_at=None, updated_at=STATED),
    form(form_id=ours("e"), name="Row of e", created_at=None, updated_at=STATED),
]


def test_what_is_known_depends_on_no_order_and_no_portions(warehouse: Warehouse) -> None:
    """But for the names that calls give."""
    random, states = Random(4), []
    for _ in range(4):
        empty(warehouse)
        steps: list[Any] = [*CALLS, *ROWS]
        random.shuffle(steps)
        while steps:
            portion = [steps.pop() for _ in range(min(len(steps), random.randint(1, 5)))]
            if calls := [step for step in portion if "type" in step]:
                take(warehouse, *calls)
            if rows := [step for step in portion if "type" not in step]:
                warehouse.take("forms", rows)
        counted = shop(warehouse)
        # Those of the rows; a flood of events leaves the API its quota.
        assert counted["form_count"] == 2
        names = known(warehouse)
        assert names.pop("a") in ("Old", "New", "Neu")
        assert names == {"b": "Row of b", "c": "C", "d": "D", "e": "Row of e", "f": "F"}
        rows = warehouse.records("SELECT * FROM form ORDER BY form_id")
        states.append([{n: row[n] for n in row.keys() - {"name", "named_at"}} for row in rows])
    assert states[1:] == states[:-1]


def test_a_known_form_stays_known(warehouse: Warehouse, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever has the public key of pages could date forms before the shop's own, which were then gone."""
    monkeypatch.setenv("FORMS_PER_SHOP", "3")
    take(warehouse, call("own", 5, "Own"), call("second", 9), call("first", 1))
    before = warehouse.records("SELECT * FROM form ORDER BY form_id")
    early = [call(f"junk{n}") | {"timestamp": "2000-01-02T10:00:00Z"} for n in range(5)]
    assert take(warehouse, *early)["new"] == 5
    assert warehouse.records("SELECT * FROM form ORDER BY form_id") == before
    # In the order of the file, whatever times it states.
    empty(warehouse)
    take(warehouse, call("z", 9), call("y", 5), call("x", 1), call("w", 0))
    assert known(warehouse).keys() == {"z", "y", "x"}


def test_the_last_name_that_comes_stands_until_the_form_is_named_here(warehouse: Warehouse) -> None:
    take(warehouse, call("a", 5, "One"))
    take(warehouse, call("a", 3, "Two"))
    assert known(warehouse) == {"a": "Two"}
    # A form that is there already is no news.
    take(warehouse, call("a", 5, "One"))
    assert known(warehouse) == {"a": "Two"}
    take(warehouse, call("a", 5, "One"), call("a", 2, "Three"))
    assert known(warehouse) == {"a": "Three"}
    warehouse.take("forms", [form(form_id=ours("a"), name="Row")])
    take(warehouse, call("a", 30, "Four"))
    assert known(warehouse) == {"a": "Row"}


def test_a_row_and_events_come_in_either_order(warehouse: Warehouse) -> None:
    row = form(form_id=ours("a"), name="Row", status="draft", updated_at="2001-01-01T00:00:00Z")
    states = []
    for steps in permutations((call("a", 1, "One"), call("a", 5, "Five"), row)):
        empty(warehouse)
        for step in steps:
            if step is row:
                assert warehouse.take("forms", [row])["new"] == 1
                assert warehouse.take("forms", [row])["duplicate"] == 1
            else:
                take(warehouse, step)
        states.append(warehouse.records("SELECT * FROM form"))
        counted = shop(warehouse)
        size = len(states[0][0]["schema"].encode()) * 2
        assert (counted["form_count"], counted["form_bytes"]) == (1, size)
    assert states[1:] == states[:-1]
    ((stored,),) = [states[0]]
    assert (stored["name"], stored["status"], stored["named_at"]) == ("Row", "draft", NEVER)
    assert (stored["source"], stored["source_id"]) == ("segment", "a")


def test_more_ids_than_a_shop_may_have(warehouse: Warehouse) -> None:
    """Ten thousand become known, those that come first; all events are kept, and another file adds none."""
    calls = [call(f"id {n}", n // 10 % 3000) for n in range(10_400)]
    assert take(warehouse, *calls)["new"] == 10_400
    stored = {row["form_id"] for row in warehouse.records("SELECT form_id FROM form")}
    assert stored == {ours(f"id {n}") for n in range(10_000)}
    before = shop(warehouse)
    assert before["form_count"] == 0
    assert take(warehouse, *calls)["duplicate"] == 10_400
    take(warehouse, *(call(f"more {n}", n) for n in range(500)))
    assert shop(warehouse) == before


def test_a_flood_of_events_leaves_the_api_its_quota(
    warehouse: Warehouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FORMS_PER_SHOP", "3")
    take(warehouse, *(call(f"made up {n}", n) for n in range(40)))
    assert set(known(warehouse)) == {f"made up {n}" for n in range(3)}
    product = Product(warehouse.url)
    body = {"name": "x", "schema": {}}
    statuses = [product.ask("POST", "/v1/forms", SHOP, json=body).status_code for _ in range(4)]
    product.close()
    assert statuses == [201, 201, 201, 409]
    assert shop(warehouse)["form_count"] == 3
    # Nor do those that were created keep others from becoming known.
    take(warehouse, call("made up 0", name="Name"), call("later", 0))
    assert len(known(warehouse)) == 6


def test_a_form_that_was_edited_stays(
    warehouse: Warehouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FORMS_PER_SHOP", "1")
    take(warehouse, call("a", 5))
    engine, edited = open_engine(warehouse.url), BEGAN + 30 * MICROS_PER_DAY
    with engine.connect().execution_options(writes=True) as connection:
        seen = get_version(connection, 1, ours("a"))
        assert replace_draft(connection, 1, ours("a"), '{"x":1}', edited, seen)
        connection.commit()
    engine.dispose()
    take(warehouse, call("b", 1), call("a", 7, "Name"))
    assert known(warehouse) == {"a": "Name"}
    # A row that is older than the edit does not replace it.
    row = form(form_id=ours("a"), updated_at="2026-01-03T00:00:00Z")
    assert warehouse.take("forms", [row])["duplicate"] == 1
    (stored,) = warehouse.records(f"SELECT * FROM form WHERE form_id = '{ours('a')}'")
    assert (stored["draft_schema"], stored["updated_at"]) == ('{"x":1}', edited)
    assert (shop(warehouse)["form_count"], shop(warehouse)["form_bytes"]) == (0, 7)
    # A row that is newer does, and the form counts from then on.
    row = form(form_id=ours("a"), schema={}, updated_at="2026-03-01T00:00:00Z")
    assert warehouse.take("forms", [row])["replaced"] == 1
    assert (shop(warehouse)["form_count"], shop(warehouse)["form_bytes"]) == (1, 4)


def test_a_retry_makes_forms_known(warehouse: Warehouse) -> None:
    """Here of a reject from the time when only UUIDs were accepted."""
    columns = "kind, format, shop_id, shop_key, file, line, reason, text, rejected_at"
    values = {"text": json.dumps(call("popup-1", name="Pop-up"))}
    engine = open_engine(warehouse.url)
    with engine.begin() as connection:
        stored = f"'events', 'segment', '{SHOP}', 1, 'f', 1, 'x', :text, 1"
        connection.execute(text(f"INSERT INTO reject ({columns}) VALUES ({stored})"), values)
    engine.dispose()
    with open_arrow(warehouse.url) as connection:
        counts = retry_rejects(connection)
    assert (counts.new, counts.rejected) == (1, 0)
    assert known(warehouse) == {"popup-1": "Pop-up"}
    assert warehouse.reasons() == []


@pytest.mark.parametrize(
    ("properties", "reason"),
    [
        ({"form_id": "x" * 256}, f"form_id: '{'x' * 60}…' is longer than 255 characters"),
        ({"form_id": "a\0b"}, "form_id: has a NUL character"),
        ({"form_id": 1.5}, "form_id: 1.5 is not a whole number"),
        ({"form_id": {"a": 1}}, "form_id: an object is not a text"),
        ({"form_id": ""}, "form_id: missing"),
    ],
)
def test_no_form_comes_of_what_is_refused(
    sqlite_warehouse: Warehouse, properties: dict[str, Any], reason: str
) -> None:
    broken = call("a")
    broken["properties"] |= properties
    take(sqlite_warehouse, broken)
    assert sqlite_warehouse.reasons() == [(1, reason)]
    assert known(sqlite_warehouse) == {}


def test_an_import_waits_for_who_writes_forms_of_the_shop(
    postgres_url: str, tmp_path: Path
) -> None:
    warehouse = new_warehouse(postgres_url, tmp_path)
    engine = open_engine(postgres_url)
    waiting = text("SELECT COUNT(*) FROM pg_locks WHERE NOT granted")
    row = {"shop_key": 1, "form_id": ours("a"), "name": "x", "created_at": 1, "updated_at": 1}
    with ThreadPoolExecutor(1) as jobs, engine.connect() as api, engine.connect() as watcher:
        form_quota.use(api, 1, 1, forms=1, size=0)
        imported = jobs.submit(take, warehouse, call("a", name="A"), call("b"))
        wait_until(lambda: watcher.execute(waiting).scalar_one())
        api.execute(insert(tables.form), row)
        api.commit()
        assert imported.result(PATIENCE_SECONDS)["new"] == 2
    engine.dispose()
    assert known(warehouse) == {"a": "x", "b": "b"}
    assert shop(warehouse)["form_count"] == 1
