"""Lines on disk: answered lines are there once and whole, whatever becomes of the process or the disk."""

import os
import random
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event

import pytest

from tests.support.waiting import PATIENCE_SECONDS, wait_until
from tests.web.collector.lines import files_of, lines_of
from web.collector.landing_files import LandingFile, take_up
from web.collector.landing_writer import LandingWriter, NotWritten


def test_each_line_of_many_threads_is_there_once(tmp_path: Path) -> None:
    writer = LandingWriter(tmp_path, finish_seconds=0.01, finish_bytes=2_000)
    texts = [f"line {number}" for number in range(1_000)]
    with ThreadPoolExecutor(16) as threads:
        list(threads.map(lambda text: writer.append(f"{text}\n".encode()), texts))
    writer.close()
    assert sorted(lines_of(tmp_path)) == sorted(texts)
    assert files_of(tmp_path, growing=True) == []


def test_requests_that_wait_share_a_sync(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    writer = LandingWriter(tmp_path)
    writer.append(b"first\n")
    begun, go_on, syncs = Event(), Event(), []
    sync = os.fsync

    def slow_sync(descriptor: int) -> None:
        syncs.append(descriptor)
        begun.set()
        go_on.wait(PATIENCE_SECONDS)
        sync(descriptor)

    monkeypatch.setattr(os, "fsync", slow_sync)
    with ThreadPoolExecutor(16) as threads:
        slow = threads.submit(writer.append, b"slow\n")
        begun.wait(PATIENCE_SECONDS)
        others = [threads.submit(writer.append, b"other\n") for _ in range(15)]
        wait_until(lambda: len(writer._waiting) == 15)
        # None is answered before its lines are on disk.
        assert not any(done.done() for done in (slow, *others))
        go_on.set()
        for done in (slow, *others):
            done.result(PATIENCE_SECONDS)
    assert len(syncs) == 2
    writer.close()
    assert sorted(lines_of(tmp_path)) == ["first", *["other"] * 15, "slow"]


@pytest.mark.parametrize(("seconds", "size"), [(0.1, 10**9), (10**9, 100)])
def test_a_file_is_finished_when_it_is_old_or_large(
    tmp_path: Path, seconds: float, size: int
) -> None:
    writer = LandingWriter(tmp_path, finish_seconds=seconds, finish_bytes=size)
    writer.append(b"x" * 200 + b"\n")
    wait_until(lambda: files_of(tmp_path))
    (finished,) = files_of(tmp_path)
    content = finished.read_bytes()
    writer.append(b"later\n")
    writer.close()
    assert finished.read_bytes() == content
    assert len(files_of(tmp_path)) == 2
    assert finished.stat().st_mode & 0o077 == 0


def test_a_file_is_finished_soon_after_the_first_events_of_a_form(tmp_path: Path) -> None:
    def file_of(*forms: int) -> Path:
        """The file that events of these forms are in, once it is finished."""
        before = set(files_of(tmp_path))
        writer.append(b"line\n", forms)
        wait_until(lambda: set(files_of(tmp_path)) - before)
        (file,) = set(files_of(tmp_path)) - before
        return file

    writer = LandingWriter(tmp_path, finish_seconds=10**9, news_finish_seconds=0.1)
    file_of(1, 2)
    # Events of forms that have sent before wait for those of one that has not.
    writer.append(b"line\n", [1])
    writer.append(b"line\n", [2, 1])
    time.sleep(0.5)
    assert len(files_of(tmp_path)) == 1
    assert file_of(1, 3).read_text() == "line\n" * 3
    # An hour later it is a first event again.
    for form in writer._forms:
        writer._forms[form] -= 3_601
    file_of(1)
    writer.close()


def test_what_killed_processes_leave_is_taken_up(tmp_path: Path) -> None:
    chance = random.Random(0)
    acknowledged: set[str] = set()
    for turn in range(8):
        victims = [_victim(tmp_path, f"{turn}-{half}") for half in "ab"]
        for victim in victims:
            assert victim.stdout
            acknowledged.add(victim.stdout.readline().strip())
        time.sleep(chance.random() / 4)
        for victim in victims:
            victim.kill()
        for victim in victims:
            said, _ = victim.communicate()
            # The last line may be cut short: it was not read as a whole.
            acknowledged |= {line for line in said.split("\n")[:-1] if line}
    assert len(acknowledged) > 50
    take_up(tmp_path)
    assert files_of(tmp_path, growing=True) == []
    lines = lines_of(tmp_path)
    torn = [line for line in lines if not line.endswith(":" + "x" * 5_000)]
    whole = [line.partition(":")[0] for line in lines if line not in torn]
    assert len(whole) == len(set(whole))
    assert acknowledged <= set(whole)
    # At most one line for each file that a killed process was writing.
    assert len(torn) <= 8 * 2


def _victim(root: Path, name: str) -> "subprocess.Popen[str]":
    command = [sys.executable, "-m", "tests.web.collector.lines", str(root), name]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def test_files_of_live_processes_are_left_alone(tmp_path: Path) -> None:
    alive = LandingFile(tmp_path)
    alive.write(b"line\n")
    alive.commit()
    assert take_up(tmp_path) == 0
    assert len(files_of(tmp_path, growing=True)) == 1
    alive.close()  # as the end of its process does
    assert take_up(tmp_path) == 1
    assert lines_of(tmp_path) == ["line"]


def test_a_torn_line_stays_and_an_empty_file_goes(tmp_path: Path) -> None:
    torn, empty = LandingFile(tmp_path), LandingFile(tmp_path)
    torn.write(b'{"whole": 1}\n{"tor')
    torn.close()
    empty.close()
    foreign = tmp_path / "events" / ".other.ndjson"
    foreign.write_text("of another program")
    assert take_up(tmp_path) == 2
    (file,) = files_of(tmp_path)
    assert file.read_bytes() == b'{"whole": 1}\n{"tor'
    assert files_of(tmp_path, growing=True) == [foreign]


def test_a_full_disk_refuses_whole_requests_and_keeps_no_part_of_them(
    disk: Path, troubles: list[str]
) -> None:
    writer = LandingWriter(disk)
    written, refused, reasons = [], [], set()
    with ThreadPoolExecutor(8) as threads:
        texts = [f"{number:03}{'x' * 9_000}" for number in range(300)]

        def append(text: str) -> None:
            try:
                writer.append(f"{text}\n{text}\n".encode())
                written.append(text)
            except NotWritten as error:
                refused.append(text)
                reasons.add(str(error))

        list(threads.map(append, texts))
    assert len(written) > 20
    assert len(refused) > 20
    assert reasons == {"No space left on device"}
    assert troubles[0] == (f"The landing folder {disk} cannot be written: No space left on device.")
    # There is room again, and the writer goes on by itself.
    wait_until(lambda: files_of(disk))
    kept = lines_of(disk)
    for path in files_of(disk):
        path.unlink()
    writer.append(b"later\n")
    writer.close()
    assert sorted(kept + lines_of(disk)) == sorted([*written * 2, "later"])


def test_links_are_not_followed(tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (tmp_path / "landing").mkdir()
    (tmp_path / "landing/events").symlink_to(elsewhere)
    writer = LandingWriter(tmp_path / "landing")
    with pytest.raises(NotWritten):
        writer.append(b"line\n")
    writer.close()
    assert list(elsewhere.iterdir()) == []
