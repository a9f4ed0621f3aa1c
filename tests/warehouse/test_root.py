"""Root does not lock the owner of a warehouse out, and no program reads the secrets of another one."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from warehouse.environment import WrongSettings, prepare
from warehouse.setting_values import JOBS

# A number that no account has.
NOBODY = 4_199_999


def be_root_where_these_are_another_s(patch: pytest.MonkeyPatch, *paths: Path) -> None:
    """Without root's rights they are this user's, and this process counts as root's."""
    if os.geteuid():
        patch.setattr(os, "geteuid", lambda: 0)
        return
    for path in paths:
        os.chown(path, NOBODY, -1)


@pytest.mark.parametrize("whose", ["warehouse.db", "."])
def test_root_is_refused_where_the_file_or_its_folder_is_another_s(
    whose: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "var"
    folder.mkdir()
    file = folder / "warehouse.db"
    file.touch()
    monkeypatch.setenv("WAREHOUSE_URL", f"sqlite:///{file}")
    be_root_where_these_are_another_s(monkeypatch, folder / whose)
    with pytest.raises(WrongSettings) as refused:
        prepare(JOBS)
    (line,) = str(refused.value).splitlines()
    assert "and this is root, whose files would lock" in line
    assert line.endswith("or set ALLOW_ROOT=1")
    assert str(folder) in line
    monkeypatch.setenv("ALLOW_ROOT", "1")
    prepare(JOBS)


def test_a_new_warehouse_and_postgresql_are_nobody_else_s(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    be_root_where_these_are_another_s(monkeypatch, tmp_path)
    for url in (
        f"sqlite:///{tmp_path / 'new' / 'warehouse.db'}",
        "postgresql://me@db.example/formrevenue",
    ):
        monkeypatch.setenv("WAREHOUSE_URL", url)
        prepare(JOBS)


READ_BY_A_CHILD = """
import ctypes, os, sys
from warehouse.environment import hide_memory, prepare
from warehouse.setting_values import JOBS

def is_readable():
    own = os.getpid()
    child = os.fork()
    if not child:
        try:
            os._exit(b"CREDENTIALS_KEY" in open(f"/proc/{own}/environ", "rb").read())
        except OSError:
            os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])

prctl = ctypes.CDLL(None).prctl
prepare(JOBS)
print("prepared", prctl(3))
if os.geteuid() == 0:
    # Root reads everything.
    os.setuid(65534)
prctl(4, 1)
print("before", is_readable())
hide_memory()
print("after", is_readable())
"""


def test_another_program_of_the_same_user_cannot_read_the_environment() -> None:
    key = "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="
    environ = {**os.environ, "CREDENTIALS_KEY": key, "WAREHOUSE_URL": "postgresql://h/db"}
    done = subprocess.run(
        [sys.executable, "-c", READ_BY_A_CHILD], env=environ, capture_output=True, text=True
    )
    assert done.stdout.splitlines() == ["prepared 0", "before 1", "after 0"], done.stderr
