"""The drain: groups of pending batches are applied until none is left that can be.

A batch that fails is found by halving its group, and is left out; the others are applied. A failure
that no batch caused (an outage of the database, a lost lease) is never counted against one.

A batch may also end the process (for want of memory, by a defect of a library). So those of editions
whose lease was left by a process that died are applied in a child (`apart.py`), whose death is a failure
as any other; and so is whatever has failed before. Where it is one batch alone, the attempt is on record
before it begins.
"""

import time
from collections.abc import Callable
from contextlib import suppress
from operator import itemgetter
from typing import Final

import pyarrow as pa

from jobs.pipeline import apply_batch, batching
from jobs.pipeline.apart import Child
from jobs.pipeline.batching import next_batches, next_claims
from jobs.run.console import say
from jobs.run.errors import CommandFailed, blamed
from jobs.run.job_run import JobRun
from jobs.run.phases import phase
from warehouse import settings, tables
from warehouse.connections.errors import is_collision, is_outage, may_be_of_rows
from warehouse.editions import editions, failed_batches, leases, pending_batches, zone_rules
from warehouse.editions.editions import BUILDING, Edition
from warehouse.editions.leases import Claim
from warehouse.editions.pending_batches import Batch

# Between two checks whether another process has released a lease.
PAUSE_SECONDS: Final = 0.5
# Batches of one edition that may fail in one run. Then the rest of it is left for the next run: if
# every batch fails, each costs an attempt of its own.
_MAX_FAILURES: Final = 3
# Transactions in a row that may collide with those of others before that counts as an outage.
_MAX_COLLISIONS: Final = 10
# Children that may die in one run. Then the rest is left for the next run: if every process dies, each costs
# seconds.
_MAX_DEATHS: Final = 30
_NOT_ENDED: Final = "its process died before it was done"


class Drain:
    """One drain. `plan` returns the editions that must be up to date. It is called before every group,
    so that a shop that arrives meanwhile does not wait for the backlog of others.

    - `only_due`: a failed batch waits until its retry is due
    - `waits`: wait for the editions that another process holds; else they are that process's work
    - `claimed_rows`: about so many pending rows are those of the editions that it holds at once
    """

    def __init__(
        self,
        run: JobRun,
        plan: Callable[[], list[Edition]],
        *,
        only_due: bool = False,
        waits: bool = True,
        claimed_rows: int = batching.BATCH_ROWS,
    ) -> None:
        self._run, self._connection, self._plan = run, run.connection, plan
        self._only_due, self._waits, self._claimed_rows = only_due, waits, claimed_rows
        self._held: dict[int, Edition] = {}
        # By edition that is held, the deaths of former holders.
        self._deaths: dict[int, int] = {}
        self._child = Child(run.connection.url)
        self._failures = run.failures
        self._collisions = 0
        # Editions that seemed free and were not, when they were claimed last.
        self._taken: set[int] = set()

    def drain(self) -> None:
        """Apply all pending batches, and publish the editions that become complete by it.

        Raises errors that no batch caused. Failed batches are counted in the run's error.
        """
        self._connection.prefer_index_lookups()
        # Arrow's own pool returns memory at once, and the system clears every page of it again.
        pa.set_memory_pool(pa.system_memory_pool())
        try:
            while self._step():
                self._run.raise_if_stopped()
        finally:
            self._child.close()
            # If the connection is lost, the lease ends with the process.
            with suppress(Exception):
                self._release(set(self._held))

    def _step(self) -> bool:
        """Apply one group, or publish, or wait; whether there is more to do."""
        phase("plan")
        # A process with later rules of time zones may have begun meanwhile.
        zone_rules.require_latest(self._connection)
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
        more = next_claims(claimable, wanted - busy, set(self._held), self._claimed_rows)
        if more:
            free = [plan[number] for number in more]
            claimed = leases.claim(self._connection, self._run.owner, free, now)
            self._held |= {edition.edition: edition for edition in claimed.editions}
            self._deaths |= claimed.deaths
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
            self._release(set(self._held))
            return True
        elsewhere = sorted(wanted - set(self._held))
        # Several that begin at once ask for the same editions: there may be others.
        before, self._taken = self._taken, set(more) - set(self._held)
        if not elsewhere or not (self._waits or self._taken - before):
            return False
        holder = leases.holder(self._connection, elsewhere[0])
        self._connection.commit()
        self._run.waiting_for(holder)
        time.sleep(PAUSE_SECONDS)
        return True

    def _ready(self) -> tuple[int, int | None]:
        """Which batches may be applied now; see `pending_batches.pending`."""
        return self._run.started_at, self._connection.now_micros() if self._only_due else None

    def _claim(self) -> Claim:
        return Claim(self._run.owner, tuple(self._held.values()))

    def _release_finished(self, numbers: set[int]) -> None:
        if numbers:
            pending_batches.compact(self._connection, sorted(numbers))
            self._release(numbers)

    def _release(self, numbers: set[int]) -> None:
        released = [self._held.pop(number) for number in sorted(numbers)]
        self._deaths = {number: self._deaths[number] for number in self._deaths.keys() & self._held}
        if released:
            leases.release(self._connection, Claim(self._run.owner, tuple(released)))

    def _apply_next(self, pending: list[Batch]) -> bool:
        """Apply the next group of the pending batches; whether there is one. Suspect ones come last: they
        keep no other waiting."""
        trusted = [batch for batch in pending if not self._is_suspect(batch)]
        if trusted:
            batches = next_batches(trusted, batching.BATCH_ROWS)
            self._apply(batches)
            if len(batches) < len(trusted):
                self._connection.analyze_grown(tables.FACTS)
        elif pending:
            self._apply(self._next_suspects(pending))
        return bool(pending)

    def _is_suspect(self, batch: Batch) -> bool:
        """Whether a batch may end the process that applies it: it has failed before, or a former holder of
        its edition's lease died."""
        return batch["attempts"] > 0 or batch["edition"] in self._deaths

    def _next_suspects(self, pending: list[Batch]) -> list[Batch]:
        """The suspect batches to apply next. After one death, which may have come from anywhere, those of a
        group together; else one alone, since nothing but its own record would outlast a death of both
        processes."""
        together = [
            batch
            for batch in pending
            if not batch["attempts"] and self._deaths[batch["edition"]] == 1
        ]
        least_tried = min(pending, key=itemgetter("attempts"))
        return next_batches(together, batching.BATCH_ROWS) or [least_tried]

    def _apply(self, batches: list[Batch]) -> None:
        """Apply those of the batches that can be, of which all are suspect or none is.

        Raises LeaseLost, and errors that no batch caused.
        """
        is_suspect = self._is_suspect(batches[0])
        is_recorded = is_suspect and len(batches) == 1
        if is_suspect:
            if self._child.deaths >= _MAX_DEATHS:
                raise CommandFailed(
                    f"{_MAX_DEATHS} processes died in this run; the next one goes on. See what ends them: "
                    "too little memory, most often"
                )
            self._child.start()
        if is_recorded:
            # Before it begins: this process may die with it.
            self._record(batches[0], _NOT_ENDED)
            batches = [batches[0] | {"attempts": batches[0]["attempts"] + 1}]
        try:
            if is_suspect:
                phase("apart")
                self._child.apply(self._claim(), batches)
            else:
                apply_batch.apply(self._connection, self._claim(), batches)
        except leases.LeaseLost:
            raise
        except Exception as error:
            if self._is_outage(error):
                if is_recorded:
                    with suppress(Exception):
                        self._fence(batches[0])
                        failed_batches.take_back(self._connection, batches[0])
                self._collisions += 1
                if not is_collision(error) or self._collisions > _MAX_COLLISIONS:
                    raise
                # The same batches are applied again by the next step.
                self._connection.rollback()
                return
            failure = blamed(error)
        else:
            self._collisions = 0
            self._run.batches_done(batches)
            return
        # Not in the handler: the error would hold the rows of the group in memory until its halves are done.
        self._connection.rollback()
        if len(batches) > 1:
            self._apply_halves(batches)
        else:
            self._count_failure(batches[0], failure, is_recorded=is_recorded)

    def _apply_halves(self, batches: list[Batch]) -> None:
        half = len(batches) // 2
        for part in (batches[:half], batches[half:]):
            usable = [batch for batch in part if self._failures[batch["edition"]] < _MAX_FAILURES]
            if usable:
                self._run.raise_if_stopped()
                self._apply(usable)

    def _is_outage(self, error: Exception) -> bool:
        """Whether no batch is to blame for an error. Leaves no transaction open."""
        return is_outage(error) and not (may_be_of_rows(error) and self._connection.answers())

    def _count_failure(self, batch: Batch, error: str, *, is_recorded: bool) -> None:
        """Count a failed attempt of a batch, and say so. Commits."""
        if is_recorded:
            failed_batches.name_error(self._connection, batch, error)
        else:
            self._record(batch, error)
        self._run.batches_failed({batch["edition"]: 1})
        set_aside = batch["attempts"] + (not is_recorded) >= settings.BATCH_MAX_ATTEMPTS.get()
        say(
            f"batch {batch['batch_id']} of {self._held[batch['edition']].shop_id} ({batch['rows']} rows) "
            f"{'is SET ASIDE after its last try' if set_aside else 'failed and will be tried again'}: "
            f"{error}"
        )

    def _record(self, batch: Batch, error: str) -> None:
        self._fence(batch)
        most = settings.BATCH_MAX_ATTEMPTS.get()
        failed_batches.record(self._connection, batch, error, self._connection.now_micros(), most)

    def _fence(self, batch: Batch) -> None:
        connection = self._connection
        leases.fence(connection, self._claim(), [batch["edition"]], connection.now_micros())

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
        published = editions.publish(self._connection, finished, now)
        self._release({edition.edition for edition in published})
        return bool(published)
