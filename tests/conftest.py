"""Fixtures: new databases.

`warehouse_url` runs a test once over SQLite and once over PostgreSQL, each time on a database of its
own, which has the warehouse's tables and nothing in them. `new_warehouse_url` is the same as a function,
for tests that need a fresh one per example. Where a module says that `migrated` is False, not even the
tables are there.
"""

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from sqlalchemy import URL, make_url

from tests import postgres
from warehouse.engine import open_engine
from warehouse.migrate import migrate

NewUrl = Callable[[], str]

_WITHOUT_POSTGRES = "without PostgreSQL: "
WITHOUT_CHROMIUM = "without Chromium: "
_REMEDIES = {
    _WITHOUT_POSTGRES: "set TEST_POSTGRES_URL to a server where databases may be created",
    WITHOUT_CHROMIUM: "install Chromium, or set CHROMIUM to where it is",
}


@pytest.fixture(scope="session")
def postgres_server() -> URL:
    """A server on which databases may be created; its tests are left out where there is none."""
    run = os.environ.get("PYTEST_XDIST_TESTRUNUID", f"pid{os.getpid()}")
    try:
        return postgres.server_url(run)
    except postgres.PostgresUnavailable as error:
        pytest.skip(f"{_WITHOUT_POSTGRES}{error}")


def _migrate(url: str) -> None:
    engine = open_engine(url)
    migrate(engine)
    engine.dispose()


@pytest.fixture(scope="session")
def sqlite_template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A database file with the tables: to copy it takes a hundredth of the time to make them."""
    file = tmp_path_factory.mktemp("template") / "warehouse.db"
    _migrate(f"sqlite:///{file}")
    return file


@pytest.fixture(scope="session")
def postgres_template(postgres_server: URL) -> Iterator[str]:
    """The URL of a database with the tables, which others are made from."""
    with postgres.new_database(postgres_server) as url:
        _migrate(url)
        yield url


@pytest.fixture
def migrated() -> bool:
    """Whether a new database has the tables."""
    return True


@pytest.fixture
def new_sqlite_url(tmp_path: Path, sqlite_template: Path, migrated: bool) -> NewUrl:
    """A function that returns the URL of a new database; of a file that is not there yet where it
    has no tables."""
    count = 0

    def new() -> str:
        nonlocal count
        count += 1
        file = tmp_path / f"warehouse-{count}.db"
        if migrated:
            shutil.copy(sqlite_template, file)
        return f"sqlite:///{file}"

    return new


@pytest.fixture
def new_postgres_url(
    postgres_server: URL, postgres_template: str, migrated: bool
) -> Iterator[NewUrl]:
    """A function that returns the URL of a new database."""
    template = make_url(postgres_template).database if migrated else None
    with ExitStack() as databases:
        yield lambda: databases.enter_context(
            postgres.new_database(postgres_server, template or "template0")
        )


@pytest.fixture
def sqlite_url(new_sqlite_url: NewUrl) -> str:
    return new_sqlite_url()


@pytest.fixture
def postgres_url(new_postgres_url: NewUrl) -> str:
    return new_postgres_url()


@pytest.fixture(params=["sqlite", "postgresql"])
def new_warehouse_url(request: pytest.FixtureRequest) -> NewUrl:
    """A function that returns the URL of an empty database, of either kind."""
    name = {"sqlite": "new_sqlite_url", "postgresql": "new_postgres_url"}[request.param]
    new: NewUrl = request.getfixturevalue(name)
    return new


@pytest.fixture
def warehouse_url(new_warehouse_url: NewUrl) -> str:
    return new_warehouse_url()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say in one line each what could not be run for want of a PostgreSQL server or a browser."""
    reports = terminalreporter.stats.get("skipped", [])
    for marker, remedy in _REMEDIES.items():
        left_out = [report for report in reports if marker in str(report.longrepr)]
        if left_out:
            why = str(left_out[0].longrepr[2]).split(marker, 1)[1]
            need = marker.removeprefix("without ").rstrip(": ")
            terminalreporter.write_line(
                f"NOT RUN: {len(left_out)} tests that need {need} ({why}); {remedy}", yellow=True
            )
