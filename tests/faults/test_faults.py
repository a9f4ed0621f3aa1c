"""Whatever is done to the commands, the answers are those of an undisturbed run."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.faults.places import Databases, Files, Place, small_disk
from tests.faults.servers import own_server
from tests.faults.story import Story, Tally

# So many in each database in every run of the tests, many where there is time; by hand
# `python -m tests.faults` counts them by kind.
FAULTS = int(os.environ.get("FAULT_EXAMPLES", "5"))


@pytest.fixture
def disk() -> Iterator[Path | None]:
    with small_disk() as mounted:
        yield mounted


@pytest.fixture(params=["sqlite", "postgresql"])
def place(request: pytest.FixtureRequest, tmp_path: Path, disk: Path | None) -> Iterator[Place]:
    if request.param == "sqlite":
        yield Files(tmp_path, disk)
    else:
        with own_server() as (server, folder):
            yield Databases(server, folder, disk)


def test_hit_and_started_again(place: Place, tmp_path: Path) -> None:
    tally = Tally()
    seed = 1
    while sum(tally.faults.values()) < FAULTS:
        Story(place, tmp_path, seed, tally, size=10).tell(enough=FAULTS)
        seed += 1
    print(tally)
    assert tally.found == [], "\n".join(tally.found)
