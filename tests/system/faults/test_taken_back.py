"""`forget` and `imports undo` are killed at random moments: the next run ends it, and the figures are those
of the rows that are left. `tests/jobs/pipeline/test_removals.py` has what answers say until then."""

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest

from tests.support.answers import differences
from tests.support.depth import FAULTS
from tests.support.faults.places import Databases, Files, Place
from tests.support.faults.servers import own_server
from tests.support.faults.victim import Fault, Outcome, start
from tests.support.forgetting import Person, some_persons, without
from tests.support.oracle.records import Row
from tests.support.product import Product
from tests.support.strategies import Portion, portions
from tests.support.worlds import World, world

# How often a command is hit.
HITS = 5
# A command turns to the database some 170 to 350 times; its first write of figures is after half of that.
CALLS = 300


@pytest.fixture(params=["sqlite", "postgresql"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Place]:
    if request.param == "sqlite":
        yield Files(tmp_path, None)
    else:
        with own_server() as (server, folder):
            yield Databases(server, folder, None)


def done(url: str, folder: Path, *words: str, fault: Fault | None = None) -> None:
    """A command that nothing disturbs. With a fault of no kind, its portions are small."""
    outcome = start(url, list(words), folder, fault).wait()
    assert outcome.status == 0, outcome.printed


class Killer:
    """Kills commands on a warehouse. `hits`: how often."""

    def __init__(self, url: str, folder: Path, rng: Random) -> None:
        self.url, self.folder, self.rng = url, folder, rng
        self.hits = 0

    def take(self, kind: str, rows: list[Row]) -> None:
        file = self.folder / f"{kind}.ndjson"
        file.write_text("".join(json.dumps(row) + "\n" for row in rows))
        done(self.url, self.folder, "import", kind, str(file), fault=Fault())

    def hit(self, *words: str) -> None:
        """Start a command until it ends or was killed often enough. Facts and rows agree each time."""
        if self.rng.random() < 0.5:
            # A half-built edition must follow, too.
            self._kill("rebuild")
        for _ in range(HITS):
            outcome = self._kill(*words)
            if outcome.status == 0:
                return
            self.hits += 1
            done(self.url, self.folder, "verify", "--all")

    def _kill(self, *words: str) -> Outcome:
        fault = Fault(
            "kill", self.rng.randrange(1, CALLS), self.rng.choice((0, self.rng.random() / 20))
        )
        outcome = start(self.url, list(words), self.folder, fault).wait()
        assert outcome.status in (0, -9), outcome.printed
        return outcome

    def check(self, given: World) -> None:
        """The answers are those about a world."""
        done(self.url, self.folder, "rollup")
        done(self.url, self.folder, "verify", "--all")
        product = Product(self.url)
        assert differences(product, given, given.records) == []
        product.close()


def test_forgetting_is_killed(place: Place, tmp_path: Path) -> None:
    hits = 0
    for seed in range(1, FAULTS + 1):
        rng = Random(seed)
        some, url = world(seed, size=24), place.new()
        killer = Killer(url, tmp_path, rng)
        for kind, rows in portions(some.records, rng):
            killer.take(kind, rows)
            if rng.random() < 0.3:
                done(url, tmp_path, "rollup")
        done(url, tmp_path, "rollup")
        if seed % 2:
            # Some of what is forgotten is in kept facts then.
            done(url, tmp_path, "purge")
        gone: list[Person] = []
        for person in some_persons(some, rng):
            gone.append(person)
            shop_id, kind, text = person
            words = ("forget", "--shop", shop_id, f"--{kind}", text)
            killer.hit(*words)
            done(url, tmp_path, *words)
        killer.check(without(some, gone))
        place.drop(url)
        hits += killer.hits
        if hits >= FAULTS:
            return


def test_undoing_is_killed(place: Place, tmp_path: Path) -> None:
    """The next rollup goes on with it, or the same command."""
    hits = 0
    for seed in range(1, FAULTS + 1):
        rng = Random(seed)
        some, url = world(seed, size=24), place.new()
        killer = Killer(url, tmp_path, rng)
        standing: dict[int, Portion] = {}
        files = portions(some.records, rng)
        # Some rows come twice.
        files += [(kind, rng.sample(rows, len(rows) // 2)) for kind, rows in files[1:]]
        for number, (kind, rows) in enumerate(files, 1):
            killer.take(kind, rows)
            standing[number] = (kind, rows)
            if rng.random() < 0.3:
                done(url, tmp_path, "rollup")
        undoable = [
            number for number, (kind, _) in standing.items() if kind in ("events", "orders")
        ]
        for number in rng.sample(undoable, min(len(undoable), 4)):
            del standing[number]
            words = ("imports", "undo", str(number))
            killer.hit(*words)
            if rng.random() < 0.5:
                done(url, tmp_path, "rollup")
            done(url, tmp_path, *words)
        records: dict[str, list[Row]] = {kind: [] for kind in some.records}
        for kind, rows in standing.values():
            records[kind] += rows
        killer.check(replace(some, records=records))
        place.drop(url)
        hits += killer.hits
        if hits >= FAULTS:
            return
