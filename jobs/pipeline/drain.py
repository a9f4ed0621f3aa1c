"""The drain: groups of pending batches are applied until none is left that can be.

A batch that fails is found by halving its group, and is left out; the others are applied. A failure
that no batch caused (an outage of the database, a lost lease) is never counted against one.
"""

import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Final

import pyarrow as pa

from jobs.pipeline import apply_batch
from jobs.pipeline.apply_batch import BatchGroup
from jobs.pipeline.batching import next_claims, next_groups
from jobs.pipeline.prefetch import Prefetch
from jobs.run.clock import now_micros
from jobs.run.console import say
from jobs.run.job_run import JobRun
from jobs.run.phases import phase
from warehouse import settings, tables
from warehouse.connections.errors import is_collision, is_outage
from warehouse.editions import editions, failed_batches, leases, pending_batches
from warehouse.editions.editions import BUILDING, Edition
from warehouse.editions.leases import Claim
from warehouse.editions.pending_batches import EVERY_BATCH, Batch

# Between two checks whether another process has released a lease.
PAUSE_SECONDS: Final = 0.5
# Batches of one edition that may fail in one run. Then the rest of it is left for the next run: if
# every batch fails, each costs an attempt of its own.
_MAX_FAILURES: Final = 3
# Transactions in a row that may collide with those of others before that counts as an outage.
_MAX_COLLISIONS: Final = 10


class Drain:
    """One drain. `plan` returns the editions that must be up to date. It is called before every group,
    so that a shop that arrives meanwhile does not wait for the backlog of others.

    - `only_due`: a failed batch waits until its retry is due
    - `waits`: wait for the editions that another process holds; else they are that process's work
    - `between`: the first and the last batch to apply
    """

    def __init__(
        self,
        run: JobRun,
        plan: Callable[[], list[Edition]],
        *,
        only_due: bool = False,
        waits: bool = True,
        between: tuple[int, int] = EVERY_BATCH,
    ) -> None:
        self._run, self._connection, self._plan = run, run.connection, plan
        self._only_due, self._waits = only_due, waits
        self._between = between
        self._held: dict[int, Edition] = {}
        self._failures = run.failures
        self._collisions = 0
        # The editions that were left to the process that holds them.
        self.left: list[int] = []

    def drain(self) -> None:
        """Apply all pending batches, and publish the editions that become complete by it.

        Raises errors that no batch caused. Failed batches are counted in the run's error.
        """
        self._connection.prefer_index_lookups()
        # Arrow's own pool returns memory at once, and the system clears every page of it again.
        pa.set_memory_pool(pa.system_memory_pool())
        try:
            with Prefetch(self._connection) as self._prefetch:
                while self._step():
                    self._run.raise_if_stopped()
        finally:
            # If the connection is lost, the lease ends with the process.
            with suppress(Exception):
                self._release(set(self._held))

    def _step(self) -> bool:
        """Apply one group, or publish, or wait; whether there is more to do."""
        phase("plan")
        plan = {edition.edition: edition for edition in self._plan()}
        usable = [number for number in plan if self._failures[number] < _MAX_FAILURES]
        backlogs = pending_batches.backlogs(self._connection, usable, *self._ready())
        self._connection.commit()
        wanted = set(backlogs)
        wanted |= {number for number, edition in plan.items() if edition.state == BUILDING}
        self._release_finished(set(self._held) - wanted)
        now = self._connection.now_micros()
        # A run that asked for the first ones again and again would never come to those behind them.
        busy = leases.held(self._connection, wanted - set(self._held), now)
        claimable = {number: backlog for number, backlog in backlogs.items() if number not in busy}
        if more := next_claims(claimable, wanted - busy, set(self._held)):
            free = [plan[number] for number in more]
            claimed = leases.claim(self._connection, self._run.owner, free, now).editions
            self._held |= {edition.edition: edition for edition in claimed}
        # Read under the leases: a former holder may have applied some of the batches meanwhile.
        pending = pending_batches.pending(
            self._connection, [number for number in usable if number in self._held], *self._ready()
        )
        self._connection.commit()
        try:
            has_published = self._publish({batch["edition"] for batch in pending})
            if self._apply_next(pending) or has_published:
                return True
        except leases.LeaseLost:
            # A process that held a lease meanwhile may have removed raw rows that were read before.
            self._prefetch.drop()
            self._release(set(self._held))
            return True
        elsewhere = sorted(wanted - set(self._held))
        if not elsewhere or not self._waits:
            self.left = elsewhere
            return False
        holder = leases.holder(self._connection, elsewhere[0])
        self._connection.commit()
        self._run.waiting_for(holder)
        time.sleep(PAUSE_SECONDS)
        return True

    def _ready(self) -> tuple[int, int | None, tuple[int, int]]:
        """Which batches may be applied now; see `pending_batches.pending`."""
        return self._run.started_at, now_micros() if self._only_due else None, self._between

    def _claim(self) -> Claim:
        return Claim(self._run.owner, tuple(self._held.values()))

    def _release_finished(self, numbers: set[int]) -> None:
        if numbers:
            pending_batches.compact(self._connection, sorted(numbers))
            self._release(numbers)

    def _release(self, numbers: set[int]) -> None:
        released = [self._held.pop(number) for number in sorted(numbers)]
        if released:
            leases.release(self._connection, Claim(self._run.owner, tuple(released)))

    def _apply_next(self, pending: list[Batch]) -> bool:
        """Apply the next group of the pending batches; whether there is one."""
        groups = next_groups(pending, self._prefetch.started)
        if not groups:
            return False
        self._apply(groups[0], self._prefetch.reader(groups, list(self._held.values())))
        if len(groups) > 1:
            self._connection.analyze_new([table.name for table in tables.FACTS])
        return True

    def _apply(self, batches: list[Batch], read: Callable[[], BatchGroup]) -> None:
        """Apply those of the batches that can be; `read` returns what they say.

        Raises LeaseLost, and errors that no batch caused.
        """
        try:
            phase("read")
            apply_batch.apply(self._connection, self._claim(), read())
        except leases.LeaseLost:
            raise
        except Exception as error:
            if is_outage(error):
                self._collisions += 1
                if not is_collision(error) or self._collisions > _MAX_COLLISIONS:
                    raise
                # The same batches are applied again by the next step.
                self._connection.rollback()
                return
            self._connection.rollback()
            # They were read as if these batches were applied before them.
            self._prefetch.drop()
            if len(batches) == 1:
                text = " ".join(f"{type(error).__name__}: {error}".split())
                record_failure(self._run, self._held[batches[0]["edition"]], batches[0], text)
            else:
                self._apply_halves(batches)
        else:
            self._collisions = 0
            self._run.batches_done(batches)

    def _apply_halves(self, batches: list[Batch]) -> None:
        half = len(batches) // 2
        for part in (batches[:half], batches[half:]):
            usable = [batch for batch in part if self._failures[batch["edition"]] < _MAX_FAILURES]
            if usable:
                self._run.raise_if_stopped()
                held = list(self._held.values())
                self._apply(usable, partial(apply_batch.read, self._connection, held, usable))

    def _publish(self, unfinished: set[int]) -> bool:
        """Let answers read the new editions that have become complete, which none of the unfinished
        ones is; whether there are any."""
        building = [
            number
            for number, edition in self._held.items()
            if edition.state == BUILDING and number not in unfinished
        ]
        if not building:
            return False
        phase("publish")
        complete = set(building) - pending_batches.incomplete(self._connection, building)
        self._connection.commit()
        if not complete:
            return False
        now = self._connection.now_micros()
        leases.fence(self._connection, self._claim(), sorted(complete), now)
        finished = [self._held[number] for number in sorted(complete)]
        published = editions.publish(self._connection, finished, now_micros())
        self._release({edition.edition for edition in published})
        return bool(published)


def record_failure(run: JobRun, edition: Edition, batch: Batch, error: str) -> None:
    """Count a failed attempt of a batch, and say so. Commits."""
    set_aside = failed_batches.record(
        run.connection, batch, error, now_micros(), settings.BATCH_MAX_ATTEMPTS.get()
    )
    run.batches_failed({batch["edition"]: 1})
    say(
        f"batch {batch['batch_id']} of {edition.shop_id} ({batch['rows']} rows) "
        f"{'is SET ASIDE after its last try' if set_aside else 'failed and will be tried again'}: "
        f"{error}"
    )
