"""The files that commands write are readable by their own user alone, whatever the shell's umask."""

import os
import stat
from pathlib import Path

import pytest

from tests.support.commands import start
from tests.support.shop_builder import writing
from warehouse.backups.files import whole_or_nothing
from warehouse.connections.engine import open_engine
from warehouse.tables import shop


def command(url: str, *arguments: str) -> None:
    start(*arguments, settings={"WAREHOUSE_URL": url}, umask=0o022).finish()


def open_to_others(folder: Path) -> dict[str, str]:
    """The files and folders in a folder that others may read, write or enter."""
    return {
        str(path.relative_to(folder)): stat.filemode(mode)
        for path in sorted(folder.rglob("*"))
        if (mode := path.stat().st_mode) & 0o077
    }


@pytest.mark.parametrize(
    "first", [["web", "shops", "add", "a.example", "--currency", "EUR"], ["jobs", "rollup"]]
)
def test_the_warehouse_and_its_backups_are_private(tmp_path: Path, first: list[str]) -> None:
    folder = tmp_path / "var"
    url = f"sqlite:///{folder}/warehouse.db"
    command(url, *first)
    engine = open_engine(url)
    with engine.connect() as reader:
        # While it is open, the log files stay.
        reader.execute(shop.select()).all()
        with writing(engine) as connection:
            connection.execute(shop.insert().values(shop_id="x", currency="EUR"))
        command(url, "jobs", "backup", str(folder / "backup"))
        names = {path.name for path in folder.iterdir()}
        assert {"warehouse.db", "warehouse.db-wal", "warehouse.db-shm", "backup"} <= names
        assert open_to_others(tmp_path) == {}
    engine.dispose()


def test_made_up_files_are_private(tmp_path: Path) -> None:
    files = str(tmp_path / "demo")
    command("sqlite://", "jobs", "demo", "--folder", files, "--days", "1", "--files-only")
    assert list(Path(files).iterdir())
    assert open_to_others(tmp_path) == {}


def test_a_backup_is_private_whoever_makes_it(tmp_path: Path) -> None:
    before = os.umask(0o022)
    try:
        (tmp_path / "backup").touch(mode=0o644)
        with whole_or_nothing(tmp_path / "backup") as file:
            file.write_bytes(b"all data")
    finally:
        os.umask(before)
    assert open_to_others(tmp_path) == {}
