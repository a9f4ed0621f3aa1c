"""Fixtures: a small world as files, and commands run to their end, from no tables at all."""

import os
from pathlib import Path

import pytest

from tests.support import postgres
from tests.support.backups import Run
from tests.support.faults.victim import start
from tests.support.worlds import World, world


@pytest.fixture
def migrated() -> bool:
    return False


@pytest.fixture(autouse=True)
def programs(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """PostgreSQL's programs of the server's version, before those that the machine has."""
    if "postgresql" in request.node.name:
        folder = postgres.programs(request.getfixturevalue("postgres_server"))
        monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")


@pytest.fixture
def given() -> World:
    return world(11, 8)


@pytest.fixture
def files(given: World, tmp_path: Path) -> dict[str, Path]:
    return given.write(tmp_path)


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """A command from its start to its end."""
    return lambda url, *args: start(url, [*map(str, args)], tmp_path).wait()
