"""Files made to cost far more than their size: each is read within a little memory, in seconds.

The ceiling of memory is the measure: an import that goes beyond it fails.
"""

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from jobs.importing.ceilings import OverCeiling
from jobs.importing.files import byte_blocks, csv
from jobs.importing.files.chunk import UnreadableFile, WantedColumns
from jobs.importing.files.csv import chunks
from tests.support import hostile_files as hostile
from tests.support.import_files import event, order
from tests.support.warehouse import Warehouse

LONG = "x" * 1_000_000
TOO_LONG_ID = f"visitor_id: '{'x' * 60}…' is longer than 255 characters"


@pytest.fixture(autouse=True)
def _little_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("IMPORT_MEMORY_MB", "350")


@pytest.mark.parametrize("text", [pa.string(), pa.large_string(), pa.binary()], ids=str)
def test_rows_that_point_to_one_long_text(sqlite_warehouse: Warehouse, text: pa.DataType) -> None:
    value = pa.scalar(LONG, pa.string()).cast(text).as_py()
    path = hostile.wide_dictionary(sqlite_warehouse.folder / "in.parquet", 3_000, value)
    counts = sqlite_warehouse.take_file("events", path)
    assert (counts["read"], counts["rejected"]) == (3_000, 3_000)
    kept = sqlite_warehouse.reasons()
    assert len(kept) + counts["not_kept"] - 1 == 3_000
    assert kept[1] == (1, TOO_LONG_ID)
    (size,) = sqlite_warehouse.records("SELECT SUM(LENGTH(text)) AS n FROM reject")
    assert size["n"] < 40 << 20


@pytest.mark.parametrize(
    ("name", "value", "accepted"),
    [
        ("step_name", LONG, True),
        ("value", [LONG] * 50, True),
        ("value", {"a": LONG}, True),
        ("email", LONG, True),
        ("visitor_id", [LONG] * 50, False),
    ],
    ids=["cut", "list", "struct", "hashed", "refused list"],
)
def test_long_texts_anywhere_in_a_row(
    sqlite_warehouse: Warehouse, name: str, value: Any, accepted: bool
) -> None:
    path = hostile.wide_dictionary(sqlite_warehouse.folder / "in.parquet", 20, value, name)
    assert sqlite_warehouse.take_file("events", path)["rejected"] == (0 if accepted else 20)


def test_rows_that_share_a_long_beginning_meet_the_ceiling(sqlite_warehouse: Warehouse) -> None:
    """Such texts cannot be read as pointers."""
    path = hostile.front_coded(sqlite_warehouse.folder / "in.parquet", 450, 1_000_000)
    with pytest.raises(
        OverCeiling, match=r"in\.parquet: .* more than 350 MB of memory \(IMPORT_MEMORY_MB\)"
    ):
        sqlite_warehouse.take_file("events", path)
    path = hostile.front_coded(sqlite_warehouse.folder / "in.parquet", 1_000, 100)
    assert sqlite_warehouse.take_file("events", path)["duplicate"] == 999


def test_schemas_that_are_valid_and_long_are_taken_in_portions(sqlite_warehouse: Warehouse) -> None:
    path = hostile.long_schemas(sqlite_warehouse.folder / "in.parquet", 150, 500_000)
    assert sqlite_warehouse.take_file("forms", path)["new"] == 150
    (stored,) = sqlite_warehouse.records("SELECT MIN(LENGTH(schema)) AS n FROM form")
    assert stored["n"] > 500_000


@pytest.mark.parametrize(
    ("write", "kind", "rejected"),
    [
        (lambda folder: hostile.stray_quote(folder / "in.csv", 150_000), "events", 150_001),
        (
            lambda folder: hostile.stray_quote(folder / "in.csv", 100_000, b'a","\n'),
            "events",
            100_001,
        ),
        (
            lambda folder: hostile.gzipped(
                folder / "in.ndjson.gz", hostile.repeated(b"{\n", 200_000)
            ),
            "events",
            200_000,
        ),
        (
            lambda folder: hostile.gzipped(
                folder / "in.ndjson.gz", [b'{"value":[' + b"[]," * 600_000 + b"1]}\n"]
            ),
            "events",
            1,
        ),
        (lambda folder: hostile.one_long_string(folder / "in.json.gz", 300 << 20), "orders", 1),
        (lambda folder: hostile.long_records(folder / "in.json.gz", 2_000), "orders", 2_001),
    ],
    ids=["stray quote", "reopened quotes", "broken lines", "many values", "string", "records"],
)
def test_what_unpacks_to_much_more(
    sqlite_warehouse: Warehouse, write: Callable[[Path], Path], kind: str, rejected: int
) -> None:
    path = write(sqlite_warehouse.folder)
    named = "shopify" if kind == "orders" else ""
    counts = sqlite_warehouse.take_file(kind, path, "a.example" if named else None, named)
    assert counts["rejected"] == rejected


def test_a_number_of_very_many_digits(sqlite_warehouse: Warehouse) -> None:
    """It is read once, not once for every digit."""
    row = order(total_cents="1" * 300_000 + "x")
    assert sqlite_warehouse.take("orders", [row], "in.csv")["rejected"] == 1
    assert "is not a number" in sqlite_warehouse.reasons()[0][1]


def test_very_many_columns_are_refused(sqlite_warehouse: Warehouse) -> None:
    path = hostile.many_columns(sqlite_warehouse.folder / "in.csv", 100_000)
    with pytest.raises(UnreadableFile, match="100007 columns; at most 2000 can be read"):
        sqlite_warehouse.take_file("events", path)
    path = hostile.many_columns(sqlite_warehouse.folder / "in.csv", 1_900)
    assert sqlite_warehouse.take_file("events", path)["new"] == 1


def test_a_record_of_too_many_lines(
    sqlite_warehouse: Warehouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(csv, "_MAX_RECORD_LINES", 10)
    rows = [event(event_id="1", step_name="a\nb"), event(event_id="2", step_name="a\n" * 20)]
    assert sqlite_warehouse.take("events", rows, "in.csv")["new"] == 1
    assert sqlite_warehouse.reasons()[0] == (4, f"not CSV: {csv._TOO_LONG}")


def test_a_line_of_too_many_values(sqlite_warehouse: Warehouse) -> None:
    line = b'{"value":[' + b"1," * 1_000_001 + b"1]}\n"
    assert sqlite_warehouse.take("events", line)["rejected"] == 1
    assert sqlite_warehouse.reasons() == [(1, byte_blocks.TOO_MANY)]


PIECES = ("a", ",", '"', '""', '","', "\n", "\n", 'a"', '"b')


def test_what_is_known_to_break_breaks_as_if_it_were_read_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "in.csv"
    texts = ["".join(random.Random(n).choices(PIECES, k=40)) for n in range(400)]

    def read() -> list[Any]:
        found = []
        for text in texts:
            path.write_text(f"x,y\n{text}\n")
            for chunk in chunks(path, WantedColumns(("x", "y"))):
                found.append((chunk.columns, chunk.lines.tolist(), chunk.broken))
        return found

    with_knowledge = read()
    monkeypatch.setattr(csv._Feed, "_check_length", lambda self: None)
    assert with_knowledge == read()
