"""PostgreSQL's `pg_dump` and `pg_restore`, which must be installed and no older than the server.

Data goes through a pipe, so progress can be shown. A restore is one transaction. Other connections
are ended as long as it runs: their locks would hold it up, or be a deadlock with its own. For those that
the role of the restore may not end it waits, but not for ever.
"""

import os
import re
import shutil
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Final

from sqlalchemy import Engine, inspect, text
from sqlalchemy.engine import URL
from sqlalchemy.exc import SQLAlchemyError

from warehouse.backups.files import (
    BackupError,
    Progress,
    forget_the_present,
    require_empty,
    require_known,
)
from warehouse.connections.engine import display_url, open_engine
from warehouse.connections.errors import SECRETS, without_password
from warehouse.migrations.migrate import migrate_schema, require_own_sessions, revision_of
from warehouse.tables.base import metadata

_CHUNK: Final = 1 << 20
# The service under which PostgreSQL's programs find the password of a client's key.
_SERVICE: Final = "formrevenue"
_SSL_PASSWORD: Final = "sslpassword"

_NAME: Final = "application_name"
OWN_NAME: Final = f"formrevenue backup {os.getpid()}"
# Less than the second after which PostgreSQL takes two that wait for each other for a deadlock.
_SECONDS_BETWEEN_ENDS: Final = 0.2
# How long it waits, at a time, for a session of a role whose sessions it may not end.
_WAIT_SECONDS: Final = 30
_END_OTHERS: Final = text(f"""
SELECT pg_terminate_backend(pid) FROM pg_stat_activity
WHERE datname = current_database() AND pg_has_role(usesysid, 'USAGE') AND pid <> pg_backend_pid()
  AND application_name <> '{OWN_NAME}' AND backend_type = 'client backend'
""")
_BLOCKER: Final = text(f"""
SELECT other.usename, other.pid, other.application_name
FROM pg_stat_activity own CROSS JOIN LATERAL unnest(pg_blocking_pids(own.pid)) AS blocking (pid)
JOIN pg_stat_activity other ON other.pid = blocking.pid
WHERE own.datname = current_database() AND own.application_name = '{OWN_NAME}'
  AND NOT pg_has_role(other.usesysid, 'USAGE') LIMIT 1
""")
_GIVE_UP: Final = text(f"""
SELECT pg_cancel_backend(pid) FROM pg_stat_activity
WHERE datname = current_database() AND pid <> pg_backend_pid() AND application_name = '{OWN_NAME}'
""")


def back_up(url: URL, file: Path, progress: Progress) -> None:
    """Write the warehouse to a file. Raises BackupError where there is none, or no fitting pg_dump."""
    engine = open_own(url)
    program = _program("pg_dump", engine)
    with engine.connect() as connection:
        if revision_of(connection) is None:
            raise BackupError(f"was not written: there is no warehouse at {display_url(url)}")

    def save(out: IO[bytes]) -> None:
        done = 0
        with file.open("wb") as target:
            while chunk := out.read(_CHUNK):
                target.write(chunk)
                done += len(chunk)
                progress("backup", done, 0)

    words = ["--format=custom", "--no-owner", "--no-privileges", f"--dbname={_plain(url)}"]
    _run([program, *words], url, "could not be taken", reading=save)


def check(url: URL, file: Path, progress: Progress) -> None:
    """Read a backup to its end, into nothing: that it is whole shows nowhere else. Raises BackupError."""
    program = _program("pg_restore", open_own(url))
    _pour(file, [program, "--file=/dev/null"], url, "is not whole", "check", progress)


def restore(url: URL, file: Path, progress: Progress, force: bool) -> None:
    """Put a backup in the place of the warehouse. Raises BackupError."""
    engine = open_own(url)
    program = _program("pg_restore", engine)
    require_empty(engine, force=force)
    check(url, file, progress)
    found: list[str] = []

    def look(out: IO[bytes]) -> None:
        found.extend(re.findall(r"^COPY .*\n(\S+)\n\\\.$", out.read().decode(), re.MULTILINE))

    words = ["--data-only", "--table=alembic_version", "--file=-", str(file)]
    _run([program, *words], url, "is damaged", reading=look)
    if not found:
        raise BackupError("is no backup of a warehouse")
    revision = found[0]
    require_known(revision)
    words = ["--single-transaction", "--exit-on-error", "--clean", "--if-exists"]
    words += ["--no-owner", "--no-privileges", f"--dbname={_plain(url)}"]
    with others_kept_out(engine):
        with engine.begin() as connection:
            if revision_of(connection) != revision:
                # Its tables are others than those of the backup, which replaces only its own.
                for table in inspect(connection).get_table_names():
                    name = connection.dialect.identifier_preparer.quote(table)
                    connection.execute(text(f"DROP TABLE {name} CASCADE"))
        _pour(file, [program, *words], url, "could not be restored", "restore", progress)
    migrate_schema(engine)
    with engine.begin() as connection:
        forget_the_present(connection, time.time_ns() // 1_000_000)
    # A backup has no statistics for the planner. Each table is counted by itself: jobs that have come back
    # count some, too, and two that hold several could wait for each other.
    with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        connection.execute(text(f"ANALYZE {', '.join(metadata.tables)}"))


def open_own(url: URL) -> Engine:
    """An engine whose sessions are named OWN_NAME."""
    named = url.update_query_dict({_NAME: OWN_NAME})
    address = named.render_as_string(hide_password=False)
    engine = open_engine(address)
    require_own_sessions(engine, address)
    return engine


@contextmanager
def others_kept_out(engine: Engine) -> Iterator[None]:
    """End all connections to the warehouse but those named OWN_NAME, again and again. Where one of another
    role, which cannot be ended, holds these up for too long, their statement is ended: raises BackupError."""
    done = threading.Event()
    refusals: list[str] = []

    def keep_out() -> None:
        # A server that has gone is for pg_restore to name.
        with (
            suppress(SQLAlchemyError),
            engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection,
        ):
            free_at = time.monotonic()
            while not done.wait(_SECONDS_BETWEEN_ENDS):
                connection.execute(_END_OTHERS)
                blocker = connection.execute(_BLOCKER).first()
                if blocker is None:
                    free_at = time.monotonic()
                elif time.monotonic() > free_at + _WAIT_SECONDS:
                    role, pid, application = blocker
                    refusals.append(
                        f"was not restored: it waits for a session of the role {role!r} (pid {pid}, "
                        f"application {application!r}); end it, and restore again"
                    )
                    connection.execute(_GIVE_UP)

    thread = threading.Thread(target=keep_out)
    thread.start()
    try:
        yield
    except Exception as error:
        if refusals:
            raise BackupError(refusals[0]) from error
        raise
    finally:
        done.set()
        thread.join()


def _program(name: str, engine: Engine) -> str:
    """The path of one of PostgreSQL's programs; raises BackupError where there is none that fits."""
    with engine.connect() as connection:
        version = connection.scalar(text("SHOW server_version_num"))
    server = int(str(version)) // 10_000
    advice = (
        f"install PostgreSQL's client programs of version {server} or newer "
        f"(Debian, Ubuntu: apt-get install postgresql-client-{server})"
    )
    path = shutil.which(name)
    if path is None:
        raise BackupError(f"needs {name}, which is not on the PATH: {advice}")
    said = subprocess.run([path, "--version"], capture_output=True, text=True, check=True).stdout
    found = re.search(r"\d+", said)
    if found is None or int(found.group()) < server:
        raise BackupError(
            f"needs a newer {name}: {path} is version {said.split()[-1]}, the server {server}: {advice}"
        )
    return path


def _plain(url: URL) -> str:
    # Passwords go by the environment, where other users of the machine do not see them (`_run`).
    # `URL.set` leaves a part as it is where it is told None, and a shown `***` would count as the password.
    parts = (url.username, None, url.host, url.port, url.database, url.query)
    plain = URL.create("postgresql", *parts).difference_update_query([*SECRETS, _NAME])
    if _SSL_PASSWORD in url.query:
        plain = plain.update_query_dict({"service": _SERVICE})
    return plain.render_as_string()


@contextmanager
def _passwords(url: URL) -> Iterator[dict[str, str]]:
    """The environment variables by which PostgreSQL's programs get the passwords of a URL."""
    password, *_ = *url.normalized_query.get("password", ()), url.password
    own = {} if password is None else {"PGPASSWORD": str(password)}
    # No variable has this one: it takes a file, which its user alone can read.
    with tempfile.NamedTemporaryFile("w") as service:
        for ssl_password in url.normalized_query.get(_SSL_PASSWORD, ()):
            service.write(f"[{_SERVICE}]\n{_SSL_PASSWORD}={ssl_password}\n")
            service.flush()
            own["PGSERVICEFILE"] = service.name
        yield own


def _pour(
    file: Path, command: list[str], url: URL, failed: str, what: str, progress: Progress
) -> None:
    """Run a command with a file as its input; `failed` says what it means if that fails."""
    total = file.stat().st_size

    def feed(into: IO[bytes]) -> None:
        done = 0
        with file.open("rb") as source:
            while chunk := source.read(_CHUNK):
                into.write(chunk)
                done += len(chunk)
                progress(what, done, total)

    _run(command, url, failed, writing=feed)


def _run(
    command: list[str],
    url: URL,
    failed: str,
    *,
    reading: Callable[[IO[bytes]], None] | None = None,
    writing: Callable[[IO[bytes]], None] | None = None,
) -> None:
    """Run one of PostgreSQL's programs; raises BackupError with its first complaint."""
    with _passwords(url) as passwords, tempfile.TemporaryFile() as complaints:
        with subprocess.Popen(
            command,
            env={**os.environ, "PGAPPNAME": OWN_NAME, **passwords},
            stdin=subprocess.PIPE if writing else subprocess.DEVNULL,
            stdout=subprocess.PIPE if reading else subprocess.DEVNULL,
            stderr=complaints,
        ) as process:
            try:
                if reading is not None and process.stdout is not None:
                    reading(process.stdout)
                if writing is not None and process.stdin is not None:
                    writing(process.stdin)
                    process.stdin.close()
            except BrokenPipeError:
                pass  # It has ended early; it says why.
            except BaseException:
                process.kill()
                raise
        complaints.seek(0)
        said = complaints.read().decode(errors="replace").strip().splitlines()
    if process.returncode:
        reason = said[0] if said else f"exit status {process.returncode}"
        raise BackupError(f"{failed}: {without_password(reason)}")
