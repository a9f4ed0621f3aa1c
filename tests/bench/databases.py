"""Empty databases for the benchmark; each is gone after its use."""

import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import psutil
import psycopg
from sqlalchemy import make_url

from tests.support import postgres

FOLDER = Path("var/bench")
# Gives the URL of an empty database.
New = Callable[[], AbstractContextManager[str]]


def databases(kind: str) -> New:
    """For `sqlite` files of their own, for `postgresql` databases of one server."""
    if kind == "postgresql":
        server = postgres.server_url(f"bench{os.getpid()}", logs=False)
        return lambda: postgres.new_database(server)
    return _new_file


def server_process(url: str) -> psutil.Process | None:
    """The process of PostgreSQL's server, which must run on this machine; None without one."""
    if not url.startswith("postgresql"):
        return None
    parsed = make_url(url)
    plain = parsed.set(drivername="postgresql").render_as_string(hide_password=False)
    with psycopg.connect(plain) as connection:
        return psutil.Process(connection.info.backend_pid).parent()


@contextmanager
def _new_file() -> Iterator[str]:
    FOLDER.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=FOLDER) as folder:
        yield f"sqlite:///{Path(folder).resolve() / 'warehouse.db'}"
