"""`python -m tests.system.soak --minutes 15`: everything at once, for a while, with kills.

Two schedulers over one landing folder, imports beside them, the API, and readers. Old raw events go. Some
imports are undone, and the person of some is forgotten, now and then by a command that is killed. A scheduler
or one of its children is killed now and then, or told to end, and started again. In the end all files must be
imported and moved, `verify --all` must find nothing, and the answers must be those of a warehouse that
the other records were imported into undisturbed. Prints what was done, and how much memory the API and
the schedulers had at the beginning and in the end.
"""

import json
import os
import random
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from collections import Counter
from collections.abc import Callable
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.parse import urlencode

import click
import psutil

from jobs.importing.kinds import KINDS
from jobs.landing.folder import REPORT, survey
from jobs.run.errors import ALREADY_RUNNING
from tests.support import postgres
from tests.support.answers import answers, differing, questions_about
from tests.support.product import SCOPES, Product
from tests.support.strategies import Portion, portions
from tests.support.worlds import World, world
from warehouse.domain.landing_names import FAILED

MINUTE = 60
# Kinds whose rows may come again, and in any order.
REPEATED = ("events", "orders")
PORT = 8917


class Soak:
    """The processes, and what they did."""

    def __init__(self, url: str, folder: Path, given: World, minutes: float) -> None:
        self.url, self.landing, self.given = url, folder / "landing", given
        self.output = folder / "output"
        self.rng = random.Random(given.seed)
        self.done: Counter[str] = Counter()
        self.wrong: list[str] = []
        self.unfinished: list[tuple[str, ...]] = []
        self.memory: dict[str, list[float]] = {"API": [], "schedulers": []}
        self.schedulers: list[subprocess.Popen[bytes]] = []
        self.begun, self.until = time.monotonic(), time.monotonic() + minutes * MINUTE
        self.settings = {
            "WAREHOUSE_URL": url,
            "IMPORT_DIR": str(self.landing),
            "LANDING_POLL_SECONDS": "1",
            "REFRESH_MINUTES": "1",
            "NIGHTLY_CRON": "*/3 * * * *",
            "VERIFY_CRON": "*/2 * * * *",
            "PURGE_CRON": "*/4 * * * *",
            "RAW_DAYS": "20",
            "WORKERS": "1",
            "PORT": str(PORT),
        }

    def start(self, *words: str) -> "subprocess.Popen[bytes]":
        with self.output.open("ab") as output:
            return subprocess.Popen(
                [sys.executable, "-m", *words],
                env={**os.environ, **self.settings},
                stdout=output,
                stderr=output,
            )

    def run(self, *words: str) -> None:
        self.done[words[1]] += 1
        self._expect_success(words, self.start(*words).wait())

    def _expect_success(self, words: tuple[str, ...], status: int) -> None:
        if status:
            # Others have printed there, too.
            printed = self.output.read_text()[-2000:]
            self.wrong.append(f"{' '.join(words)}: exit status {status}: {printed}")

    def soak(self, files: list[Portion]) -> None:
        """Everything at once until the time is over."""
        for kind, rows in files[:2]:
            self.run("jobs", "import", kind, str(self._written(0, kind, rows)))
        self.run("jobs", "rollup")
        api = self.start("web", "serve")
        self._wait_until(self._api_answers)
        self.schedulers = [self.start("jobs", "scheduler") for _ in range(2)]
        threads = [
            threading.Thread(target=target, args=args)
            for target, args in (
                (self._feed, (files[2:],)),
                (self._read, ()),
                (self._read, ()),
                (self._kill, ()),
                (self._command, ()),
                (self._take_back, ()),
                (self._sample, (api,)),
            )
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self._wait_until(lambda: not survey(self.landing).files)
        for process in (*self.schedulers, api):
            process.terminate()
            if process.wait() not in (0, -signal.SIGTERM, 128 + signal.SIGTERM):
                self.wrong.append(f"{process.args!r}: exit status {process.returncode}")
        # They may not have begun.
        for words in (*self.unfinished, ("rollup",), ("verify", "--all")):
            self.run("jobs", *words)

    def check(self) -> None:
        """Conditions that must hold in the end."""
        for path in self.landing.glob(f"*/{FAILED}/*"):
            self.wrong.append(f"{path} was not imported")
        for path in self.landing.glob("*/done/*"):
            self.done["files landed"] += not path.name.endswith(REPORT)
        if "Traceback" in (text := self.output.read_text()):
            self.wrong.append(text[text.index("Traceback") :][:3000])
        calm = Product(f"sqlite:///{self.output.with_name('calm.db')}")
        for kind in KINDS:
            calm.load(kind, self.given.records[kind])
        calm.rollup()
        ours, theirs = (answers(one, self.given) for one in (Product(self.url), calm))
        self.done["answers compared"] = len(theirs)
        self.wrong += differing(ours, theirs)

    def _written(self, number: int | str, kind: str, rows: list[dict[str, Any]]) -> Path:
        file = self.output.with_name(f"{number}-{kind}.ndjson")
        file.write_text("".join(json.dumps(row) + "\n" for row in rows))
        return file

    def _while(self, pause: Callable[[], float], work: Callable[[], None]) -> None:
        while time.monotonic() < self.until:
            work()
            time.sleep(pause())

    def _feed(self, files: list[Portion]) -> None:
        """All files, evenly over the time. The last row of most kinds counts: those all go through the
        landing folder, which keeps their order."""
        self._wait_until(lambda: (self.landing / "events").exists())
        pause = (self.until - self.begun) / len(files)
        for number, (kind, rows) in enumerate(files):
            file = self._written(number, kind, rows)
            if number % 4 == 0 and kind in REPEATED:
                self.run("jobs", "import", kind, str(file))
            else:
                # As a program writes it that takes its time: in the end it has its name.
                file.rename(self.landing / kind / f"{time.monotonic_ns()}.ndjson")
            time.sleep(pause)

    def _command(self) -> None:
        """A person at the terminal."""
        commands = (["rollup"], ["verify", "--sample", "3"], ["rebuild"], ["rollup"])
        self._while(
            lambda: self.rng.uniform(10, 40), lambda: self.run("jobs", *self.rng.choice(commands))
        )

    def _take_back(self) -> None:
        """Imports of which nothing must be left."""

        def take_back() -> None:
            name = f"gone-{time.monotonic_ns()}"
            kind, forgets = self.rng.choice(REPEATED), self.rng.random() < 0.5
            key = f"{kind.removesuffix('s')}_id"
            own = {"visitor_id": name}
            if kind == "events" and not forgets:
                # RAW_DAYS takes older ones, whose import cannot be undone then.
                own["occurred_at"] = self.given.now.isoformat()
            rows = [row | own | {key: f"{name}-{row[key]}"} for row in self.given.records[kind]]
            file = self._written(name, kind, rows)
            self.run("jobs", "import", kind, str(file))
            time.sleep(self.rng.uniform(0, 20))
            if forgets:
                for shop in self.given.casts:
                    self._now_and_then_killed("forget", "--shop", shop, "--visitor", name)
            else:
                listed = (
                    json.loads(line) for line in self._printed("jobs", "imports", "list", "--json")
                )
                (number,) = (one["import_id"] for one in listed if file.name in one["file"])
                self._now_and_then_killed("imports", "undo", str(number))

        self._while(lambda: self.rng.uniform(1, 10), take_back)

    def _now_and_then_killed(self, *words: str) -> None:
        """A command that a refresh may end, or do beside it, if it was killed."""
        process = self.start("jobs", *words)
        self.done[words[0]] += 1
        with suppress(subprocess.TimeoutExpired):
            process.wait(self.rng.choice((self.rng.uniform(1, 5), 10 * MINUTE)))
        process.kill()
        status = process.wait()
        self.done[f"kills of {words[0]}"] += status == -signal.SIGKILL
        if status in (-signal.SIGKILL, ALREADY_RUNNING):
            self.unfinished.append(words)
        else:
            self._expect_success(words, status)

    def _printed(self, *words: str) -> list[str]:
        return subprocess.check_output(
            [sys.executable, "-m", *words], env={**os.environ, **self.settings}, text=True
        ).splitlines()

    def _read(self) -> None:
        keys, questions = {}, list(questions_about(self.given))
        for shop in self.given.casts:
            words = ("web", "keys", "mint", "--shop", shop, "--scopes", SCOPES)
            *_, keys[shop] = self._printed(*words)

        def read() -> None:
            shop, path, query = self.rng.choice(questions)
            address = f"http://127.0.0.1:{PORT}{path}?{urlencode(query)}"
            request = urllib.request.Request(
                address, headers={"Authorization": f"Bearer {keys[shop]}"}
            )
            try:
                with urllib.request.urlopen(request) as answer:
                    answer.read()
                self.done["reads"] += 1
            except HTTPError as error:
                self.wrong.append(f"{address}: {error}: {error.read()[:300]!r}")

        self._while(lambda: 0.1, read)

    def _kill(self) -> None:
        def kill() -> None:
            number = self.rng.randrange(2)
            scheduler = self.schedulers[number]
            with suppress(psutil.NoSuchProcess):
                children = psutil.Process(scheduler.pid).children(recursive=True)
                if children and self.rng.random() < 0.6:
                    self.rng.choice(children).kill()
                    self.done["kills of a job"] += 1
                    return
            if self.rng.random() < 0.5:
                scheduler.kill()
                self.done["kills of a scheduler"] += 1
            else:
                scheduler.terminate()
                self.done["schedulers told to end"] += 1
            scheduler.wait()
            self.schedulers[number] = self.start("jobs", "scheduler")

        time.sleep(5)
        self._while(lambda: self.rng.uniform(2, 15), kill)

    def _sample(self, api: "subprocess.Popen[bytes]") -> None:
        def sample() -> None:
            with suppress(psutil.NoSuchProcess):
                whole = psutil.Process(api.pid)
                parts = [whole, *whole.children(recursive=True)]
                self.memory["API"].append(sum(map(_megabytes, parts)))
            for scheduler in self.schedulers:
                with suppress(psutil.NoSuchProcess):
                    process = psutil.Process(scheduler.pid)
                    # One that has only just begun says nothing.
                    if time.time() - process.create_time() > 5:
                        self.memory["schedulers"].append(_megabytes(process))

        time.sleep(10)
        self._while(lambda: 2, sample)

    def _api_answers(self) -> bool:
        try:
            socket.create_connection(("127.0.0.1", PORT), timeout=10).close()
        except ConnectionRefusedError:
            return False
        return True

    def _wait_until(self, true: Callable[[], bool]) -> None:
        deadline = time.monotonic() + 10 * MINUTE
        while not true():
            if time.monotonic() > deadline:
                raise TimeoutError
            time.sleep(0.5)


def _megabytes(process: psutil.Process) -> float:
    return float(process.memory_info().rss) / 1e6


def tell(soak: Soak, name: str) -> None:
    """Print what was done, the memory over time, and what is wrong."""
    tally = ", ".join(f"{what} {number}" for what, number in sorted(soak.done.items()))
    click.echo(f"{name}, {time.monotonic() - soak.begun:.0f} s: {tally}")
    for what, all_of_it in soak.memory.items():
        quarter = max(len(all_of_it) // 4, 1)
        parts = [all_of_it[n : n + quarter] for n in range(0, quarter * 4, quarter)]
        medians = ", ".join(f"{statistics.median(part):.0f}" for part in parts if part)
        click.echo(f"  {what}: MB by quarter of the time {medians}; at most {max(all_of_it):.0f}")
    click.echo(f"  wrong: {len(soak.wrong)}")
    for one in soak.wrong[:20]:
        click.echo(f"    {one}")


@click.command()
@click.option("--minutes", default=15.0)
@click.option("--db", type=click.Choice(["sqlite", "postgresql"]), default="sqlite")
@click.option("--seed", default=1)
def main(minutes: float, db: str, seed: int) -> None:
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        url = f"sqlite:///{folder / 'warehouse.db'}"
        if db == "postgresql":
            server = postgres.server_url(f"soak{os.getpid()}")
            url = stack.enter_context(postgres.new_database(server))
        given = world(seed, 150)
        rng = random.Random(seed)
        files = portions(given.records, rng)[:2]
        files += portions(given.records, rng)[2:]
        for _ in range(5):
            files += [one for one in portions(given.records, rng) if one[0] in REPEATED]
        soak = Soak(url, folder, given, minutes)
        soak.soak(files)
        soak.check()
        tell(soak, db)
    sys.exit(bool(soak.wrong))


if __name__ == "__main__":
    main()
