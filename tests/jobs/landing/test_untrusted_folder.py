"""An account that may write into the landing folder cannot have the service read or write elsewhere."""

import gzip
import json
import os
import socket
import stat
from pathlib import Path

import pytest

from jobs.importing.files.detect import ImportOptions, chunks_of
from jobs.importing.formats import FORMATS
from jobs.importing.kinds import KINDS
from jobs.importing.shops import ImportedShops
from jobs.landing import folder
from jobs.landing.held_file import FileGone, FileLeftAlone, HeldFile, hold
from tests.support.exports import ecb
from tests.support.import_files import as_ndjson, event, written
from tests.support.job_commands import SHOP, Commands


@pytest.fixture
def elsewhere(tmp_path: Path) -> Path:
    """A folder that is none of the service's business, with a file that the service could import."""
    made = tmp_path / "elsewhere"
    made.mkdir()
    (made / "secret.ndjson").write_bytes(as_ndjson([{**SHOP, "shop_id": "secret.example"}]))
    return made


def tree(root: Path) -> list[str]:
    """Everything below, whatever it is; links are not followed."""
    found = [os.path.join(at, name) for at, dirs, names in os.walk(root) for name in dirs + names]
    return sorted(os.path.relpath(path, root) for path in found)


def test_what_looks_like_a_record_of_the_service_is_nothing(
    sqlite_commands: Commands, elsewhere: Path
) -> None:
    """Where a file goes, and how often it was tried, is not read from the folder."""
    commands, report = sqlite_commands, json.dumps({"outcome": str(elsewhere), "name": ""})
    commands.land("shops", "s.ndjson", as_ndjson([SHOP]))
    for place in (".", "shops", "events"):
        commands.land(f"{place}/.taken/1-x-3-cc", "authorized_keys", b"a key")
        commands.land(f"{place}/.taken/1-x-3-cc", ".report.json", report.encode())
        link = commands.landing / place / ".taken/21-aaaaaaaa-z.ndjson"
        link.symlink_to(elsewhere / "secret.ndjson")
    (commands.landing / "orders").mkdir()
    (commands.landing / "orders/.taken").symlink_to(elsewhere)
    commands.land("orders", "o.ndjson", b"{}")
    before = tree(commands.landing / "events")
    commands("landing")
    assert tree(commands.landing / "events") == before
    assert tree(elsewhere) == ["secret.ndjson"]
    assert commands.rows("SELECT shop_id FROM shop") == ["a.example"]
    assert (commands.landing / "shops/done/s.ndjson").exists()
    assert (commands.landing / "orders/done/o.ndjson").exists()


@pytest.mark.parametrize("end", ["done", "failed"])
def test_an_end_that_is_a_link_keeps_the_files_of_its_place(
    sqlite_commands: Commands, elsewhere: Path, end: str
) -> None:
    commands = sqlite_commands
    evil = commands.land("events", "evil.pth", b"import os")
    commands.land("shops", "s.ndjson", as_ndjson([SHOP]))
    (commands.landing / "events" / end).symlink_to(elsewhere)
    assert f"left alone: {commands.landing}/events/{end}: not a folder" in commands("landing")
    assert tree(elsewhere) == ["secret.ndjson"]
    assert commands.rows("SELECT shop_id FROM shop") == ["a.example"]
    (problem,) = commands.status(status=1)["problems"]
    assert f"{commands.landing}/events/{end}: not a folder" in problem
    (commands.landing / "events" / end).unlink()
    commands("landing", status=1)
    assert (commands.landing / "events/failed/evil.pth").exists()
    assert not evil.exists()


@pytest.mark.parametrize("place", ["shops", "orders/shopify", "orders/shopify/a.example"])
def test_a_place_that_is_a_link_is_left_alone(
    sqlite_commands: Commands, elsewhere: Path, place: str
) -> None:
    commands, link = sqlite_commands, sqlite_commands.landing / place
    link.parent.mkdir(parents=True)
    link.symlink_to(elsewhere)
    folder.make(commands.landing)
    commands.land("shops" if place != "shops" else "forms", "f.ndjson", as_ndjson([SHOP]))
    commands("landing")
    assert tree(elsewhere) == ["secret.ndjson"]
    assert "secret" not in commands("rejects")
    (left,) = commands.status(status=1)["landing"]["left_alone"]
    assert left.startswith(f"{link}: ")
    assert commands.rows("SELECT COUNT(*) FROM job_run WHERE job = 'landing' AND rows = 1") == [1]


def test_only_a_plain_file_is_imported(sqlite_commands: Commands, elsewhere: Path) -> None:
    commands, shops = sqlite_commands, sqlite_commands.landing / "shops"
    commands.land("shops", "s.ndjson", as_ndjson([SHOP]))
    (shops / "link.ndjson").symlink_to(elsewhere / "secret.ndjson")
    (shops / "hard.ndjson").hardlink_to(elsewhere / "secret.ndjson")
    os.mkfifo(shops / "pipe.ndjson")
    with socket.socket(socket.AF_UNIX) as listener:
        # The path of a socket must be short.
        here = os.open(shops, os.O_RDONLY)
        listener.bind(f"/proc/self/fd/{here}/socket.ndjson")
        os.close(here)
    (shops / "folder.ndjson").mkdir()
    odd = ["folder.ndjson", "hard.ndjson", "link.ndjson", "pipe.ndjson", "socket.ndjson"]
    if os.geteuid() == 0:
        os.mknod(shops / "device.ndjson", stat.S_IFCHR | 0o600, os.makedev(1, 5))
        odd.insert(0, "device.ndjson")
    commands("landing")
    assert commands.rows("SELECT shop_id FROM shop") == ["a.example"]
    status = commands.status(status=1)
    assert [line.split(": ")[0] for line in status["landing"]["left_alone"]] == [
        f"{shops}/{name}" for name in odd
    ]
    assert len(status["problems"]) == len(odd)
    assert folder.survey(commands.landing).files == []


def found(root: Path) -> folder.LandedFile:
    (file,) = folder.survey(root).files
    return file


@pytest.mark.parametrize("instead", ["link", "pipe", "folder", "nothing", "another"])
def test_what_is_put_in_the_place_of_a_found_file_is_not_opened(
    tmp_path: Path, elsewhere: Path, instead: str
) -> None:
    root = tmp_path / "landing"
    (root / "shops").mkdir(parents=True)
    path = written(root / "shops/s.ndjson", [SHOP])
    file = found(root)
    path.rename(tmp_path / "kept.ndjson")
    match instead:
        case "link":
            path.symlink_to(elsewhere / "secret.ndjson")
        case "pipe":
            os.mkfifo(path)
        case "folder":
            path.mkdir()
        case "another":
            written(path, [SHOP, SHOP])
    expected = FileGone if instead in ("nothing", "another") else FileLeftAlone
    with pytest.raises(expected), hold(root, file):
        pass


def rows_in(held: HeldFile) -> int:
    place = held.landed.place
    chunks = chunks_of(
        held.path,
        KINDS[place.kind],
        ImportOptions(FORMATS.get(place.format)),
        ImportedShops({}, {}),
    )
    return sum(len(chunk) for chunk in chunks)


@pytest.mark.parametrize(
    "name", ["s.ndjson", "s.ndjson.gz", "s.csv", "s.csv.gz", "s.parquet", "eurofxref-hist.zip"]
)
def test_what_is_read_is_the_file_that_was_found(
    tmp_path: Path, elsewhere: Path, name: str
) -> None:
    root = tmp_path / "landing"
    place = root / ("exchange-rates" if name.endswith(".zip") else "shops")
    place.mkdir(parents=True)
    path = ecb(place / name) if name.endswith(".zip") else written(place / name, [SHOP, SHOP])
    with hold(root, found(root)) as held:
        before = rows_in(held)
        path.rename(tmp_path / f"kept-{name}")
        secret = elsewhere / f"other-{name}"
        secret.write_bytes(gzip.compress(b"{}\n") if name.endswith(".gz") else b"{}\n")
        path.symlink_to(secret)
        assert rows_in(held) == before > 1
        with pytest.raises(FileGone):
            held.move("done", {})
    assert path.is_symlink()
    assert tree(place / "done") == []


@pytest.mark.parametrize("moved", ["shops", "shops/done"])
def test_a_folder_that_is_replaced_by_a_link_is_not_followed(
    tmp_path: Path, elsewhere: Path, moved: str
) -> None:
    root = tmp_path / "landing"
    (root / "shops").mkdir(parents=True)
    written(root / "shops/s.ndjson", [SHOP])
    with hold(root, found(root)) as held:
        (root / moved).rename(root / "aside")
        (root / moved).symlink_to(elsewhere)
        held.move("done", {})
    assert tree(elsewhere) == ["secret.ndjson"]
    assert "s.ndjson" in {Path(name).name for name in tree(root / "aside")}


def test_a_file_that_changes_while_it_is_imported_comes_again(
    sqlite_commands: Commands, monkeypatch: pytest.MonkeyPatch
) -> None:
    commands = sqlite_commands
    commands.take("shops", [SHOP])
    path = commands.land("events", "e.ndjson", as_ndjson([event()]))
    with hold(commands.landing, found(commands.landing)) as held:
        with path.open("ab") as stream:
            stream.write(as_ndjson([event(event_id="e2")]))
        with pytest.raises(FileGone, match="changed"):
            held.move("failed", {})
    with hold(commands.landing, found(commands.landing)) as held:
        written(commands.folder / "new.ndjson", [event(event_id="e3")]).rename(path)
        with pytest.raises(FileGone, match="replaced"):
            held.move("done", {})
    commands("landing")
    assert commands.rows("SELECT event_id FROM raw_event") == ["e3"]
    assert tree(commands.landing / "events/done") == ["e.ndjson", "e.ndjson.report.json"]
