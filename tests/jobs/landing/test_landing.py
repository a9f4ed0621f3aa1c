"""The landing folder: each file is imported once and moved, whatever dies on the way."""

import json
import os
import signal
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from jobs.landing import folder, turns
from jobs.landing.held_file import FileGone, hold
from jobs.landing.land import MAX_TRIES
from jobs.landing.turns import files_in_turns
from tests.support.commands import ROOT, kill
from tests.support.import_files import as_csv, as_ndjson, event, form, order
from tests.support.job_commands import Commands
from tests.support.waiting import wait_until

SHOP = {"shop_id": "a.example", "currency": "EUR"}


def report(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(path.with_name(path.name + folder.REPORT).read_text())
    return found


def files(root: Path) -> list[str]:
    """All files below, reports aside; folders may come and go meanwhile, which `rglob` cannot bear."""
    return sorted(
        os.path.relpath(os.path.join(at, name), root)
        for at, _, names in os.walk(root)
        for name in names
        if not name.endswith(folder.REPORT)
    )


def test_what_has_landed_is_imported_in_order_and_moved(commands: Commands) -> None:
    commands.land("orders", "o.csv", as_csv([order(), order(order_id="o2", total_cents=-1)]))
    commands.land("events", "e.ndjson", as_ndjson([event()]))
    commands.land("shops", "s.ndjson", as_ndjson([SHOP]))
    commands("landing")
    assert files(commands.landing) == [
        "events/done/e.ndjson",
        "orders/done/o.csv",
        "shops/done/s.ndjson",
    ]
    found = report(commands.landing / "orders/done/o.csv")
    assert found["counts"] == {"read": 2, "new": 1, "duplicate": 0, "replaced": 0, "rejected": 1}
    assert [reject["line"] for reject in found["rejects"]] == [3]
    assert (found["error"], found["outcome"]) == (None, "done")
    assert f"{commands.landing}/orders/o.csv:3 orders" in commands("rejects")
    assert [run["rows"] for run in commands.status(1)["runs"] if run["job"] == "landing"] == [4]


def test_names_never_overwrite(sqlite_commands: Commands) -> None:
    commands = sqlite_commands
    for number in range(3):
        commands.land("shops", "s.ndjson", as_ndjson([{**SHOP, "name": f"name {number}"}]))
        commands("landing")
    done = commands.landing / "shops/done"
    assert files(done) == ["s-2.ndjson", "s-3.ndjson", "s.ndjson"]
    assert [report(done / name)["counts"]["new"] for name in files(done)] == [0, 0, 1]
    assert b"name 2" in (done / "s-3.ndjson").read_bytes()


def test_a_full_disk_keeps_a_file_from_being_imported_at_each_look(
    sqlite_commands: Commands, disk: Path
) -> None:
    commands = sqlite_commands
    commands.landing = disk / "landing"
    commands.settings["IMPORT_DIR"] = str(commands.landing)
    file = commands.land("shops", "s.ndjson", as_ndjson([SHOP]))
    for end in ("done", "failed"):
        (file.parent / end).mkdir()
    with pytest.raises(OSError, match="No space left"):
        (disk / "rest").write_bytes(bytes(2**21))
    for _ in range(2):
        left, _error = commands("landing", status=1).splitlines()
        assert left == (
            f"{file}: left where it is: No space left on device, so that no report of it can be written; "
            "free some space"
        )
    assert commands.rows("SELECT COUNT(*) FROM import_file") == [0]
    (disk / "rest").unlink()
    commands("landing")
    assert files(commands.landing) == ["shops/done/s.ndjson"]
    assert commands.rows("SELECT COUNT(*) FROM import_file") == [1]


def test_what_cannot_be_read_is_named_until_someone_comes(sqlite_commands: Commands) -> None:
    commands = sqlite_commands
    commands.land("shops", "s.txt", b"?")
    commands.land("shops", "s.parquet", b"no parquet")
    commands.land("shops", "s.ndjson", as_ndjson([SHOP]))
    assert "2 files could not be read" in commands("landing", status=1)
    failed = commands.landing / "shops/failed"
    assert files(commands.landing) == [
        "shops/done/s.ndjson",
        "shops/failed/s.parquet",
        "shops/failed/s.txt",
    ]
    assert report(failed / "s.txt")["error"].startswith("unknown extension")
    assert len(commands.status(status=1)["problems"]) == 2
    for name in files(failed):
        (failed / name).unlink()
    assert commands.status()["problems"] == []


def test_what_is_incomplete_or_no_file_of_a_kind_is_left(sqlite_commands: Commands) -> None:
    commands = sqlite_commands
    names = (".s.ndjson", "s.ndjson.part", "s.csv.TMP", "s.crdownload")
    for name in names:
        commands.land("shops", name, as_ndjson([SHOP]))
    elsewhere = commands.folder / "elsewhere.ndjson"
    elsewhere.write_bytes(as_ndjson([SHOP]))
    (commands.landing / "shops/link.ndjson").symlink_to(elsewhere)
    (commands.landing / "shops/folder.ndjson").mkdir()
    commands.land("sales", "s.ndjson", b"")
    commands("landing")
    assert commands.rows("SELECT COUNT(*) FROM shop") == [0]
    assert len(files(commands.landing)) == len(names) + 2
    left = commands.status(status=1)["landing"]["left_alone"]
    assert [line.split(": ")[0].removeprefix(f"{commands.landing}/") for line in left] == [
        "sales",
        "shops/folder.ndjson",
        "shops/link.ndjson",
    ]


def test_a_file_that_still_grows_is_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    growing = tmp_path / "shops" / "s.ndjson"
    growing.parent.mkdir()
    growing.write_bytes(b"{}\n")
    still = growing.with_name("t.ndjson")
    still.write_bytes(b"{}\n")

    def write_more(seconds: float, sleep: Callable[[float], None] = time.sleep) -> None:
        with growing.open("ab") as stream:
            stream.write(b"{}\n")
        sleep(seconds)

    monkeypatch.setattr(turns.time, "sleep", write_more)
    monkeypatch.setattr(turns, "_SETTLE_SECONDS", 0.1)
    assert [file.path for file in files_in_turns(tmp_path, {})] == [still]


class Killed(BaseException):
    """The process died here."""


class Dying:
    """Calls that change a folder, the process dying before (odd: after) call number `last` // 2."""

    def __init__(self, last: int) -> None:
        self.last, self.calls = last, 0

    def wrapped(self, real: Any) -> Any:
        def call(*args: Any, **options: Any) -> Any:
            mine = self.calls == self.last // 2
            self.calls += 1
            if mine and self.last % 2 == 0:
                raise Killed
            result = real(*args, **options)
            if mine:
                raise Killed
            return result

        return call


def test_a_death_at_any_step_of_a_move_is_made_good(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every call that changes the folder may be the last one, before or after it has happened."""
    deaths = 0
    for last in range(100):
        root = tmp_path / str(last)
        shops = root / "shops"
        (shops / "done").mkdir(parents=True)
        (shops / "done" / "s.ndjson").write_text("an earlier one")
        (shops / "s.ndjson").write_text("content")
        dying = Dying(last)
        with monkeypatch.context() as patch:
            for name in ("rename", "replace", "unlink", "mkdir"):
                patch.setattr(os, name, dying.wrapped(getattr(os, name)))
            try:
                recover(root)
            except Killed:
                deaths += 1
        recover(root)
        assert files(root) == ["shops/done/s-2.ndjson", "shops/done/s.ndjson"], last
        assert report(shops / "done/s-2.ndjson")["name"] == "s-2.ndjson", last
        assert len(os.listdir(shops / "done")) == 3, last
        if dying.calls <= last // 2:
            break
    assert deaths > 5


def recover(root: Path) -> None:
    """The work of the next process, but for the import itself."""
    for file in folder.survey(root).files:
        with hold(root, file) as held:
            held.move("done", {})


def test_of_many_that_have_imported_a_file_one_moves_it(tmp_path: Path) -> None:
    shops = tmp_path / "shops"
    shops.mkdir()
    for number in range(50):
        (shops / f"{number}.csv").write_text(str(number))
    found = folder.survey(tmp_path).files
    moved: list[str] = []

    def move() -> None:
        for file in found:
            with suppress(FileGone), hold(tmp_path, file) as held:
                held.move("done", {})
                moved.append(file.path.name)

    threads = [threading.Thread(target=move) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(moved) == files(shops / "done")
    assert len(moved) == 50


def test_who_was_slow_finds_its_file_moved(tmp_path: Path) -> None:
    (tmp_path / "shops").mkdir()
    (tmp_path / "shops" / "s.csv").write_text("")
    (file,) = folder.survey(tmp_path).files
    with hold(tmp_path, file) as slow:
        with hold(tmp_path, file) as mine:
            mine.move("done", {})
        with pytest.raises(FileGone):
            slow.move("failed", {})
    assert files(tmp_path) == ["shops/done/s.csv"]
    assert report(tmp_path / "shops/done/s.csv")["outcome"] == "done"
    assert os.listdir(tmp_path / "shops/failed") == []


def test_a_file_with_which_processes_die_is_given_up(sqlite_commands: Commands) -> None:
    commands = sqlite_commands
    commands.take("shops", [SHOP])
    rows = [order(order_id=f"o{number}") for number in range(30_000)]
    file = commands.land("orders", "o.ndjson", as_ndjson(rows))
    dying = commands.start("run", "landing")
    commands.wait_until("SELECT COUNT(*) FROM job_run WHERE job = 'landing' AND arguments <> ''")
    dying.send(signal.SIGSTOP)  # so that it cannot end before status looks at it
    assert commands.status()["landing"]["in_hand"] == [str(file)]
    kill(dying.pid)
    dying.wait()
    assert commands.status()["landing"]["waiting"] == [str(file)]
    for _ in range(MAX_TRIES - 1):
        commands.change(
            "INSERT INTO job_run (job, arguments, owner, state) "
            "SELECT job, arguments, owner, state FROM job_run WHERE job = 'landing' LIMIT 1"
        )
    commands.land("events", "e.ndjson", as_ndjson([event()]))
    commands("landing", status=1)
    assert files(commands.landing) == ["events/done/e.ndjson", "orders/failed/o.ndjson"]
    failed = commands.landing / "orders/failed/o.ndjson"
    assert report(failed)["error"].startswith("20 processes ended while they imported this file")
    # Moved back, it is tried again.
    failed.rename(file)
    commands("landing")
    assert report(commands.landing / "orders/done/o.ndjson")["counts"]["read"] == len(rows)


# Loaded by each `landing` that a scheduler starts. It dies with its scheduler where it comes to a place that
# a file beside this one names, once.
DYING = """
import os, pathlib, sys

def dying(place, original):
    def call(*args, **options):
        try:
            pathlib.Path(__file__).with_name(place).unlink()
        except FileNotFoundError:
            return original(*args, **options)
        os.kill(os.getppid(), 9)
        os.kill(os.getpid(), 9)
    return call

if "landing" in sys.orig_argv:
    from jobs.landing import held_file, land
    land._imported = dying("on record", land._imported)
    held_file.HeldFile.move = dying("imported", held_file.HeldFile.move)
    held_file.HeldFile._rename = dying("reported", held_file.HeldFile._rename)
"""


def test_two_schedulers_over_one_folder_with_kills(commands: Commands, tmp_path: Path) -> None:
    dying = tmp_path / "dying"
    dying.mkdir()
    (dying / "sitecustomize.py").write_text(DYING)
    commands.settings |= {"LANDING_POLL_SECONDS": "1", "REFRESH_MINUTES": "60"}
    commands.settings["PYTHONPATH"] = f"{dying}:{ROOT}"
    commands.take("shops", [SHOP])
    commands.take("forms", [form()])
    names = []
    running = [commands.start_scheduler() for _ in range(2)]
    for turn, place in enumerate(("on record", "imported", "reported", "imported")):
        (dying / place).touch()
        for number in range(3 * turn, 3 * turn + 3):
            kind, make = ("events", event) if number % 2 else ("orders", order)
            rows = [make(**{f"{kind[:-1]}_id": f"{number}-{row}"}) for row in range(400)]
            commands.land(kind, f"{number}.ndjson", as_ndjson(rows))
            names.append(f"{kind}/done/{number}.ndjson")
        wait_until(lambda: any(scheduler.status is not None for scheduler in running))
        (dead,) = (scheduler for scheduler in running if scheduler.status is not None)
        assert dead.status == -signal.SIGKILL, dead.printed
        running[running.index(dead)] = commands.start_scheduler()
    wait_until(lambda: files(commands.landing) == sorted(names), lambda: files(commands.landing))
    for scheduler in running:
        scheduler.terminate()
    for scheduler in running:
        scheduler.finish()
    assert commands.rows("SELECT COUNT(*) FROM raw_event") == [2400]
    assert commands.rows("SELECT COUNT(*) FROM raw_order") == [2400]
    for name in names:
        assert report(commands.landing / name)["counts"]["read"] == 400
    assert commands.status()["landing"]["in_hand"] == []
