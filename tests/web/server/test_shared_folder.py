"""The folder that the processes of a server share: gone with the server, or with the next one."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from web.server.shared_folder import PREFIX, shared_folder

LONG_AGO = (0, 0)
A_SERVER = """
from web.server.shared_folder import shared_folder
with shared_folder() as folder:
    (folder / "counts").mkdir()
    print(folder, flush=True)
    input()
"""


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def test_a_server_removes_the_folders_of_dead_ones(temporary: Path) -> None:
    with a_server(temporary) as alive, a_server(temporary) as killed:
        folders = [folder_of(server) for server in (alive, killed)]
        killed.kill()
        killed.wait()
        new = temporary / f"{PREFIX}new"
        new.mkdir()
        others = temporary / "others"
        (others / "kept").mkdir(parents=True)
        link = temporary / f"{PREFIX}link"
        link.symlink_to(others)
        for folder in (*folders, others):
            os.utime(folder, LONG_AGO)
        with shared_folder() as own:
            assert own.is_dir()
            # A folder is locked only after it is made: a new one may be of a server that starts now.
            assert set(temporary.iterdir()) == {own, folders[0], new, others, link}
        assert not own.exists()
        assert (others / "kept").exists()
        alive.communicate("\n")
        assert alive.returncode == 0
        assert not folders[0].exists()


def a_server(temporary: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", A_SERVER],
        env={**os.environ, "TMPDIR": str(temporary)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )


def folder_of(server: subprocess.Popen[str]) -> Path:
    assert server.stdout
    folder = Path(server.stdout.readline().strip())
    assert (folder / "counts").is_dir()
    return folder
