"""A pgbouncer on loopback before the tests' PostgreSQL server, as its users run it in transaction mode."""

import os
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

import psycopg
from sqlalchemy import URL, make_url

from tests.support.serving import free_port

_START_SECONDS: Final = 30


def program() -> str | None:
    """The path of pgbouncer; Debian keeps it where only root looks."""
    return shutil.which("pgbouncer", path=f"{os.environ.get('PATH', '')}:/usr/sbin")


@contextmanager
def pgbouncer(url: str, **settings: object) -> Iterator[URL]:
    """The URL of the database at `url`, through a pgbouncer with these settings and two connections to
    the server in transaction mode."""
    server = make_url(url)
    port = free_port()
    # It refuses to run as root, and a server's socket may be for its owner alone.
    user = _owner(server)
    with TemporaryDirectory() as name:
        folder = Path(name)
        given = {
            "listen_addr": "127.0.0.1",
            "listen_port": port,
            "unix_socket_dir": "",
            "auth_type": "any",
            "pool_mode": "transaction",
            "default_pool_size": 2,
            "admin_users": server.username,
            **settings,
        }
        lines = ["[databases]", f"* = {_target(server)}", "[pgbouncer]"]
        (folder / "pgbouncer.ini").write_text(
            "\n".join([*lines, *(f"{name} = {value}" for name, value in given.items())]) + "\n"
        )
        for path in (folder, folder / "pgbouncer.ini"):
            os.chown(path, user, -1)
        with (folder / "log").open("wb") as log:
            process = subprocess.Popen(
                [program() or "", str(folder / "pgbouncer.ini")],
                stdout=log,
                stderr=log,
                user=user if os.getuid() == 0 else None,
            )
        through = URL.create(
            server.drivername, server.username, "x", "127.0.0.1", port, server.database
        )
        try:
            _await(process, through, folder / "log")
            yield through
        finally:
            process.terminate()
            process.wait()


def administer(through: URL, command: str) -> list[Any]:
    """The rows that a command of pgbouncer's own console gives."""
    address = through.set(drivername="postgresql", database="pgbouncer", query={})
    with psycopg.connect(
        address.render_as_string(hide_password=False), autocommit=True
    ) as connection:
        cursor = psycopg.ClientCursor(connection)
        cursor.execute(command.encode())
        return cursor.fetchall() if cursor.description else []


def _owner(server: URL) -> int:
    if os.getuid() != 0:
        return os.getuid()
    socket = Path(str(server.query.get("host", "")))
    owner = socket.stat().st_uid if socket.is_absolute() else 0
    return owner or 65_534


def _target(server: URL) -> str:
    words = {
        "host": server.host or server.query.get("host", "127.0.0.1"),
        "port": server.port or 5432,
        "user": server.username,
        **({"password": server.password} if server.password else {}),
    }
    return " ".join(f"{name}={value}" for name, value in words.items())


def _await(process: "subprocess.Popen[bytes]", through: URL, log: Path) -> None:
    deadline = time.monotonic() + _START_SECONDS
    while True:
        with suppress(psycopg.OperationalError):
            administer(through, "SHOW VERSION")
            return
        assert process.poll() is None, log.read_text()
        assert time.monotonic() < deadline, log.read_text()
        time.sleep(0.05)
