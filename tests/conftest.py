"""Fixtures: databases with the warehouse's tables and nothing in them.

`warehouse_url` is one, `new_warehouse_url` a function for tests that need several. They are SQLite's;
in the rooms of `BOTH_DATABASES` every test runs once over SQLite and once over PostgreSQL (in `make test`
only those of the core, see `tiers.py`). Where a module says that `migrated` is False, not even the tables
are there.
"""

import atexit
import gc
import os
import shutil
import zoneinfo
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from tempfile import mkdtemp

import pytest
from sqlalchemy import URL, make_url

from tests import tiers
from tests.support import depth, postgres, statements
from tests.support.hashing import USE_KNOWN_SECRET
from tests.support.small_disk import NoSmallDisk, small_disk
from tests.support.worlds import NOW
from warehouse.connections.engine import open_engine
from warehouse.migrations.migrate import migrate

pytest_plugins = ("tests.support.fixtures",)

NewUrl = Callable[[], str]

RUN = os.environ.get("PYTEST_XDIST_TESTRUNUID", f"pid{os.getpid()}")
"""The name of this run of the tests, which its processes have in common."""

depth.register_profiles()
statements.mark_those_of_tests()

# Tests ask for more than a shop may, at an instant that stands still.
os.environ["RATE_LIMIT"] = "off"
# A scheduler of a test must not meet the jobs of the night, which may fall into a run of the tests.
for _name in ("NIGHTLY_CRON", "VERIFY_CRON", "PURGE_CRON"):
    os.environ[_name] = "0 0 29 2 *"
# The oracle's days are made with the packaged rules of time zones, as the product's.
zoneinfo.reset_tzpath(())
# A developer's settings are not the tests'.
os.environ["ENV_FILE"] = os.devnull
# Nor are the secrets that `make start` has made.
os.environ["DATA_DIR"] = mkdtemp()
atexit.register(shutil.rmtree, os.environ["DATA_DIR"], ignore_errors=True)

# The rooms in which the database decides whether a test passes: SQL of their own, locks, types.
BOTH_DATABASES = (
    "warehouse",
    "contract/test_form_rules.py",
    "contract/test_later_rows.py",
    "jobs/commands/test_forget.py",
    "jobs/commands/test_scheduled_backups.py",
    "jobs/explaining/test_explain.py",
    "jobs/facts/test_kept_facts_stored.py",
    "jobs/facts/test_read_raw.py",
    "jobs/importing/test_ads.py",
    "jobs/importing/test_chosen_rejects.py",
    "jobs/importing/test_events.py",
    "jobs/importing/test_form_counts.py",
    "jobs/importing/test_form_places.py",
    "jobs/importing/test_forgotten_forms.py",
    "jobs/importing/test_forgotten_rows.py",
    "jobs/importing/test_imports.py",
    "jobs/importing/test_inserting.py",
    "jobs/importing/test_undo_forms.py",
    "jobs/importing/test_undo_rows.py",
    "jobs/importing/test_orders.py",
    "jobs/importing/test_reject_retries.py",
    "jobs/importing/test_seen_forms.py",
    "jobs/importing/test_shops.py",
    "jobs/pipeline",
    "jobs/pulls/test_pulls.py",
    "jobs/scheduler/test_conditions.py",
    "jobs/scheduler/test_landing_conditions.py",
    "web/api/test_ad_spend.py",
    "web/mcp/test_tools.py",
    "web/api/test_notes.py",
    "web/pages/test_form_codes.py",
    "web/pages/test_members.py",
    "web/pages/test_seen_forms.py",
    "web/api/test_all_steps.py",
    "web/api/test_filter_values.py",
    "web/api/test_form_quota.py",
    "web/limits/test_gcra.py",
    "web/auth/test_most_keys.py",
    "web/auth/test_sessions.py",
    "web/auth/test_sign_in_limits.py",
    "web/dashboard/test_daily_noise.py",
    "web/dashboard/test_data.py",
    "web/dashboard/test_data_persons.py",
    "web/dashboard/test_data_rejects.py",
    "web/dashboard/test_drop.py",
    "web/dashboard/test_labels.py",
    "web/dashboard/test_shops.py",
    "web/dashboard/test_undo.py",
    "web/cli/test_shops.py",
    "web/db",
    "contract/test_invariants.py",
    "contract/test_receipts.py",
    "contract/test_life.py",
    "contract/test_forgetting.py",
    "contract/test_removal.py",
    "contract/test_credits.py",
    "contract/test_equal_age.py",
    "contract/test_undo.py",
    "contract/test_versions.py",
    "contract/by_hand/test_exports.py",
    "system/browser/test_popup_tools.py",
    "system/browser/test_seen_forms.py",
    "system/browser/test_ten_pages.py",
)

_WITHOUT_POSTGRES = "without PostgreSQL: "
WITHOUT_STANDBY = "without a standby of PostgreSQL: "
WITHOUT_CHROMIUM = "without Chromium: "
WITHOUT_NODE = "without Node: "
WITHOUT_PROMTOOL = "without promtool: "
WITHOUT_SYSTEMD = "without systemd-analyze: "
WITHOUT_DISTRIBUTED = "without distributed: "
WITHOUT_PGBOUNCER = "without pgbouncer: "
WITHOUT_HOSTS = "without hosts of their own: "
WITHOUT_SMALL_DISK = "without a small disk: "
WITHOUT_NPM = "without npm: "
WITHOUT_CADDY = "without Caddy: "
WITHOUT_LITESTREAM = "without Litestream: "
_REMEDIES = {
    _WITHOUT_POSTGRES: "set TEST_POSTGRES_URL to a server where databases may be created",
    WITHOUT_STANDBY: "run them as an account that may start a server",
    WITHOUT_CHROMIUM: "install Chromium, or set CHROMIUM to where it is",
    WITHOUT_NODE: "install Node (nodejs)",
    WITHOUT_PROMTOOL: "install Prometheus (prometheus)",
    WITHOUT_SYSTEMD: "install systemd",
    WITHOUT_DISTRIBUTED: "pip install distributed",
    WITHOUT_PGBOUNCER: "install pgbouncer",
    WITHOUT_HOSTS: "run them as root on Linux, with iproute2 and openssl",
    WITHOUT_SMALL_DISK: "run them as an account that may mount one (root)",
    WITHOUT_CADDY: "install Caddy (caddy)",
    WITHOUT_LITESTREAM: "install Litestream",
    WITHOUT_NPM: "install npm, and let it reach its registry",
}


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of one megabyte; its tests are left out where none may be mounted."""
    try:
        with small_disk(tmp_path / "disk", megabytes=1) as place:
            yield place
    except NoSmallDisk as error:
        pytest.skip(f"{WITHOUT_SMALL_DISK}{error}")


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[URL]:
    """A server on which databases may be created; its tests are left out where there is none."""
    try:
        server = postgres.server_url(RUN)
    except postgres.PostgresUnavailable as error:
        pytest.skip(f"{_WITHOUT_POSTGRES}{error}")
    yield server
    statements.record(postgres.folder_of(RUN) / "log")


def _migrate(url: str) -> None:
    engine = open_engine(url)
    migrate(engine)
    with engine.begin() as connection:
        connection.exec_driver_sql(USE_KNOWN_SECRET)
    engine.dispose()


@pytest.fixture(scope="session")
def sqlite_template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A database file with the tables: to copy it takes a hundredth of the time to make them."""
    file = tmp_path_factory.mktemp("template") / "warehouse.db"
    _migrate(f"sqlite:///{file}")
    return file


@pytest.fixture(scope="session")
def new_shared_url(sqlite_template: Path, tmp_path_factory: pytest.TempPathFactory) -> NewUrl:
    """A function that returns the URL of a new database for more than one test: of a module's server, or
    of data that its tests only read."""

    def new() -> str:
        file = tmp_path_factory.mktemp("shared") / "warehouse.db"
        shutil.copy(sqlite_template, file)
        return f"sqlite:///{file}"

    return new


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


@pytest.fixture(scope="session")
def postgres_database(postgres_server: URL, postgres_template: str) -> Iterator[str]:
    """The URL of this worker's database, which its tests use one after the other."""
    template = make_url(postgres_template).database
    with postgres.new_database(postgres_server, template or "") as url:
        yield url


@pytest.fixture
def new_postgres_url(
    postgres_server: URL, postgres_template: str, migrated: bool, request: pytest.FixtureRequest
) -> Iterator[NewUrl]:
    """A function that returns the URL of an empty database: first this worker's own, which to empty takes
    a third of the time of a new one; then new ones."""
    template = make_url(postgres_template).database if migrated else "template0"
    own: list[str] = []
    with ExitStack() as databases:

        def new() -> str:
            if migrated and not own:
                own.append(request.getfixturevalue("postgres_database"))
                # At the end, so that a lock which is left is an error of the test that has left it.
                databases.callback(postgres.empty, own[0])
                return own[0]
            return databases.enter_context(
                postgres.new_database(postgres_server, template or "template0")
            )

        yield new


@pytest.fixture
def sqlite_url(new_sqlite_url: NewUrl) -> str:
    return new_sqlite_url()


@pytest.fixture
def postgres_url(new_postgres_url: NewUrl) -> str:
    return new_postgres_url()


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "new_warehouse_url" in metafunc.fixturenames:
        path = metafunc.definition.path.relative_to(Path(__file__).parent)
        both = any(path.is_relative_to(room) for room in BOTH_DATABASES)
        kinds = ["sqlite", "postgresql"] if both else ["sqlite"]
        metafunc.parametrize("new_warehouse_url", kinds, indirect=True)


# Before pytest takes out those that `-m` leaves out.
@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        tiers.mark(item)


def pytest_collection_finish() -> None:
    # All that is there by now stays to the end: looking through it for garbage again and again takes a
    # twentieth of a run.
    gc.freeze()


@pytest.fixture
def new_warehouse_url(request: pytest.FixtureRequest) -> NewUrl:
    """A function that returns the URL of an empty database, of either kind."""
    name = {"sqlite": "new_sqlite_url", "postgresql": "new_postgres_url"}[request.param]
    new: NewUrl = request.getfixturevalue(name)
    return new


@pytest.fixture
def warehouse_url(new_warehouse_url: NewUrl) -> str:
    return new_warehouse_url()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say in one line each what could not be run for want of a PostgreSQL server or a browser, and how the
    random worlds of a failing run are made again."""
    if terminalreporter.stats.keys() & {"failed", "error"}:
        terminalreporter.write_line(f"Worlds are those of WORLDS_NOW={NOW.isoformat()}")
    reports = terminalreporter.stats.get("skipped", [])
    for marker, remedy in _REMEDIES.items():
        left_out = [report for report in reports if marker in str(report.longrepr)]
        if left_out:
            why = str(left_out[0].longrepr[2]).split(marker, 1)[1]
            need = marker.removeprefix("without ").rstrip(": ")
            terminalreporter.write_line(
                f"NOT RUN: {len(left_out)} tests that need {need} ({why}); {remedy}", yellow=True
            )
