"""A random world taken in while its commands are hit, and the answers compared."""

import json
import random
import shutil
import sys
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from jobs.landing.folder import REPORT, survey
from jobs.run.errors import ALREADY_RUNNING
from tests.support.answers import answers, days_of, differences, differing
from tests.support.faults.places import Place, filled
from tests.support.faults.victim import Fault, Outcome, Victim, start
from tests.support.product import Product
from tests.support.strategies import Portion, portions
from tests.support.worlds import World, world
from warehouse.domain.landing_names import DONE

# Until a command has run undisturbed, it is taken to turn to the database so often.
_CALLS = 60
_WITHSTAND = {
    "kill": (-9,),
    "term": (0, 143, -15),
    "cut": (0, 1),
    "restart": (0, 1),
    "full": (0, 1),
}
"""The exit statuses with which a command may end that was hit (0: it had ended before;
-15: it was not yet, or no longer, in a run)."""


@dataclass
class Tally:
    """The steps that were done, and the findings."""

    commands: Counter[str] = field(default_factory=Counter)
    faults: Counter[str] = field(default_factory=Counter)
    at_once: int = 0
    compared: int = 0
    found: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        return (
            f"{sum(self.faults.values())} faults ({_shown(self.faults)}) "
            f"in {sum(self.commands.values())} commands ({_shown(self.commands)}), "
            f"{self.at_once} at once with another; "
            f"all answers compared {self.compared} times, {len(self.found)} differences"
        )


def _shown(counts: Counter[str]) -> str:
    return ", ".join(f"{name} {number}" for name, number in sorted(counts.items()))


class Story:
    """One world, one warehouse that is hit, and one that is not."""

    def __init__(self, place: Place, folder: Path, seed: int, tally: Tally, size: int = 24) -> None:
        self.place, self.folder, self.tally = place, folder, tally
        self.rng = random.Random(seed)
        self.world: World = world(seed, size)
        self.url = place.new()
        self.calm = Product(f"sqlite:///{folder / f'calm-{seed}.db'}")
        self.calls: Counter[str] = Counter()
        self.enough = sys.maxsize
        self.name = f"seed {seed} on {self.url.partition(':')[0]}"
        self._product = Product(self.url)

    def tell(self, enough: int = sys.maxsize) -> None:
        """From the first command to the last comparison; undisturbed once there were enough faults."""
        self.enough = enough
        files = portions(self.world.records, self.rng)
        self._calmly(files)
        first, last = (day.isoformat() for day in days_of(self.world))
        backfill = ["backfill", "--from", first, "--to", last]
        self.step(["purge"])
        for number, (kind, rows) in enumerate(files):
            file = self._file(number, kind, rows)
            if self.rng.random() < 0.3:
                self._land(kind, file)
            else:
                self.step(["import", kind, str(file)])
            if number > 1 and self.rng.random() < 0.4:
                self.step(
                    self.rng.choice([["rollup"], ["rollup"], ["rollup"], backfill, ["purge"]])
                )
        self.step(["rollup"])
        self.compare("after the last rollup")
        for args in (["verify", "--all"], backfill, ["rebuild"], ["verify", "--all"]):
            if self._is_enough():
                break
            self.step(args)
            self.compare(f"after {args[0]}")
        self.step(["rollup"])
        self.compare("in the end")
        self._expect_tidy()
        self._product.close()
        self.calm.close()
        self.place.drop(self.url)

    def _is_enough(self) -> bool:
        return sum(self.tally.faults.values()) >= self.enough

    def step(self, args: list[str]) -> None:
        """A command, hit some times; then undisturbed, sometimes beside another."""
        for _ in range(self.rng.choice((1, 2, 3, 4, 5))):
            if self._is_enough() or self._hit(args).status == 0:
                break  # It had ended before: nothing is left to be done.
        beside = None
        if self.rng.random() < 0.25 and args[0] != "purge":
            other = self.rng.choice([args, ["rollup"], ["verify", "--sample", "2"]])
            beside = start(self.url, other, self.folder, Fault())
            self.tally.at_once += 1
        self._expect_both(start(self.url, args, self.folder, Fault()), beside)

    def _land(self, kind: str, file: Path) -> None:
        """A file through the landing folder, which is empty then."""
        landing = self.folder / "landing"
        (landing / kind).mkdir(parents=True, exist_ok=True)
        shutil.copy(file, landing / kind)
        self.step(["landing"])
        if left := [found.path for found in survey(landing).files]:
            self.tally.found.append(f"{self.name}: {left} are left")
        done = sorted(path.name for path in (landing / kind / DONE).iterdir())
        if done != [file.name, f"{file.name}{REPORT}"]:
            self.tally.found.append(f"{self.name}: {done} instead of {file.name}")
        shutil.rmtree(landing)

    def _hit(self, args: list[str]) -> Outcome:
        """A command that is hit, sometimes beside one that is not."""
        kind = self.rng.choice(self.place.kinds)
        fault = self.place.fault(self.rng, kind, self.url, max(self.calls[args[0]], _CALLS))
        beside: Victim | None = None
        if kind in ("kill", "term") and self.rng.random() < 0.2 and args[0] != "purge":
            beside = start(self.url, self.rng.choice([args, ["rollup"]]), self.folder, Fault())
            self.tally.at_once += 1
        full = kind == "full" and not fault.room
        with filled(self.place.disk if full else None, fault.at):
            outcome = start(self.url, args, self.folder, Fault() if full else fault).wait()
        if outcome.status not in (0, ALREADY_RUNNING):
            self.tally.faults[kind] += 1
        self._expect(
            outcome, fault, (0, *_WITHSTAND[kind], *[ALREADY_RUNNING] * (beside is not None))
        )
        if beside is not None:
            self._expect(beside.wait(), None, (0, ALREADY_RUNNING))
        return outcome

    def compare(self, when: str) -> None:
        """All answers with those of the warehouse that nothing was done to."""
        self.tally.compared += 1
        if found := self._differing():
            # Once more, should it have been a shop's midnight.
            self.expected = answers(self.calm, self.world)
            found = self._differing()
        self.tally.found += [f"{self.name} {when}: {one}" for one in found]

    def _differing(self) -> list[str]:
        return differing(answers(self._product, self.world), self.expected)

    def _calmly(self, files: list[Portion]) -> None:
        for number, (kind, rows) in enumerate(files):
            self._run_calmly(["import", kind, str(self._file(number, kind, rows))])
        for args in (["rollup"], ["rebuild"], ["verify", "--all"]):
            self._run_calmly(args)
        found = differences(self.calm, self.world, self.world.records)
        self.tally.found += [f"{self.name}, undisturbed: {one}" for one in found]
        self.expected = answers(self.calm, self.world)

    def _run_calmly(self, args: list[str]) -> None:
        outcome = start(self.calm.url, args, self.folder, Fault()).wait()
        self._expect(outcome, None, (0,))
        self.calls[args[0]] = max(self.calls[args[0]], outcome.calls)

    def _expect_both(self, one: Victim, other: Victim | None) -> None:
        """Both have done their work, unless the one has left its turn to the other."""
        outcomes = [victim.wait() for victim in (one, other) if victim is not None]
        for outcome in outcomes:
            self._expect(outcome, None, (0, ALREADY_RUNNING)[: len(outcomes)])
        if all(outcome.status == ALREADY_RUNNING for outcome in outcomes):
            self.tally.found.append(f"{self.name}: {outcomes[0].words} has left its turn to nobody")

    def _expect(self, outcome: Outcome, fault: Fault | None, statuses: tuple[int, ...]) -> None:
        self.tally.commands[outcome.words.split()[0]] += 1
        if outcome.status not in statuses or "Traceback" in outcome.printed:
            self.tally.found.append(
                f"{self.name}: {outcome.words}, {fault or 'undisturbed'}: "
                f"status {outcome.status}: {outcome.printed[-3000:]}"
            )

    def _expect_tidy(self) -> None:
        """Remains of faults are cleaned away: one edition a shop."""
        engine = sa.create_engine(self.url)
        with engine.connect() as connection:
            sql = "SELECT (SELECT COUNT(*) FROM edition) - (SELECT COUNT(*) FROM shop)"
            if left := connection.scalar(sa.text(sql)):
                self.tally.found.append(f"{self.name}: {left} editions too many are left")
        engine.dispose()

    def _file(self, number: int, kind: str, rows: list[dict[str, Any]]) -> Path:
        file = self.folder / f"{self.world.seed}-{number}-{kind}.ndjson"
        if not file.exists():
            file.write_text("".join(json.dumps(row) + "\n" for row in rows))
        return file
