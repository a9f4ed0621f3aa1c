"""Files of the collector are purged from `done/` in time, and no others."""

import os
import time

from tests.support.import_files import SAMPLES
from tests.support.job_commands import SHOP, Commands

CALLS = (SAMPLES / "segment.ndjson").read_bytes()
PLACE = "events/segment/a.example"
DAY = 86_400


def test_old_ones_that_were_imported_are_deleted(sqlite_commands: Commands) -> None:
    sqlite_commands.settings["LANDED_DAYS"] = "7"
    sqlite_commands.take("shops", [SHOP])
    folder = sqlite_commands.landing / PLACE
    for name in ("collected-old", "collected-new", "of-a-person"):
        sqlite_commands.land(PLACE, f"{name}.ndjson", CALLS)
    sqlite_commands.land("orders", "collected-broken.xyz", b"-")
    sqlite_commands("landing", status=1)
    # Not imported yet, and still open.
    sqlite_commands.land(PLACE, "collected-waiting.ndjson", CALLS)
    (folder / ".collected-open.ndjson").write_bytes(CALLS)
    outside = sqlite_commands.folder / "outside"
    outside.mkdir()
    (outside / "collected-outside.ndjson").touch()
    (folder.parent / "b.example").mkdir()
    (folder.parent / "b.example" / "done").symlink_to(outside)

    def names() -> set[str]:
        found = (sqlite_commands.landing.rglob("*"), outside.iterdir())
        return {path.name for paths in found for path in paths if path.is_file()}

    before = names()
    old = time.time() - 8 * DAY
    for path in (*sqlite_commands.landing.rglob("*.*"), *outside.iterdir()):
        if path.is_file() and "new" not in path.name:
            os.utime(path, (old, old))
    assert sqlite_commands("purge") == "purged 0 events, 0 records of runs, 2 files\n"
    gone = {"collected-old.ndjson", "collected-old.ndjson.report.json"}
    assert before - names() == gone
    assert sqlite_commands("purge") == "purged 0 events, 0 records of runs, 0 files\n"
