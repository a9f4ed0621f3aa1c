"""Import the files in the landing folder, each until one import of it has ended. A long file is imported in
turns, a few seconds each: files of others are imported in between.

A file is opened, imported where it lies, and moved to `done/` or `failed/` with a report. A process that
dies leaves it where it was, and the next one imports it again: that changes nothing where it was imported
already. The record of the run says which file it imports, so that a file with which processes die is
known: nobody but the service writes there.
"""

import os
import time
from collections import Counter
from collections.abc import Generator
from contextlib import closing
from pathlib import Path
from typing import Any, Final

from jobs.importing.files.chunk import UnreadableFile
from jobs.importing.files.detect import ImportOptions
from jobs.importing.formats import FORMATS
from jobs.importing.import_file import import_steps
from jobs.importing.kinds import KINDS
from jobs.importing.kinds.base import Counts
from jobs.importing.shops import ShopDeleted
from jobs.landing.folder import LandedFile, survey
from jobs.landing.held_file import FileGone, FileLeftAlone, HeldFile, hold
from jobs.landing.turns import files_in_turns
from jobs.run.console import say
from jobs.run.errors import blamed
from jobs.run.job_run import JobRun, phase
from warehouse.connections.errors import is_outage
from warehouse.domain.landing_names import DONE, FAILED, decimal_of, is_dropped, pulled_stamp
from warehouse.domain.time import iso_millis, now_micros
from warehouse.intake import dropped_files, imports
from warehouse.operations import job_runs

# Outcomes of a file besides DONE and FAILED.
LEFT: Final = "left"
GONE: Final = "gone"
LATER: Final = "later"
# A file that ends every process (by using all memory, say) must not keep the others waiting for ever.
MAX_TRIES: Final = 20
_GIVEN_UP: Final = (
    f"{MAX_TRIES} processes ended while they imported this file; import it by hand to see why"
)
_OF_NO_SHOP: Final = "it was dropped on a page, and lies in no folder of its shop; drop it again"


# A file is imported for so long, to the end of a chunk, before it is the turn of others.
_TURN_SECONDS: Final = 5.0

# Imports a file, a chunk at each step, and returns the outcome.
_Landing = Generator[None, None, str]


def land(run: JobRun, root: Path) -> Counter[str]:
    """Import all complete files; returns how many could not be read (FAILED) or were left where they
    are (LEFT), because they cannot be moved."""
    tries = job_runs.ended_at(run.connection, run.record)
    outcomes: Counter[str] = Counter()
    begun: dict[LandedFile, _Landing] = {}
    unfinished: dict[LandedFile, float] = {}
    try:
        for file in files_in_turns(root, unfinished):
            run.raise_if_stopped()
            job_runs.work_at(run.connection, run.record, file.claim)
            landing = begun.setdefault(file, _land(run, root, file, tries[file.claim]))
            unfinished.pop(file, None)
            until = time.monotonic() + _TURN_SECONDS
            phase("import")
            try:
                next(landing)
                while time.monotonic() < until:
                    next(landing)
                unfinished[file] = time.monotonic()
            except StopIteration as end:
                outcomes[str(end.value)] += 1
                del begun[file]
    finally:
        for landing in begun.values():
            landing.close()
    job_runs.work_at(run.connection, run.record, "")
    for line in survey(root).left_alone:
        say(f"left alone: {line}")
    return outcomes


def _land(run: JobRun, root: Path, file: LandedFile, tries: int) -> _Landing:
    """Import a file and move it; returns its outcome."""
    try:
        with hold(root, file) as held:
            outcome, report = yield from _imported(run, held, tries)
            if is_dropped(file.path.name):
                dropped_files.landed_was_imported(
                    run.connection, file.path.name, report["error"] or ""
                )
            phase("move")
            held.move(outcome, report)
    except FileGone as reason:
        say(f"{file.path}: {reason}")
        return GONE
    except FileLeftAlone as reason:
        say(f"{file.path}: left where it is: {reason}")
        return LEFT
    except ShopDeleted as reason:
        # A file of the collector has rows of all shops: the next look imports the others'.
        say(f"{file.path}: {reason}")
        return LATER
    if tries:
        job_runs.forget_work(run.connection, run.record, file.claim)
    return outcome


def _imported(
    run: JobRun, held: HeldFile, tries: int
) -> Generator[None, None, tuple[str, dict[str, Any]]]:
    """Import a file; returns the folder to which it belongs then, and its report."""
    file, place = held.path, held.landed.place
    # Bytes that are not UTF-8 stay visible; no database would take them.
    name = str(file).encode(errors="surrogateescape").decode(errors="backslashreplace")
    kind, format = KINDS[place.kind], FORMATS.get(place.format)
    shop_id, came_at = place.shop_id if format else "", held.landed.landed_at
    decimal = decimal_of(file.name)
    options = ImportOptions(format, shop_id or None, decimal=decimal, came_at=came_at)
    began, counts, error = now_micros(), Counts(), ""
    # The files of one pull say together what it fetched.
    pulled_at = pulled_stamp(file.name)
    together = imports.with_stamp(run.connection, kind.name, pulled_at) if pulled_at else []
    try:
        if tries >= MAX_TRIES:
            raise UnreadableFile(_GIVEN_UP)
        if is_dropped(file.name) and not place.shop_id:
            # Its rows could be of any shop.
            raise UnreadableFile(_OF_NO_SHOP)
        steps = import_steps(
            *(run.connection, kind, file, counts),
            options=options,
            name=name,
            run_id=run.record.run_id,
            only=place.shop_id,
            together=together,
        )
        with closing(steps):
            before = 0
            for _ in steps:
                run.record.batches += 1
                run.record.rows += counts.read - before
                before = counts.read
                run.raise_if_stopped()
                yield
        counts.add_more(kind.finish(run.connection, together))
    except ShopDeleted:
        raise
    except UnreadableFile as reason:
        error = str(reason).replace(os.fspath(file), str(file)).removeprefix(f"{file}: ")
    except Exception as reason:
        if is_outage(reason):
            raise
        run.connection.rollback()
        error = blamed(reason)
    tally = "  ".join(f"{what} {number}" for what, number in counts.report().items())
    say(f"{name}: {error or tally}")
    return FAILED if error else DONE, {
        "file": name,
        "kind": kind.name,
        "counts": counts.report(),
        # Not their texts, which are purged in time.
        "rejects": [{"line": line, "reason": reason} for _, line, reason in counts.rejects],
        "error": error or None,
        "began_at": iso_millis(began),
        "ended_at": iso_millis(now_micros()),
    }
