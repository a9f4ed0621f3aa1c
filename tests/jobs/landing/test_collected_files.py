"""Files of the collector: one has rows of all shops; they are purged from `done/` in time, and no others."""

import os
import time
from typing import Any

import pytest

from jobs.importing import import_file
from tests.support.commands import run_web
from tests.support.import_files import SAMPLES, as_ndjson, event
from tests.support.job_commands import SHOP, Commands

# As an export of Segment: a folder for each shop.
CALLS = (SAMPLES / "segment.ndjson").read_bytes()
PLACE = "events/segment/a.example"
# The end of a name that the collector gives.
NAMED = "20260101T000000Z-0123456789abcdef"
DAY = 86_400


def test_a_shop_that_is_deleted_during_the_import_holds_up_no_other(
    sqlite_commands: Commands, monkeypatch: pytest.MonkeyPatch
) -> None:
    sqlite_commands.take("shops", [SHOP, SHOP | {"shop_id": "b.example"}])
    rows = [event(), event(event_id="e2", shop_id="b.example")]
    sqlite_commands.land("events", "collected-1.ndjson", as_ndjson(rows))
    write_chunk = import_file.write_chunk

    def delete_first(*arguments: Any) -> None:
        monkeypatch.setattr(import_file, "write_chunk", write_chunk)
        run_web(sqlite_commands.url, "shops", "delete", "a.example", "--yes").finish()
        write_chunk(*arguments)

    monkeypatch.setattr(import_file, "write_chunk", delete_first)
    said = sqlite_commands("landing")
    assert "a shop of this file was deleted" in said
    assert sqlite_commands.rows("SELECT COUNT(*) FROM raw_event") == [0]
    sqlite_commands("landing")
    assert sqlite_commands.rows("SELECT event_id FROM raw_event") == ["e2"]
    names = [path.name for path in (sqlite_commands.landing / "events/done").iterdir()]
    assert sorted(names) == ["collected-1.ndjson", "collected-1.ndjson.report.json"]


def test_old_ones_that_were_imported_are_deleted(sqlite_commands: Commands) -> None:
    sqlite_commands.settings["LANDED_DAYS"] = "7"
    sqlite_commands.take("shops", [SHOP])
    folder = sqlite_commands.landing / PLACE
    old_name, new_name = f"collected-{NAMED}.ndjson", f"collected-{NAMED.replace('6', '7')}.ndjson"
    people = (
        *("of-a-person.ndjson", "collected-by-hand.ndjson", "dropped-carts.ndjson"),
        f"collected-{NAMED}.of-hers.ndjson",
    )
    for name in (old_name, new_name, *people):
        sqlite_commands.land(PLACE, name, CALLS)
    sqlite_commands.land("orders", f"collected-{NAMED}.xyz", b"-")
    sqlite_commands("landing", status=1)
    # Not imported yet, and still open.
    sqlite_commands.land(PLACE, f"collected-{NAMED.replace('6', '8')}.ndjson", CALLS)
    (folder / f".{old_name}").write_bytes(CALLS)
    outside = sqlite_commands.folder / "outside"
    outside.mkdir()
    (outside / old_name.replace("6", "9")).touch()
    (folder.parent / "b.example").mkdir()
    (folder.parent / "b.example" / "done").symlink_to(outside)

    def names() -> set[str]:
        found = (sqlite_commands.landing.rglob("*"), outside.iterdir())
        return {path.name for paths in found for path in paths if path.is_file()}

    before = names()
    old = time.time() - 8 * DAY
    for path in (*sqlite_commands.landing.rglob("*.*"), *outside.iterdir()):
        if path.is_file() and not path.name.startswith(new_name):
            os.utime(path, (old, old))
    assert sqlite_commands("purge") == "purged 0 events, 0 records of runs, 2 files\n"
    gone = {old_name, f"{old_name}.report.json"}
    assert before - names() == gone
    assert sqlite_commands("purge") == "purged 0 events, 0 records of runs, 0 files\n"
