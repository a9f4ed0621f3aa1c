"""Import what has landed, file by file."""

from pathlib import Path
from typing import Any, Final

from jobs.clock import now_micros
from jobs.ending import Stopped
from jobs.importing.formats import FORMATS
from jobs.importing.kind import Counts
from jobs.importing.kinds import KINDS
from jobs.importing.opening import Given
from jobs.importing.portion import Unreadable
from jobs.importing.run import import_file
from jobs.landing import claims
from jobs.landing.claims import Claim
from jobs.landing.folder import DONE, FAILED, settled
from jobs.running import Run
from jobs.stopwatch import phase
from jobs.telling import say
from warehouse.bulk import Bulk
from warehouse.days import iso_millis
from warehouse.outages import is_outage

# A file that ends process after process (out of memory, say) is given up, lest the others wait for ever.
MOST_TRIES: Final = 20
_GIVEN_UP: Final = f"{MOST_TRIES} processes ended with this file in hand"

# Rejects that a report names; `rejects` lists all.
_FIRST: Final = 20


def land(run: Run, root: Path) -> int:
    """Import all that is there and complete; how many files could not be read.

    Whatever ends the process, the next to come here goes on with what it had in hand.
    """
    failed = sum(_land(run, left) for left in claims.take_over(root))
    while ready := settled(root):
        for found in ready:
            run.go_on()
            claim = claims.claim(found)
            if claim is not None:
                failed += _land(run, claim)
    return failed


def _land(run: Run, claim: Claim) -> bool:
    """Import the file in hand and move it; whether it failed."""
    try:
        if claim.report.exists():
            claims.move(claim)
        elif claim.file is None:
            claim.folder.rmdir()
        else:
            outcome, report = _imported(run, claim, claim.file)
            phase("move")
            claims.finish(claim, outcome, report)
            return outcome == FAILED
    except (claims.TakenOver, FileNotFoundError):
        say(f"{claim.folder}: taken over by another process")
    return False


def _imported(run: Run, claim: Claim, file: Path) -> tuple[str, dict[str, Any]]:
    """Import a file; where it belongs then, and what there is to report."""
    name, place = str(claim.landing / file.name), claim.place
    kind = KINDS[place.kind]
    given = Given(FORMATS.get(place.format), place.shop_id or None)
    began, counts, error = now_micros(), Counts(), ""
    batches, rows = run.record.batches, run.record.rows

    def written(_position: int) -> None:
        run.record.batches += 1
        run.record.rows = rows + counts.read
        run.go_on()

    phase("import")
    try:
        before = None
        # Whoever wrote it may have been slow, and not done.
        if claim.tries > MOST_TRIES:
            raise Unreadable(_GIVEN_UP)
        while before != (before := _state(file)):
            counts, run.record.batches = Counts(), batches
            import_file(run.bulk, kind, file, written, counts, given=given, name=name)
    except Unreadable as reason:
        error = str(reason).replace(str(file), name).removeprefix(f"{name}: ")
    except Exception as reason:
        if is_outage(reason) or isinstance(reason, Stopped):
            raise
        run.bulk.rollback()
        error = " ".join(f"{type(reason).__name__}: {reason}".split())
    tally = "  ".join(f"{what} {number}" for what, number in counts.report().items())
    say(f"{name}: {error or tally}")
    return FAILED if error else DONE, {
        "file": name,
        "kind": kind.name,
        "counts": counts.report(),
        "rejects": _first_rejects(run.bulk, kind.name, name) if counts.rejected else [],
        "error": error or None,
        "began_at": iso_millis(began),
        "ended_at": iso_millis(now_micros()),
    }


def _state(file: Path) -> tuple[int, int]:
    status = file.stat()
    return status.st_size, status.st_mtime_ns


def _first_rejects(bulk: Bulk, kind: str, name: str) -> list[dict[str, Any]]:
    """Line and reason of the first rejects; not their text, which is to be purged in time."""
    rows: list[dict[str, Any]] = bulk.table(
        "SELECT line, reason FROM reject WHERE kind = $1 AND file = $2 "
        f"ORDER BY line, reject_id LIMIT {_FIRST}",
        kind,
        name,
    ).to_pylist()
    bulk.commit()
    return rows
