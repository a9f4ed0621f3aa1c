"""Every setting that is a number, or has one in it, has a least and a most; and a process checks at its start
every setting that it uses."""

import ast
import os
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Final

import pytest
from click.testing import CliRunner

import jobs.cli
import web.cli
from tests.support.commands import run
from tests.support.import_files import Row, as_ndjson, event, order
from warehouse import settings
from warehouse.environment import uses
from warehouse.setting_values import (
    ADMIN,
    API,
    COLLECTOR,
    JOBS,
    SCHEDULER,
    Number,
    Setting,
    SettingError,
)
from warehouse.settings import SETTINGS

ROOT: Final = Path(__file__).parents[2]
BY_NAME: Final = {setting.name: setting for setting in SETTINGS}
# Settings with numbers in a text: the text, and the least and the most of the number.
WITHIN: Final = {
    ("EXECUTOR", "processes:{}"): (1, 99),
    ("RATE_LIMIT", "{}/60"): (1, 1_000_000),
    ("RATE_LIMIT", "60/{}"): (1, 86_400),
    ("EXECUTOR", "dask+tls://scheduler.example:{}"): (1, 65_535),
}
TEXTS: Final = {
    *(
        "ENV_FILE",
        "DATA_DIR",
        "WAREHOUSE_URL",
        "READ_WAREHOUSE_URL",
        "IMPORT_DIR",
        "HOST",
        "METRICS_HOST",
    ),
    *("COLLECT_HOST", "COLLECT_URL", "PUBLIC_URL", "TRUSTED_PROXIES", "CORS_ORIGINS", "SECRET_KEY"),
    *("HASH_SECRET", "CREDENTIALS_KEY", "SHOPIFY_CLIENT_ID", "SHOPIFY_CLIENT_SECRET"),
    *("NIGHTLY_CRON", "VERIFY_CRON", "PURGE_CRON", "BACKUP_CRON", "BACKUP_DIR"),
}
NUMBERS: Final = {
    (setting.name, "{}"): (setting.parse.least, setting.parse.most)
    for setting in SETTINGS
    if isinstance(setting.parse, Number)
}
BOUNDS: Final = [(name, text, *bounds) for (name, text), bounds in {**NUMBERS, **WITHIN}.items()]
COMMANDS: Final = {
    JOBS: "jobs rollup",
    SCHEDULER: "jobs scheduler",
    API: "web serve",
    COLLECTOR: "web collect",
    ADMIN: "web members list",
}


@pytest.fixture(autouse=True)
def no_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    for setting in SETTINGS:
        monkeypatch.delenv(setting.name, raising=False)
    monkeypatch.setenv("ENV_FILE", os.devnull)


def test_every_setting_is_a_text_or_has_bounds() -> None:
    bounded = {name for name, *_ in BOUNDS}
    assert bounded | TEXTS == BY_NAME.keys()
    assert not bounded & TEXTS


@pytest.mark.parametrize(("name", "text", "least", "most"), BOUNDS)
def test_the_bounds_are_taken_and_nothing_beyond_them(
    name: str, text: str, least: int, most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in (least, most):
        monkeypatch.setenv(name, text.format(number))
        BY_NAME[name].get()
    for number in (least - 1, most + 1, 10**30, 10**5000, -1):
        value = text.format(number if number < 10**40 else "9" * 5000)
        monkeypatch.setenv(name, value)
        with pytest.raises(SettingError) as refused:
            BY_NAME[name].get()
        (line,) = str(refused.value).splitlines()
        assert line.startswith(f"{name}={value[:50]!r}"[:40])
        assert str(most) in line
        assert len(line) < 400


@pytest.mark.parametrize("process", COMMANDS)
def test_a_process_refuses_each_number_beyond_its_bounds(
    process: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("WAREHOUSE_URL", f"sqlite:///{tmp_path / 'none.db'}")
    room, *command = COMMANDS[process].split()
    main = jobs.cli.main if room == "jobs" else web.cli.main
    for name, text, _, most in BOUNDS:
        if uses(process, BY_NAME[name]):
            with monkeypatch.context() as patch:
                patch.setenv(name, text.format(most + 1))
                done = CliRunner().invoke(main, command, catch_exceptions=False)
            assert (done.exit_code, done.stdout) == (2, ""), name
            (line,) = done.stderr.splitlines()
            assert line.startswith(f"Error: {name}={text.format(most + 1)!r}: must be ")
    assert list(tmp_path.iterdir()) == []


def test_the_most_days_of_all_settings_are_days_that_all_jobs_can_count_with(
    tmp_path: Path,
) -> None:
    days = {name: str(number.most) for name, number in _days().items()}
    environ = {
        **days,
        "WAREHOUSE_URL": f"sqlite:///{tmp_path / 'warehouse.db'}",
        "IMPORT_DIR": str(tmp_path / "landing"),
    }
    shop = {"shop_id": "a.example", "currency": "EUR"}
    rows: dict[str, list[Row]] = {
        "shops": [shop],
        "events": [
            event(
                shop_id="a.example",
                type="complete",
                occurred_at="2001-01-01T00:00:00Z",
                visitor_id="v",
            )
        ],
        "orders": [order(shop_id="a.example", created_at="2026-01-01T00:00:00Z", visitor_id="v")],
    }
    commands: list[tuple[str, ...]] = []
    for kind, some in rows.items():
        file = tmp_path / f"{kind}.ndjson"
        file.write_bytes(as_ndjson(some))
        commands.append(("import", kind, str(file)))
    for command in (*commands, ("rollup",), ("purge",), ("imports", "list"), ("verify", "--all")):
        run("jobs", *command, settings=environ).finish()


def _days() -> dict[str, Number]:
    return {
        setting.name: setting.parse
        for setting in SETTINGS
        if isinstance(setting.parse, Number) and setting.name.endswith("_DAYS")
    }


_COMMANDS: Final = {f"jobs.commands.{path.stem}" for path in ROOT.glob("jobs/commands/[a-z]*.py")}
# Where the program of a process begins, and modules of which it uses a part that reads no setting.
PROGRAMS: Final = {
    API: ({"web.server.wsgi_server"}, set[str]()),
    COLLECTOR: (
        {"web.collector.server"},
        {
            *("web.app", "web.server.wsgi_server", "web.http.rate_limits", "web.db.database"),
            *("web.http.health", "warehouse.intake.shop_pulls"),
        },
    ),
    ADMIN: (
        {f"web.cli.{name}" for name in ("keys", "shops", "members")},
        {"web.app"},
    ),
    JOBS: (
        _COMMANDS - {f"jobs.commands.{name}" for name in ("scheduler", "status")},
        set[str](),
    ),
    SCHEDULER: (_COMMANDS, set[str]()),
}


def test_a_process_checks_every_setting_that_its_program_reads() -> None:
    unchecked = {
        f"{setting.name} in {module}, by {process}"
        for process, (begin, others) in PROGRAMS.items()
        for module in _modules(begin, others)
        for setting in _read_in(module)
        if not uses(process, setting)
    }
    assert unchecked == set()


def _modules(begin: set[str], others: set[str]) -> set[str]:
    """The modules of the product that these import, and those that they import."""
    found: set[str] = set()
    left = sorted(begin)
    while left:
        module = left.pop()
        if module not in found | others:
            found.add(module)
            left += _imports(module)
    return found


def _file(module: str) -> Path | None:
    path = ROOT.joinpath(*module.split("."))
    files = (path.with_suffix(".py"), path / "__init__.py")
    return next((file for file in files if file.exists()), None)


@cache
def _tree(module: str) -> ast.Module:
    file = _file(module)
    assert file is not None
    return ast.parse(file.read_text())


@cache
def _imports(module: str) -> list[str]:
    named: list[str] = []
    for node in ast.walk(_tree(module)):
        if isinstance(node, ast.ImportFrom) and node.module:
            named += [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
        elif isinstance(node, ast.Import):
            named += [alias.name for alias in node.names]
    return [
        name for name in named if name.split(".")[0] in ("jobs", "web", "warehouse") and _file(name)
    ]


_ABOUT_ALL: Final = ("warehouse.environment", "warehouse.connections.errors")


def _read_in(module: str) -> Iterator[Setting]:
    """The settings whose values a module reads, or has read."""
    # These declare, check and name all of them.
    if module.startswith("warehouse.setting") or module in _ABOUT_ALL:
        return
    tree = _tree(module)
    names = {
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and node.attr == "name"
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Name | ast.Attribute) and node not in names:
            name = node.id if isinstance(node, ast.Name) else node.attr
            for read in _of_functions().get(name, {name}):
                if read in BY_NAME:
                    yield BY_NAME[read]


@cache
def _of_functions() -> dict[str, set[str]]:
    """The settings that each function of `settings.py` reads."""
    return {
        node.name: {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}
        for node in _tree(settings.__name__).body
        if isinstance(node, ast.FunctionDef)
    }
