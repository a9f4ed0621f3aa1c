"""Fixtures: a small world as files, and commands run to their end, from no tables at all."""

from pathlib import Path

import pytest

from tests.support.backups import Run
from tests.support.faults.victim import start
from tests.support.worlds import World, world


@pytest.fixture
def migrated() -> bool:
    return False


@pytest.fixture(autouse=True)
def its_programs(programs: None) -> None:
    """Every test here takes a backup or restores one."""


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
