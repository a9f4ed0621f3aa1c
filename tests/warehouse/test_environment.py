"""The environment of a process: wrong settings are named before it begins, and ENV_FILE adds to it."""

import os
from pathlib import Path

import click
import pytest
from click.testing import CliRunner, Result

import jobs.cli
import web.cli
from tests.support import commands
from warehouse import environment
from warehouse.environment import uses
from warehouse.setting_values import ADMIN, API, COLLECTOR, JOBS, SCHEDULER
from warehouse.settings import SETTINGS, WAREHOUSE_URL

# A wrong value of each setting, and what the message says that it must be, with an example.
DAYS = "must be a whole number of days from 1 to 36500"
PROCESSES = "must be a whole number from 1 to 256"
PORT = "must be a whole number from 1 to 65535"
RATE = "must be requests/seconds, 1 to 1000000 requests in 1 to 86400 s, or off"
HOST = "must be an address or the name of a host, without scheme and port"
CRON = "must be a cron expression of five fields"
WRONG = {
    "ENV_FILE": ("/nowhere/.env", "cannot be read: No such file or directory"),
    "WAREHOUSE_URL": (
        "mysql://me:S3cret@db/x",
        "must be sqlite:///FILE or postgresql://USER:PASSWORD@HOST:PORT/NAME, "
        "as in WAREHOUSE_URL=sqlite:///var/warehouse.db",
    ),
    "READ_WAREHOUSE_URL": (
        "sqlite:///x.db",
        "must be postgresql://USER:PASSWORD@HOST:PORT/NAME: SQLite has no replicas, "
        "as in READ_WAREHOUSE_URL=postgresql://user:password@replica.example/formrevenue",
    ),
    "ATTRIBUTION_WINDOW_DAYS": ("a month", f"{DAYS}, as in ATTRIBUTION_WINDOW_DAYS=30"),
    "IMPORTS_DAYS": ("month", f"{DAYS}, as in IMPORTS_DAYS=30"),
    "RAW_DAYS": ("never", f"{DAYS}, or off, as in RAW_DAYS=400"),
    "REJECTS_DAYS": ("0", f"{DAYS}, as in REJECTS_DAYS=30"),
    "NIGHTLY_CRON": ("nightly", f"{CRON}, as in NIGHTLY_CRON=15 2 * * *"),
    "REFRESH_MINUTES": (
        "5m",
        "must be a whole number of minutes from 1 to 1440, as in REFRESH_MINUTES=5",
    ),
    "VERIFY_CRON": ("0 25 * * *", "is no cron expression ("),
    "PURGE_CRON": ("0 3 * * 6-2", "is no cron expression (the range 6-2 ends before it begins)"),
    "BACKUP_CRON": ("daily", f"{CRON}, as in BACKUP_CRON=15 1 * * *"),
    "DATA_DIR": ("/etc/passwd", "must be a folder, as in DATA_DIR=var"),
    "BACKUP_DIR": ("/etc/passwd", "must be a folder, as in BACKUP_DIR=var/backups"),
    "BACKUP_KEEP": ("0", "must be a whole number from 1 to 10000, as in BACKUP_KEEP=14"),
    "BACKUP_DAYS": ("0", f"{DAYS}, as in BACKUP_DAYS=30"),
    "RUNS_DAYS": ("-1", f"{DAYS}, as in RUNS_DAYS=90"),
    "AUDIT_DAYS": ("0", f"{DAYS}, as in AUDIT_DAYS=400"),
    "ALLOW_ROOT": ("yes", "must be a whole number from 0 to 1, as in ALLOW_ROOT=0"),
    "LANDED_DAYS": ("0", f"{DAYS}, as in LANDED_DAYS=30"),
    "BATCH_MAX_ATTEMPTS": (
        "many",
        "must be a whole number from 1 to 1000, as in BATCH_MAX_ATTEMPTS=5",
    ),
    "EXECUTOR": ("threads", "must be inline, processes:N (N from 1 to 99) or dask+tls://HOST:PORT"),
    "IMPORT_DIR": ("/etc/passwd", "must be a folder, as in IMPORT_DIR=var/landing"),
    "LANDING_POLL_SECONDS": (
        "1.5",
        "must be a whole number of seconds from 1 to 3600, as in LANDING_POLL_SECONDS=10",
    ),
    "UPLOAD_MB": ("0", "must be a whole number of megabytes from 1 to 10000"),
    "ROWS_PER_SHOP_DAY": ("0", "must be a whole number from 1 to 1000000000000"),
    "PULL_MAX_MB": ("2 GB", "must be a whole number of megabytes from 1 to 1000000"),
    "IMPORT_MEMORY_MB": ("1", "must be a whole number of megabytes from 256 to 1000000"),
    "IMPORT_MINUTES": (
        "1h",
        "must be a whole number of minutes from 1 to 1440, as in IMPORT_MINUTES=60",
    ),
    "HOST": ("http://0.0.0.0", f"{HOST}, as in HOST=127.0.0.1"),
    "PORT": ("abc", f"{PORT}, as in PORT=8000"),
    "WORKERS": ("0", f"{PROCESSES}, as in WORKERS=2"),
    "METRICS_HOST": ("localhost:9100", f"{HOST}, as in METRICS_HOST=127.0.0.1"),
    "METRICS_PORT": (
        "65535",
        "must be a whole number from 1 to 65534, as in METRICS_PORT=9100",
    ),
    "COLLECT_HOST": ("a b", f"{HOST}, as in COLLECT_HOST=127.0.0.1"),
    "COLLECT_PORT": ("http", f"{PORT}, as in COLLECT_PORT=8001"),
    "COLLECT_WORKERS": ("two", f"{PROCESSES}, as in COLLECT_WORKERS=2"),
    "COLLECT_CALLS_PER_ADDRESS": (
        "6000/60",
        "must be a whole number of calls a minute from 1 to 1000000, or off, "
        "as in COLLECT_CALLS_PER_ADDRESS=6000",
    ),
    "COLLECT_CALLS_PER_KEY": (
        "0",
        "must be a whole number of calls a minute from 1 to 10000000, or off, "
        "as in COLLECT_CALLS_PER_KEY=60000",
    ),
    "COLLECT_MB_PER_SHOP": (
        "1GB",
        "must be a whole number of megabytes a day from 1 to 1000000, or off, "
        "as in COLLECT_MB_PER_SHOP=1000",
    ),
    "PUBLIC_URL": (
        "shop.example",
        "must begin with http:// or https://, and name a host, "
        "as in PUBLIC_URL=https://forms.example.com",
    ),
    "COLLECT_URL": (
        "shop.example",
        "must begin with http:// or https://, and name a host, "
        "as in COLLECT_URL=https://collect.example.com",
    ),
    "TRUSTED_PROXIES": (
        "nginx",
        "must be addresses or networks, comma-separated, as in TRUSTED_PROXIES=10.0.0.5",
    ),
    "CORS_ORIGINS": (
        "shop.example",
        "must be origins (scheme and host), comma-separated, or *, "
        "as in CORS_ORIGINS=https://app.example.com",
    ),
    "RATE_LIMIT": ("10", f"{RATE}, as in RATE_LIMIT=6000/60"),
    "FORMS_PER_SHOP": (
        "all",
        "must be a whole number from 1 to 1000000, as in FORMS_PER_SHOP=10000",
    ),
    "FORM_BYTES_PER_SHOP": ("1GB", "must be a whole number of bytes from 1 to 1000000000000000"),
    "SECRET_KEY": (
        "S3cret",
        "must have at least 32 characters, as in SECRET_KEY=$(openssl rand -hex 32)",
    ),
    "HASH_SECRET": (
        "S3cret",
        "must have at least 32 characters, as in HASH_SECRET=$(openssl rand -hex 32)",
    ),
    "CREDENTIALS_KEY": (
        "S3cret",
        "must be 32 random bytes in base64, as in CREDENTIALS_KEY=$(openssl rand -base64 32)",
    ),
}
NAMED = {setting.name: setting for setting in SETTINGS}
# Any text is a client id or a secret.
ANY_TEXT = {"SHOPIFY_CLIENT_ID", "SHOPIFY_CLIENT_SECRET"}
COMMANDS = {
    ("jobs", "scheduler"): SCHEDULER,
    ("jobs", "status"): SCHEDULER,
    ("jobs", "rollup"): JOBS,
    ("jobs", "import", "events", "x.ndjson"): JOBS,
    ("web", "serve"): API,
    ("web", "collect"): COLLECTOR,
    ("web", "members", "list"): ADMIN,
}
USED = {
    command: {name for name in WRONG if uses(process, NAMED[name])}
    for command, process in COMMANDS.items()
}


@pytest.fixture
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """An environment without settings, and without a file of them."""
    for setting in SETTINGS:
        monkeypatch.delenv(setting.name, raising=False)
        monkeypatch.delenv(f"{setting.name}_FILE", raising=False)
    monkeypatch.setenv("DATA_DIR", str(tmp_path))
    monkeypatch.setenv("WAREHOUSE_URL", f"sqlite:///{tmp_path / 'none.db'}")
    monkeypatch.setattr(environment, "_DEFAULT_FILE", tmp_path / ".env")
    return monkeypatch


def run(command: tuple[str, ...]) -> Result:
    main: click.Command = jobs.cli.main if command[0] == "jobs" else web.cli.main
    return CliRunner().invoke(main, command[1:], catch_exceptions=False)


def test_every_setting_can_be_wrong_and_is_used() -> None:
    assert NAMED.keys() == WRONG.keys() | ANY_TEXT
    assert set().union(*USED.values()) == WRONG.keys()


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_value_ends_a_command_that_uses_it(
    name: str, settings: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    value, message = WRONG[name]
    settings.setenv(name, value)
    done = run(next(command for command, used in USED.items() if name in used))
    assert (done.exit_code, done.stdout) == (2, "")
    (line,) = done.stderr.splitlines()
    shown = f"{name}: " if NAMED[name].secret else f"{name}={value!r}"
    assert line.startswith(f"Error: {shown}")
    assert message in line
    assert "S3cret" not in line
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_all_that_is_wrong_is_said_at_once(
    command: tuple[str, ...], settings: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for name, (value, _) in WRONG.items():
        if name != "ENV_FILE":
            settings.setenv(name, value)
    done = run(command)
    assert (done.exit_code, done.stdout) == (2, "")
    lines = [line.removeprefix("Error: ") for line in done.stderr.splitlines()]
    named = [line.partition("=")[0].partition(":")[0] for line in lines]
    wrong = USED[command] - {"ENV_FILE"}
    assert sorted(named) == sorted(wrong)
    assert list(tmp_path.iterdir()) == []


def test_a_replica_needs_a_primary_that_has_replicas(settings: pytest.MonkeyPatch) -> None:
    settings.setenv("READ_WAREHOUSE_URL", "postgresql://replica.example/w")
    done = run(("web", "serve"))
    assert done.exit_code == 2
    assert done.stderr == (
        "Error: READ_WAREHOUSE_URL: a read replica needs PostgreSQL, and WAREHOUSE_URL names an SQLite "
        "file; unset it, or set WAREHOUSE_URL to the replica's primary\n"
    )


def test_what_every_host_hands_out_is_taken(settings: pytest.MonkeyPatch) -> None:
    for scheme in ("postgres", "postgresql", "postgresql+psycopg"):
        settings.setenv("WAREHOUSE_URL", f"{scheme}://me@db.example/w")
        assert WAREHOUSE_URL.get() == "postgresql+psycopg://me@db.example/w"
    settings.setenv("WAREHOUSE_URL", "postgresql+psycopg2://me@db.example/w")
    assert "must be sqlite:///FILE or postgresql://" in run(("jobs", "status")).stderr


@pytest.mark.parametrize("process", [API, COLLECTOR, SCHEDULER, JOBS, ADMIN])
def test_every_default_works(process: str, settings: pytest.MonkeyPatch) -> None:
    environment.prepare(process)


@pytest.mark.parametrize("command", [["jobs", "status"], ["web", "serve"], ["web", "keys", "list"]])
def test_as_a_process(command: list[str]) -> None:
    done = commands.run(*command, settings={"WAREHOUSE_URL": "mysql://db/w"})
    assert (done.status, done.output) == (2, "")
    assert done.errors == (
        "Error: WAREHOUSE_URL: must be sqlite:///FILE or postgresql://USER:PASSWORD@HOST:PORT/NAME, "
        "as in WAREHOUSE_URL=sqlite:///var/warehouse.db\n"
    )


ENV_FILE = """
# A comment, an empty line, and settings.
PORT=8123
  export HOST = 127.0.0.2   # with a comment
PUBLIC_URL="https://forms.example.com/#?"
CORS_ORIGINS='https://a.example, https://b.example'
SECRET_KEY="a \\"quoted\\" secret \\\\ of more than 32 characters"
WAREHOUSE_URL=sqlite:///from#file.db
METRICS_PORT=
"""


def test_a_misspelt_setting_is_pointed_at(
    settings: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("TRUSTED_PROXY", "HASH_SECRETS_FILE", "HOSTNAME", "REPORT"):
        settings.setenv(name, "x")
    environment.prepare(JOBS)
    assert capsys.readouterr().err == (
        "Warning: HASH_SECRETS_FILE is set, and no setting is called so: is HASH_SECRET_FILE meant?\n"
        "Warning: TRUSTED_PROXY is set, and no setting is called so: is TRUSTED_PROXIES meant?\n"
    )


def test_a_file_of_settings(tmp_path: Path, settings: pytest.MonkeyPatch) -> None:
    file = tmp_path / "my.env"
    file.write_text(ENV_FILE.replace("/#?", ""), "utf-8-sig")
    before = dict(os.environ)
    settings.setenv("ENV_FILE", str(file))
    settings.setenv("SECRET_KEY", "x")
    settings.delenv("SECRET_KEY")
    with pytest.MonkeyPatch.context() as patch:
        for name in ("PORT", "HOST", "PUBLIC_URL", "CORS_ORIGINS", "SECRET_KEY", "METRICS_PORT"):
            patch.setenv(name, "")
            del os.environ[name]
        environment.prepare(API)
        assert os.environ["PORT"] == "8123"
        assert os.environ["HOST"] == "127.0.0.2"
        assert os.environ["PUBLIC_URL"] == "https://forms.example.com"
        assert os.environ["CORS_ORIGINS"] == "https://a.example, https://b.example"
        assert os.environ["SECRET_KEY"] == 'a "quoted" secret \\ of more than 32 characters'
        assert os.environ["METRICS_PORT"] == ""
        # The environment wins.
        assert os.environ["WAREHOUSE_URL"] == before["WAREHOUSE_URL"]


def test_the_environment_wins_by_a_file_of_the_value_too(
    tmp_path: Path, settings: pytest.MonkeyPatch
) -> None:
    (tmp_path / ".env").write_text("PORT=8123\n")
    (tmp_path / "port").write_text("8124\n")
    settings.setenv("PORT_FILE", str(tmp_path / "port"))
    environment.prepare(API)
    assert "PORT" not in os.environ


def test_lines_that_are_no_settings_are_named_and_not_quoted(
    tmp_path: Path, settings: pytest.MonkeyPatch
) -> None:
    file = tmp_path / ".env"
    file.write_text("PORT=8123\nS3cret\nHOST='S3cret\n=x\n")
    settings.setenv("PORT", "8000")
    done = run(("web", "serve"))
    assert done.exit_code == 2
    assert done.stderr.splitlines() == [
        f"Error: {file}:{number}: must be KEY=VALUE, as in PORT=8000" for number in (2, 3, 4)
    ]


@pytest.mark.parametrize(
    "command", [["jobs", "status"], ["web", "keys", "list"], ["jobs", "rejects"]]
)
def test_every_command_reads_the_file_and_creates_no_warehouse_to_read(
    command: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file, database = tmp_path / "my.env", tmp_path / "var" / "none.db"
    file.write_text(f"WAREHOUSE_URL=sqlite:///{database}\n")
    monkeypatch.delenv("WAREHOUSE_URL", raising=False)
    done = commands.run(*command, settings={"ENV_FILE": str(file)})
    assert (done.status, done.output) == (1, "")
    assert done.errors == (
        f"Error: there is no warehouse at sqlite:///{database}: set WAREHOUSE_URL to one, or create it by "
        "importing shops\n"
    )
    assert list(tmp_path.iterdir()) == [file]
