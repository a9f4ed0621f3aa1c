"""One odd thing in the landing folder never keeps the others from being imported."""

import json
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from jobs.landing import folder
from jobs.landing.held_file import FileLeftAlone, hold, report_name
from tests.support.import_files import as_ndjson, event, order
from tests.support.job_commands import SHOP, Commands

NAMES = {
    "82 Chinese letters": "店" * 82 + ".ndjson",
    "255 bytes": "s" * 248 + ".ndjson",
    "255 bytes of an ending": "s." + "n" * 246 + ".ndjson",
    "bytes that are no UTF-8": os.fsdecode(b"\xff\xfe.ndjson"),
    "control characters": "a\x1b[31m\n\u202eb.ndjson",
}


@pytest.mark.parametrize("name", NAMES.values(), ids=NAMES)
def test_any_name_is_imported_and_moved(sqlite_commands: Commands, name: str) -> None:
    commands = sqlite_commands
    commands.land("orders", "o.ndjson", as_ndjson([order()]))
    for _ in range(3):
        path = commands.landing / "shops" / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(as_ndjson([SHOP, {"shop_id": ""}]))
        commands("landing")
    # Every other row is a reject.
    assert [one["condition"] for one in commands.status(1)["conditions"]] == ["many-rejects"]
    done = os.listdir(commands.landing / "shops/done")
    moved = [name for name in done if not name.endswith(folder.REPORT)]
    assert sorted(done) == sorted(moved + [report_name(name) for name in moved])
    assert len(moved) == 3
    assert name in moved
    reports = [
        json.loads((commands.landing / "shops/done" / report_name(name)).read_text())
        for name in moved
    ]
    assert sorted(report["name"] for report in reports) == sorted(moved)
    assert [report["counts"]["read"] for report in reports] == [2, 2, 2]
    assert commands.rows("SELECT COUNT(*) FROM raw_order") == [1]


def test_names_and_texts_do_not_command_a_terminal(sqlite_commands: Commands) -> None:
    commands, name = sqlite_commands, NAMES["control characters"]
    text = '{"shop_id":"\x9b2J\u202e","currency":"EURO"}'
    (commands.landing / "shops").mkdir(parents=True)
    for content, ending in ((text, ""), ("?", ".txt")):
        (commands.landing / "shops" / (name + ending)).write_text(content)
    said = commands("landing", status=1)
    assert "a\\x1b[31m\\n\\u202eb.ndjson: read 1" in said
    for printed in (said, commands("rejects"), commands("status", status=1)):
        assert all(line.isprintable() for line in printed.splitlines())
    assert "\\x9b2J\\u202e" in commands("rejects")
    # Programs get the exact text, without a terminal being commanded by them either.
    printed = commands("rejects", "--json").rstrip("\n")
    assert printed.isprintable()
    assert json.loads(printed)["file"] == f"{commands.landing}/shops/{name}"
    assert json.loads(printed)["text"] == text
    printed = commands("status", "--json", status=1).rstrip("\n")
    assert printed.isprintable()
    assert json.loads(printed)["landing"]["failed"] == [
        f"{commands.landing}/shops/failed/{name}.txt"
    ]


def test_an_undecodable_name_is_told_exactly(sqlite_commands: Commands) -> None:
    commands, name = sqlite_commands, NAMES["bytes that are no UTF-8"] + ".txt"
    commands.landing.mkdir()
    (commands.landing / name).write_bytes(b"")
    assert f"{commands.landing}/\\udcff\\udcfe.ndjson.txt" in commands("status", status=1)
    (left,) = commands.status(status=1)["landing"]["left_alone"]
    assert left.startswith(f"{commands.landing}/{name}: ")


def test_a_folder_that_may_not_be_read_is_named() -> None:
    # Not below the tests' own folder, which other accounts may not enter.
    with tempfile.TemporaryDirectory(prefix="formrevenue-landing-") as name:
        root = Path(name)
        for kind in ("shops", "orders", "events"):
            (root / kind).mkdir()
            (root / kind / "f.ndjson").write_text("{}")
        root.chmod(0o755)
        (root / "shops").chmod(0)
        (root / "events").chmod(0o744)  # its names can be read, its files not
        with another_account():
            found = folder.survey(root)
            with (
                pytest.raises(FileLeftAlone, match=r"Permission denied \(done\)"),
                hold(root, found.files[0]),
            ):
                pass
        for kind in ("shops", "events"):
            (root / kind).chmod(0o755)
    assert [file.path for file in found.files] == [root / "orders/f.ndjson"]
    assert found.left_alone == [
        f"{root}/events: Permission denied",
        f"{root}/shops: Permission denied",
    ]


@contextmanager
def another_account() -> Iterator[None]:
    """During the block this process is none that may read everything."""
    own = os.geteuid()
    if own == 0:
        os.seteuid(65534)
    try:
        yield
    finally:
        if own == 0:
            os.seteuid(own)


def test_what_cannot_be_moved_stays_and_is_named(sqlite_commands: Commands) -> None:
    """Here it is the report that cannot be written: that shows before the import, not at each one."""
    commands = sqlite_commands
    commands.take("shops", [SHOP])
    file = commands.land("shops", "s.ndjson", as_ndjson([SHOP]))
    commands.land("orders", "o.ndjson", as_ndjson([order()]))
    blocking = commands.landing / "shops/done" / f".{report_name('s.ndjson')}"
    blocking.mkdir(parents=True)
    said = commands("landing", status=1)
    assert f"{file}: left where it is: Is a directory ({blocking.name})" in said
    assert "1 file could not be moved" in said
    assert commands.rows("SELECT COUNT(*) FROM raw_order") == [1]
    assert commands.rows(f"SELECT COUNT(*) FROM import_file WHERE file = '{file}'") == [0]
    (problem,) = commands.status(status=1)["problems"]
    assert "the last import of landed files failed: 1 file could not be moved" in problem
    blocking.rmdir()
    commands("landing")
    assert commands.status()["problems"] == []


def test_what_lies_in_done_is_never_overwritten_nor_read(sqlite_commands: Commands) -> None:
    commands = sqlite_commands
    done = commands.landing / "shops/done"
    (done / "s.ndjson.report.json").mkdir(parents=True)
    (done / "s-2.ndjson").symlink_to(commands.folder)
    (done / "s-3.ndjson.report.json").write_text('{"outcome": "/')
    commands.land("shops", "s.ndjson", as_ndjson([SHOP]))
    commands("landing")
    assert (done / "s-3.ndjson").is_file()
    assert json.loads((done / "s-3.ndjson.report.json").read_text())["name"] == "s-3.ndjson"
    assert commands.status()["problems"] == []


def test_a_report_that_is_moved_back_is_no_file_to_import(sqlite_commands: Commands) -> None:
    commands = sqlite_commands
    commands.land("shops", "s.ndjson.report.json", b"{}")
    commands.land("events", "e.ndjson", as_ndjson([event()]))
    commands("landing")
    (left,) = commands.status(status=1)["landing"]["left_alone"]
    assert (
        left
        == f"{commands.landing}/shops/s.ndjson.report.json: a report, not a file to import; delete it"
    )
