"""The first rejects of a file are kept; the others are counted, in every place that counts."""

import json

import pytest

from jobs.importing import kept_rejects
from jobs.importing.kinds.base import Counts
from tests.support.import_files import as_ndjson, event
from tests.support.job_commands import Commands
from tests.support.warehouse import Warehouse

MARKER = "not kept: {} more rejects of this file"
BAD = [event(event_id=f"e{number}", type="x") for number in range(12)]


@pytest.fixture(autouse=True)
def _few(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept_rejects, "MAX_KEPT_REJECTS", 5)
    monkeypatch.setattr("jobs.importing.files.ndjson.CHUNK_ROWS", 4)


@pytest.mark.parametrize("name", ["in.ndjson", "in.csv", "in.parquet"])
def test_the_first_are_kept_and_all_are_counted(sqlite_warehouse: Warehouse, name: str) -> None:
    rows = [event(event_id="good"), *BAD]
    all_counted = Counts(read=13, new=1, rejected=12, more={"not_kept": 7}).report()
    assert sqlite_warehouse.take("events", rows, name) == all_counted
    kept = sqlite_warehouse.reasons()
    first = 2 + name.endswith(".csv")
    assert [line for line, _ in kept] == [0, *range(first, first + 5)]
    assert kept[0][1] == MARKER.format(7)
    again = all_counted | {"new": 0, "duplicate": 1}
    assert sqlite_warehouse.take("events", rows, name) == again
    assert sqlite_warehouse.reasons() == kept, "another import of the file adds none"


@pytest.mark.parametrize("line", [b"{}\n", b"{\n"])
def test_broken_lines_count_too(sqlite_warehouse: Warehouse, line: bytes) -> None:
    assert sqlite_warehouse.take("events", line * 50)["rejected"] == 50
    assert [line for line, _ in sqlite_warehouse.reasons()] == [0, 1, 2, 3, 4, 5]


def test_an_import_that_was_killed_and_comes_again_keeps_the_same(
    sqlite_warehouse: Warehouse,
) -> None:
    sqlite_warehouse.take("events", BAD[:7])  # as far as it had come
    assert sqlite_warehouse.reasons()[0] == (0, MARKER.format(2))
    sqlite_warehouse.take("events", BAD)
    assert [line for line, _ in sqlite_warehouse.reasons()] == [0, 1, 2, 3, 4, 5]
    assert sqlite_warehouse.reasons()[0] == (0, MARKER.format(7))


def test_once_the_file_is_mended_nothing_says_that_some_are_missing(
    sqlite_warehouse: Warehouse,
) -> None:
    sqlite_warehouse.take("events", BAD)
    sqlite_warehouse.take("events", [event()])
    assert 0 not in [line for line, _ in sqlite_warehouse.reasons()]


def test_long_texts_fill_what_is_kept(
    sqlite_warehouse: Warehouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kept_rejects, "_MAX_TEXT", 2_000)
    long = [event(event_id=f"e{number}", type="x" * 900) for number in range(5)]
    assert sqlite_warehouse.take("events", long)["not_kept"] == 3


def test_files_of_two_shops_with_one_name(sqlite_commands: Commands) -> None:
    """The import of one deleted rejects of the other: those of the same lines."""
    names = ("a.example", "b.example")
    sqlite_commands.take("shops", [{"shop_id": name, "currency": "EUR"} for name in names])
    properties = {"form_id": "f", "form_session_id": "s"}
    call = {"type": "track", "event": "Form Viewed", "properties": properties, "timestamp": "never"}
    file = sqlite_commands.folder / "export.ndjson"
    file.write_bytes(as_ndjson([call | {"messageId": f"{number}"} for number in range(9)]))
    options = ("import", "events", str(file), "--format", "segment", "--shop")
    for name in names:
        sqlite_commands(*options, name, status=3)
    counted = "SELECT shop_id FROM reject WHERE line = 0 ORDER BY shop_id"
    assert sqlite_commands.rows(counted) == ["a.example", "b.example"]
    file.write_bytes(as_ndjson([call]))
    sqlite_commands(*options, "b.example", status=3)
    assert sqlite_commands.rows(counted) == ["a.example"]


def test_what_the_commands_say(sqlite_commands: Commands) -> None:
    sqlite_commands.take("shops", [{"shop_id": "a.example", "currency": "EUR"}])
    file = sqlite_commands.folder / "in.ndjson"
    file.write_bytes(as_ndjson(BAD))
    said = sqlite_commands("import", "events", str(file), "--json", status=3).splitlines()
    assert said[-2] == "12 rejected; 5 kept; list these with: python -m jobs rejects"
    assert json.loads(said[-1]) == Counts(read=12, rejected=12, more={"not_kept": 7}).report()
    assert sqlite_commands("rejects").splitlines()[0] == f"{file}:0 events {MARKER.format(7)}"
    retried = sqlite_commands("rejects", "--retry", "--json", status=3).splitlines()[-1]
    assert json.loads(retried)["rejected"] == 6
    reasons = {row["reason"] for row in sqlite_commands.status(1)["rejects"]}
    assert MARKER.format("…") in reasons
