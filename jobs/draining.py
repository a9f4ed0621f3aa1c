"""The drain: portions of what waits are taken in, in turns, until nothing is left that can be.

A batch that fails is found by halving its portion, and is left out; the others go in. What is no
fault of a batch (the database's own trouble, a lost lease) is never blamed on it.
"""

import gc
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Final

import pyarrow as pa

from jobs import pipeline
from jobs.ahead import without_collection
from jobs.clock import now_micros
from jobs.pipeline import Reading
from jobs.portions import portions
from jobs.read_ahead import READERS, ReadAhead
from jobs.running import Run
from jobs.stopwatch import phase
from jobs.telling import say
from warehouse import edition_leases, editions, failures, queue, settings, tables
from warehouse.days import NEVER
from warehouse.edition_leases import Claim
from warehouse.editions import BUILDING, Edition
from warehouse.outages import is_outage
from warehouse.owners import me
from warehouse.queue import Batch

# Between two looks at whether a lease has become free.
PAUSE_SECONDS: Final = 0.5
# Batches of one edition that may fail in one run before the rest of it is left for the next: where
# all fail, each costs a try of its own.
_MOST_FAILURES: Final = 3
# Transactions in a row that may be undone because of another's, before that is an outage.
_MOST_COLLISIONS: Final = 10


class Drain:
    """One drain. `plan` gives the editions that are to be whole; it is asked before every portion,
    so that shops which come meanwhile need not wait for the backlog of others.

    A drain that is `due` does what a refresh has to: it leaves what failed until its next try is
    due, and what another process has in hand to that one.
    """

    def __init__(self, run: Run, plan: Callable[[], list[Edition]], *, due: bool = False) -> None:
        self._run, self._bulk, self._plan, self._due = run, run.bulk, plan, due
        self._held: dict[int, Edition] = {}
        self._failed: Counter[int] = Counter()
        self._collisions = 0
        self._most_tries: int = settings.BATCH_TRIES.get()

    def drain(self) -> None:
        """Take in all that waits, and publish the editions that thereby become whole.

        Raises what is no batch's fault; those that failed are counted in the run's error.
        """
        self._bulk.look_up_by_index()
        # Arrow's own pool gives memory back at once, and the system clears every page of it anew.
        pa.set_memory_pool(pa.system_memory_pool())
        try:
            with without_collection(), ReadAhead(self._bulk) as self._ahead:
                while self._step():
                    self._run.go_on()
        finally:
            # Where the connection is lost, the lease goes the way of the process.
            with suppress(Exception):
                self._release(set(self._held))
        if self._failed:
            number = sum(self._failed.values())
            self._run.record.error = (
                f"{number} {'batch' if number == 1 else 'batches'} could not be taken in; "
                "`python -m jobs status` lists them"
            )

    def _step(self) -> bool:
        """One portion; whether there is more to do."""
        phase("plan")
        plan = {one.edition: one for one in self._plan()}
        able = [number for number in plan if self._failed[number] < _MOST_FAILURES]
        ready = self._pending(able)
        wanted = {batch["edition"] for batch in ready} | {
            one.edition for one in plan.values() if one.state == BUILDING
        }
        finished = set(self._held) - wanted
        if finished:
            queue.settle(self._bulk, sorted(finished))
            self._release(finished)
        claim = [plan[number] for number in sorted(wanted - set(self._held))]
        if claim:
            claimed = edition_leases.claim(self._bulk, claim, now_micros()).editions
            self._held |= {one.edition: one for one in claimed}
            numbers = [one.edition for one in claimed]
            self._bulk.absent.begin(queue.untouched(self._bulk, numbers))
            # Who had them before may have taken in what was pending then.
            ready = self._pending([number for number in able if number in self._held])
        try:
            ready = [batch for batch in ready if batch["edition"] in self._held]
            these = portions(ready, self._ahead.begun, READERS)
            if these:
                self._take_in(these[0], self._ahead.reading(these, list(self._held.values())))
                if len(these) > 1:
                    self._bulk.analyze_unknown([table.name for table in tables.FACTS])
                # What has cycles all the same would otherwise stay until the end.
                gc.collect()
                return True
            if self._publish():
                return True
        except edition_leases.LeaseLost:
            self._release(set(self._held))
            return True
        elsewhere = sorted(wanted - set(self._held))
        if not elsewhere or self._due:
            return False
        holder = edition_leases.holder(self._bulk, elsewhere[0])
        self._bulk.commit()
        self._run.waiting(holder)
        time.sleep(PAUSE_SECONDS)
        return True

    def _pending(self, numbers: list[int]) -> list[Batch]:
        due = now_micros() if self._due else None
        ready = queue.pending(self._bulk, numbers, self._run.begun, due)
        self._bulk.commit()
        return ready

    def _claim(self) -> Claim:
        return Claim(me(), tuple(self._held.values()))

    def _release(self, numbers: set[int]) -> None:
        gone = [self._held.pop(number) for number in sorted(numbers)]
        self._bulk.absent.end(numbers)
        if gone:
            edition_leases.release(self._bulk, Claim(me(), tuple(gone)))

    def _take_in(self, batches: list[Batch], read: Callable[[], Reading]) -> None:
        """Take in those of the batches that can be; `read` gives what they say.

        Raises LeaseLost, and what is no batch's fault.
        """
        try:
            phase("read")
            pipeline.take_in(self._bulk, self._claim(), read())
        except edition_leases.LeaseLost:
            raise
        except Exception as error:
            if is_outage(error) and not self._is_collision(error):
                raise
            self._bulk.rollback()
            if is_outage(error):
                return
            if len(batches) == 1:
                self._note(batches[0], error)
            else:
                half = len(batches) // 2
                for some in (batches[:half], batches[half:]):
                    some = [b for b in some if self._failed[b["edition"]] < _MOST_FAILURES]
                    if some:
                        self._run.go_on()
                        held = list(self._held.values())
                        self._take_in(some, partial(pipeline.read, self._bulk, held, some))
        else:
            self._collisions = 0
            self._run.took(batches)

    def _is_collision(self, error: Exception) -> bool:
        """Whether two transactions were in each other's way: the same again will do, if not for ever."""
        self._collisions += 1
        collided = str(getattr(error, "sqlstate", None) or "").startswith("40")
        return self._collisions <= _MOST_COLLISIONS and (
            collided or "database is locked" in str(error)
        )

    def _note(self, batch: Batch, error: Exception) -> None:
        words = " ".join(f"{type(error).__name__}: {error}".split())
        aside = failures.note(self._bulk, batch, words, now_micros(), self._most_tries)
        self._failed[batch["edition"]] += 1
        shop = self._held[batch["edition"]].shop_id
        say(
            f"batch {batch['batch_id']} of {shop} ({batch['rows']} rows) "
            f"{'is SET ASIDE after its last try' if aside else 'failed and will be tried again'}: "
            f"{words}"
        )

    def _publish(self) -> bool:
        """Let answers read what has become whole; whether anything has."""
        building = [number for number, one in self._held.items() if one.state == BUILDING]
        if not building:
            return False
        phase("publish")
        whole = set(building) - queue.open_among(self._bulk, building, NEVER)
        self._bulk.commit()
        if not whole:
            return False
        edition_leases.fence(self._bulk, self._claim(), sorted(whole), now_micros())
        finished = [self._held[number] for number in sorted(whole)]
        published = editions.publish(self._bulk, finished, now_micros())
        self._release({one.edition for one in published})
        return bool(published)
