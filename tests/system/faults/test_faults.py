"""Whatever is done to the commands, the answers are those of an undisturbed run."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.depth import FAULTS
from tests.support.faults.places import Databases, Files, Place, small_disk
from tests.support.faults.servers import own_server
from tests.support.faults.story import Story, Tally


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
