"""A file of which nothing can be taken holds the queue for so many lines, and folders take turns."""

import gzip
import json
import os
from pathlib import Path

import pytest

from jobs.importing import ceilings
from tests.support.import_files import as_ndjson, event, order
from tests.support.job_commands import SHOP, Commands

STOPPED = (
    "nothing could be taken from 1000 lines in a row; what was imported before them stays. "
    "Mend the file, and import it again"
)


@pytest.fixture(autouse=True)
def few_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ceilings, "MAX_FRUITLESS", 1_000)
    for bound, value in (
        *(("ndjson.CHUNK_ROWS", 100), ("csv.CHUNK_ROWS", 100)),
        *(("byte_blocks.CHUNK_BYTES", 1_000), ("csv.CHUNK_BYTES", 1_000)),
    ):
        monkeypatch.setattr(f"jobs.importing.files.{bound}", value)


def report(file: Path, outcome: str) -> str:
    content = (file.parent / outcome / f"{file.name}.report.json").read_text()
    error: str = json.loads(content)["error"] or ""
    return error


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.ndjson.gz", gzip.compress(b"\n" * 200_000)),
        ("a.ndjson", b"{}\n" * 2_000),
        ("a.ndjson", b"x\n" * 2_000),
        (
            "a.csv",
            b"event_id,shop_id,form_id,form_session_id,visitor_id,type,occurred_at\n"
            + b"\n" * 5_000,
        ),
        (
            "a.csv",
            b"event_id,shop_id,form_id,form_session_id,visitor_id,type,occurred_at\n"
            + b"1,2\n" * 5_000,
        ),
    ],
    ids=["empty", "rejected", "broken", "empty-csv", "rejected-csv"],
)
def test_a_file_of_nothing_is_stopped_and_the_next_one_is_read(
    name: str, content: bytes, sqlite_commands: Commands
) -> None:
    sqlite_commands.take("shops", [SHOP])
    file = sqlite_commands.land("events", name, content)
    sqlite_commands.land("orders", "b.ndjson", as_ndjson([order()]))
    sqlite_commands("landing", status=1)
    assert report(file, "failed").endswith(STOPPED)
    assert sqlite_commands.rows("SELECT COUNT(*) FROM raw_order") == [1]


def test_rows_among_others_that_cannot_be_taken_are_taken(sqlite_commands: Commands) -> None:
    """As long as some come, whatever is between them; and what came before the end stays."""
    sqlite_commands.take("shops", [SHOP])
    rows = [as_ndjson([event(event_id=str(number))]) + b"{}\n\n" * 400 for number in range(5)]
    file = sqlite_commands.land("events", "a.ndjson", b"".join(rows))
    sqlite_commands("landing")
    assert report(file, "done") == ""
    assert sqlite_commands.rows("SELECT COUNT(*) FROM raw_event") == [5]
    more = (
        as_ndjson([event(event_id="more")]) + b"{}\n" * 2_000 + as_ndjson([event(event_id="lost")])
    )
    file = sqlite_commands.land("events", "b.ndjson", more)
    sqlite_commands("landing", status=1)
    assert report(file, "failed").endswith(STOPPED)
    assert sqlite_commands.rows("SELECT COUNT(*) FROM raw_event") == [6]


def test_folders_take_turns(sqlite_commands: Commands) -> None:
    sqlite_commands.take("shops", [SHOP, {**SHOP, "shop_id": "b.example"}])
    call = {"event": "Form Viewed", "timestamp": "2026-01-02T00:00:00Z", "anonymousId": "v"}
    properties = {"form_id": "nl", "form_session_id": "s"}
    for number, name in enumerate(("a/0", "a/1", "a/2", "b/later")):
        shop, file = name.split("/")
        line = json.dumps(call | {"messageId": str(number), "properties": properties})
        folder = f"events/segment/{shop}.example"
        landed = sqlite_commands.land(folder, f"{file}.ndjson", line.encode() + b"\n")
        os.utime(landed, (number, number))
    sqlite_commands.land("orders", "first.ndjson", as_ndjson([order()]))
    sqlite_commands("landing")
    files = sqlite_commands.rows(
        "SELECT file FROM import_file WHERE import_id > 1 ORDER BY import_id"
    )
    names = [Path(file).parent.name + "/" + Path(file).name for file in files]
    assert names == [
        *("a.example/0.ndjson", "b.example/later.ndjson", "a.example/1.ndjson"),
        *("a.example/2.ndjson", "orders/first.ndjson"),
    ]
