"""Forms: what is stored, and which version stands."""

import json

import pytest

from tests.support.import_files import FORM, Row, form
from tests.support.warehouse import Warehouse
from warehouse.connections.arrow import PostgresConnection, SqliteConnection, open_arrow
from warehouse.domain.time import NEVER, iso_millis

COUNTS = ("new", "duplicate", "replaced", "rejected")


def took(warehouse: Warehouse, *rows: Row, name: str = "in.ndjson") -> tuple[int, ...]:
    """New, duplicate, replaced, rejected."""
    counts = warehouse.take("forms", list(rows), name)
    return tuple(counts[name] for name in COUNTS)


def stands(warehouse: Warehouse) -> tuple[str, str, str, str]:
    """Name, draft, and when the only form was created and updated."""
    (row,) = warehouse.records("SELECT * FROM form")
    times = (iso_millis(row["created_at"])[:10], iso_millis(row["updated_at"])[:10])
    return row["name"], row["draft_schema"], *times


def version(warehouse: Warehouse) -> int:
    (row,) = warehouse.records("SELECT data_version FROM shop WHERE shop_id = 'a.example'")
    return int(row["data_version"])


def today(monkeypatch: pytest.MonkeyPatch, day: int) -> None:
    """Imports come at this day of March 2025."""
    moment = 1_740_787_200_000_000 + (day - 1) * 86_400_000_000
    for connection in (SqliteConnection, PostgresConnection):
        monkeypatch.setattr(connection, "now_micros", lambda _: moment)


@pytest.mark.parametrize("name", ["in.ndjson", "in.csv", "in.parquet"])
def test_what_is_stored(warehouse: Warehouse, name: str) -> None:
    row = form(form_id=FORM.upper(), name="Q" * 1001, status="live")
    if name == "in.parquet":
        row["schema"] = json.dumps(row["schema"])
    assert took(warehouse, row, name=name) == (1, 0, 0, 0)
    (stored,) = warehouse.records(
        "SELECT f.*, s.shop_id FROM form f JOIN shop s ON s.shop_key = f.shop_key"
    )
    assert json.loads(stored["schema"]) == json.loads(stored["draft_schema"]) == {"steps": [1]}
    assert stored | {"schema": "", "draft_schema": "", "shop_key": 0} == {
        "shop_key": 0,
        "shop_id": "a.example",
        "form_id": FORM,
        "name": "Q" * 1000,
        "status": "live",
        "schema": "",
        "draft_schema": "",
        "created_at": 1_735_689_600_000_000,
        "updated_at": 1_738_368_000_000_000,
        "source": "",
        "source_id": "",
        "first_event_at": NEVER,
        "named_at": NEVER,
        "on_own_page": 0,
    }
    assert version(warehouse) == 1
    assert took(warehouse, row, name=name) == (0, 1, 0, 0)
    assert version(warehouse) == 1


def test_what_is_missing(sqlite_warehouse: Warehouse, monkeypatch: pytest.MonkeyPatch) -> None:
    today(monkeypatch, 5)
    row = {"form_id": FORM, "shop_id": "a.example", "name": "Quiz"}
    assert took(sqlite_warehouse, row) == (1, 0, 0, 0)
    (stored,) = sqlite_warehouse.records("SELECT status, schema FROM form")
    assert stored == {"status": "draft", "schema": "{}"}
    assert stands(sqlite_warehouse) == ("Quiz", "{}", "2025-03-05", "2025-03-05")


def test_numbers_of_a_schema_keep_their_digits(sqlite_warehouse: Warehouse) -> None:
    line = json.dumps(form()).replace("[1]", "[1.10, 0.1000000000000000055511]")
    sqlite_warehouse.take("forms", line.encode())
    assert stands(sqlite_warehouse)[1] == '{"steps":[1.10,0.1000000000000000055511]}'


def test_the_latest_version_stands_in_any_order(warehouse: Warehouse) -> None:
    later = form(name="Later", schema={"a": 2}, updated_at="2025-02-02")
    assert took(warehouse, later) == (1, 0, 0, 0)
    assert took(warehouse, form()) == (0, 1, 0, 0)
    assert stands(warehouse) == ("Later", '{"a":2}', "2025-01-01", "2025-02-02")
    latest = form(name="Latest", updated_at="2025-02-03")
    assert took(warehouse, form(), latest, later) == (0, 2, 1, 0)
    assert stands(warehouse) == ("Latest", '{"steps":[1]}', "2025-01-01", "2025-02-03")
    assert version(warehouse) == 2


def test_of_one_moment_the_last_import_stands(sqlite_warehouse: Warehouse) -> None:
    assert took(sqlite_warehouse, form(), form(name="Again")) == (1, 1, 0, 0)
    assert stands(sqlite_warehouse)[0] == "Again"
    assert took(sqlite_warehouse, form(name="Once more")) == (0, 0, 1, 0)


def test_a_draft_that_is_being_edited_stays(
    warehouse: Warehouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    today(monkeypatch, 5)
    without_times = form(created_at=None, updated_at=None)
    for row in (without_times, form()):
        warehouse.take("forms", [row | {"name": "Quiz"}])
        with_draft = "UPDATE form SET draft_schema = '{\"mine\":1}'"
        execute(warehouse, with_draft)
        assert took(warehouse, row) == (0, 1, 0, 0)
        assert stands(warehouse)[1] == '{"mine":1}'
        execute(warehouse, "DELETE FROM form")


def execute(warehouse: Warehouse, sql: str) -> None:
    with open_arrow(warehouse.url) as connection:
        connection.execute(sql)
        connection.commit()


def test_without_times_the_moment_of_the_change_counts(
    sqlite_warehouse: Warehouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    row = form(created_at=None, updated_at=None)
    today(monkeypatch, 5)
    assert took(sqlite_warehouse, row) == (1, 0, 0, 0)
    today(monkeypatch, 6)
    assert took(sqlite_warehouse, row) == (0, 1, 0, 0)
    assert stands(sqlite_warehouse)[2:] == ("2025-03-05", "2025-03-05")
    assert took(sqlite_warehouse, row | {"name": "New"}) == (0, 0, 1, 0)
    assert stands(sqlite_warehouse) == ("New", '{"steps":[1]}', "2025-03-05", "2025-03-06")


def test_without_a_time_a_later_version_is_not_overwritten(
    sqlite_warehouse: Warehouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    today(monkeypatch, 5)
    took(sqlite_warehouse, form(updated_at="2025-03-06"))
    assert took(sqlite_warehouse, form(name="New", updated_at=None)) == (0, 1, 0, 0)


def test_a_file_that_restates_a_form_changes_nothing_the_second_time(
    sqlite_warehouse: Warehouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = [form(name=name, updated_at=None) for name in ("One", "Two", "One", "Three")]
    today(monkeypatch, 5)
    assert took(sqlite_warehouse, *rows) == (1, 3, 0, 0)
    then = stands(sqlite_warehouse)
    today(monkeypatch, 6)
    assert took(sqlite_warehouse, *rows) == (0, 4, 0, 0)
    assert stands(sqlite_warehouse) == then
    assert version(sqlite_warehouse) == 1


def test_one_id_in_two_shops_is_two_forms(warehouse: Warehouse) -> None:
    assert took(warehouse, form(), form(shop_id="b.example")) == (2, 0, 0, 0)
