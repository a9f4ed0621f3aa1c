"""A primary and a hot standby that streams from it, both of a test's own."""

import os
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from sqlalchemy import URL, NullPool, create_engine

from tests.support import postgres, statements
from tests.support.faults.servers import own_server, owner_of, run_program

# A query that keeps the primary's changes from being applied is ended at once.
_SETTINGS = "-c hot_standby_feedback=off -c max_standby_streaming_delay=0"
_SECONDS = 60


class Standby:
    """The standby of the server at `primary`, which lives in `folder`."""

    def __init__(self, primary: URL, primary_folder: Path, folder: Path) -> None:
        self.primary = primary
        self.url = primary.set(query={"host": str(folder)})
        self._primary_folder, self._folder = primary_folder, folder
        self._data, self._log = folder / "data", folder / "log"
        libpq = primary.set(drivername="postgresql").render_as_string(hide_password=False)
        # -R writes what makes it a standby of this primary; a checkpoint that takes its time takes minutes.
        self._run("pg_basebackup", "-d", libpq, "-D", str(self._data), "-R", "-c", "fast")

    def start(self) -> None:
        options = f'{_SETTINGS} -h "" -k {self._folder}'
        words = ("-o", options, "-l", str(self._log), "-w", "start")
        self._run("pg_ctl", "-D", str(self._data), *words)

    def stop(self) -> None:
        self._run("pg_ctl", "-D", str(self._data), "-m", "immediate", "-w", "stop")
        statements.record(self._log)

    def pause(self) -> None:
        """Apply no more changes: from here on, the standby lags."""
        self.ask("SELECT pg_wal_replay_pause()")
        self.wait_for(lambda: self.ask("SELECT pg_get_wal_replay_pause_state()") == "paused")

    def resume(self) -> None:
        """Apply changes again, and wait until it has all those that the primary has made by now."""
        written = ask(self.primary, "SELECT pg_current_wal_lsn()")
        self.ask("SELECT pg_wal_replay_resume()")
        self.wait_for(lambda: self.ask(f"SELECT pg_last_wal_replay_lsn() >= '{written}'"))

    def log(self) -> str:
        return self._log.read_text()

    def ask(self, statement: str) -> Any:
        """The value of a statement on the standby."""
        return ask(self.url, statement)

    def wait_for(self, is_so: Callable[[], Any]) -> None:
        deadline = time.monotonic() + _SECONDS
        while not is_so():
            assert time.monotonic() < deadline
            time.sleep(0.02)

    def _run(self, name: str, *words: str) -> None:
        run_program(self._primary_folder, name, *words)


def ask(url: URL, statement: str) -> Any:
    """The value of a statement."""
    engine = create_engine(url, isolation_level="AUTOCOMMIT", poolclass=NullPool)
    with engine.connect() as connection:
        return connection.exec_driver_sql(statement).scalar()


@contextmanager
def replicated() -> Iterator[Standby]:
    """A standby that lives as long as the block, and so does its primary. Raises PostgresUnavailable where
    this machine cannot start them."""
    with ExitStack() as started:
        try:
            standby = _start(started)
        except Exception as error:
            raise postgres.unavailable(error) from error
        yield standby


def _start(started: ExitStack) -> Standby:
    primary, primary_folder = started.enter_context(own_server())
    folder = Path(tempfile.mkdtemp(prefix="formrevenue-standby-"))
    started.callback(shutil.rmtree, folder, ignore_errors=True)
    owner = owner_of(primary_folder)
    if owner is not None:
        os.chown(folder, owner, -1)
    standby = Standby(primary, primary_folder, folder)
    standby.start()
    started.callback(standby.stop)
    return standby
