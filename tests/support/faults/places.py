"""Where a warehouse lies that is going to be hit: a file, or a database of a server of its own; on a
small disk that can be filled, where the tests may mount one."""

import os
import shutil
import subprocess
import tempfile
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Final

from sqlalchemy import URL

from tests.support import postgres
from tests.support.faults.victim import Fault

_DISK_BYTES: Final = 400_000_000
# The space left when it is full; commands of small worlds write less than so much.
_MOST_ROOM: Final = 600_000


@contextmanager
def small_disk() -> Iterator[Path | None]:
    """The folder of a disk of its own; None where the tests may not mount one."""
    # Not below the tests' own folder, which PostgreSQL's user may not enter.
    folder = Path(tempfile.mkdtemp(prefix="formrevenue-disk-"))
    words = ["-t", "tmpfs", "-o", f"size={_DISK_BYTES},mode=755", "tmpfs", str(folder)]
    mounted = subprocess.run(["mount", *words], capture_output=True, check=False)
    folder.chmod(0o755)
    try:
        yield None if mounted.returncode else folder
    finally:
        if not mounted.returncode:
            # Its files may still be open for a moment.
            subprocess.run(["umount", "--lazy", str(folder)], check=True)
        folder.rmdir()


@contextmanager
def filled(disk: Path | None, room: int) -> Iterator[None]:
    """During the block, the disk has only so many bytes left."""
    if disk is None:
        yield
        return
    ballast = disk / "ballast"
    with suppress(OSError), ballast.open("wb") as file:
        free = shutil.disk_usage(disk).free
        os.posix_fallocate(file.fileno(), 0, max(free - room, 1))
    try:
        yield
    finally:
        ballast.unlink()


def _early(rng: Random, calls: int) -> int:
    """One of so many calls, early ones more often: what goes on after a fault has less to do."""
    return 1 + int(calls * rng.random() ** 2)


def _moment(rng: Random) -> float:
    """Before a call, or in the middle of what follows."""
    return rng.choice((0.0, rng.random() / 20))


@dataclass
class Files:
    """Warehouses as SQLite files."""

    folder: Path
    disk: Path | None
    kinds: tuple[str, ...] = ("kill", "kill", "kill", "term", "full")

    def new(self) -> str:
        return f"sqlite:///{(self.disk or self.folder) / f'{uuid.uuid4().hex}.db'}"

    def drop(self, url: str) -> None:
        for file in self._file(url).parent.glob(f"{self._file(url).name}*"):
            file.unlink()

    def full(self, rng: Random, url: str) -> Fault:
        """Without a disk of its own, no file may grow past a limit: to SQLite it is the same."""
        if self.disk is not None:
            return Fault("full", at=int(_MOST_ROOM * rng.random() ** 3))
        file = self._file(url)
        size = file.stat().st_size if file.exists() else 0
        return Fault("full", room=rng.randrange(40_000, size + 400_000))

    def fault(self, rng: Random, kind: str, url: str, calls: int) -> Fault:
        if kind == "full":
            return self.full(rng, url)
        return Fault(kind, _early(rng, calls), _moment(rng))

    @staticmethod
    def _file(url: str) -> Path:
        return Path(url.removeprefix("sqlite:///"))


@dataclass
class Databases:
    """Warehouses as databases of a server that may be killed."""

    server: URL
    folder: Path
    disk: Path | None

    def __post_init__(self) -> None:
        self.kinds: tuple[str, ...] = ("kill", "kill", "term", "cut", "cut", "restart")
        self._tablespace = ""
        if self.disk is not None:
            self.kinds += ("full",)
            place = self.disk / "tablespace"
            place.mkdir()
            os.chown(place, self.folder.stat().st_uid, -1)
            postgres.administer(self.server, f"CREATE TABLESPACE small LOCATION '{place}'")
            self._tablespace = "TABLESPACE small"

    def new(self) -> str:
        name = f"fault_{uuid.uuid4().hex}"
        postgres.administer(
            self.server, f'CREATE DATABASE "{name}" TEMPLATE template0 {self._tablespace}'
        )
        return self.server.set(database=name).render_as_string(hide_password=False)

    def drop(self, url: str) -> None:
        name = url.rpartition("/")[2].partition("?")[0]
        postgres.administer(self.server, f'DROP DATABASE "{name}" WITH (FORCE)')

    def fault(self, rng: Random, kind: str, url: str, calls: int) -> Fault:
        if kind == "full":
            return Fault("full", at=int(_MOST_ROOM * rng.random() ** 3))
        return Fault(kind, _early(rng, calls), _moment(rng), server=str(self.folder))


Place = Files | Databases
