"""One file may take so much memory and time: beyond that it fails, in one line, and the next one is read."""

import sys

import pytest

from jobs.importing import ceilings
from jobs.importing.ceilings import OverCeiling
from tests.support import hostile_files as hostile
from tests.support.import_files import as_ndjson, event
from tests.support.job_commands import SHOP, Commands
from tests.support.warehouse import Warehouse

MANY = [event(event_id=f"e{number}") for number in range(1_000)]
LATE = r"in.ndjson: its import takes more than 60 minutes \(IMPORT_MINUTES\); what was imported so far stays"
TOO_LARGE = (
    "its import takes more than 256 MB of memory (IMPORT_MEMORY_MB); what was imported so far stays. "
    "Split the file, or raise the setting"
)
on_linux = pytest.mark.skipif(
    sys.platform != "linux", reason="only Linux limits the memory of a process"
)


def test_a_file_that_takes_too_long(
    sqlite_warehouse: Warehouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ceilings, "_SECONDS", 0)
    with pytest.raises(OverCeiling, match=LATE):
        sqlite_warehouse.take("events", MANY)
    monkeypatch.undo()
    assert sqlite_warehouse.take("events", MANY)["read"] == 1_000


def test_what_was_written_before_the_deadline_stays(
    sqlite_warehouse: Warehouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ceilings, "_SECONDS", 1 / 60)
    monkeypatch.setattr("jobs.importing.files.ndjson.CHUNK_ROWS", 1)
    with pytest.raises(OverCeiling, match=LATE):
        sqlite_warehouse.take("events", MANY * 3)
    (stored,) = sqlite_warehouse.records("SELECT COUNT(*) AS n FROM raw_event")
    (counted,) = sqlite_warehouse.records("SELECT SUM(rows) AS n FROM import_batch")
    assert 0 < stored["n"] == counted["n"] < 1_000


@on_linux
def test_a_landed_file_that_takes_too_much_memory_fails_alone(sqlite_commands: Commands) -> None:
    sqlite_commands.take("shops", [SHOP])
    sqlite_commands.settings["IMPORT_MEMORY_MB"] = "256"
    file = hostile.front_coded(sqlite_commands.folder / "a.parquet", 400, 1_000_000)
    sqlite_commands.land("events", "a.parquet", file.read_bytes())
    sqlite_commands.land("events", "b.ndjson", as_ndjson(MANY))
    sqlite_commands.start("landing").finish(status=1)
    assert sqlite_commands.rows("SELECT COUNT(*) FROM raw_event") == [1_000]
    failed = sqlite_commands.landing / "events" / "failed"
    assert (failed / "a.parquet").exists()
    why = (failed / "a.parquet.report.json").read_text()
    assert TOO_LARGE in why
    assert (sqlite_commands.landing / "events" / "done" / "b.ndjson").exists()


@on_linux
def test_the_command_says_it_in_one_line(sqlite_commands: Commands) -> None:
    sqlite_commands.take("shops", [SHOP])
    sqlite_commands.settings["IMPORT_MEMORY_MB"] = "256"
    file = hostile.front_coded(sqlite_commands.folder / "in.parquet", 400, 1_000_000)
    said = sqlite_commands.start("import", "events", str(file)).finish(status=1)
    assert said == f"Error: {file}: {TOO_LARGE}\n"
