"""The worker loop: groups of pending batches are applied until none is left that can be.

A batch that fails is found by halving its group, and is left out; the others are applied. A failure
that no batch caused (an outage of the database, a lost lease) is never counted against one.

A batch may also end the process (for want of memory, by a defect of a library). So those of editions
whose lease was left by a process that died are applied apart, and so is whatever has failed before: by a
worker (`jobs/executors/worker.py`) that is started for them alone. Where it is one batch, the attempt is on
record before it begins: so a death counts, whatever it ends.
"""

from collections.abc import Callable, Iterable
from concurrent.futures import wait
from contextlib import closing, suppress
from operator import itemgetter
from typing import Final

import pyarrow as pa

from jobs.executors.processes import Processes, WorkerDied
from jobs.executors.share import DONE, Share
from jobs.pipeline import apply_batch, batching
from jobs.pipeline.batching import next_batches, next_claims
from jobs.run.errors import CommandFailed, blamed
from jobs.run.job_run import PAUSE_SECONDS, JobRun, phase
from warehouse import settings, tables
from warehouse.connections.errors import is_collision, is_outage, may_be_of_rows
from warehouse.editions import editions, failed_batches, leases, pending_batches, zone_rules
from warehouse.editions.editions import BUILDING, Edition
from warehouse.editions.leases import Claim
from warehouse.editions.pending_batches import Batch

# Batches of one edition that may fail in one run. Then the rest of it is left for the next run: if
# every batch fails, each costs an attempt of its own.
_MAX_FAILURES: Final = 3
# Transactions in a row that may collide with those of others before that counts as an outage.
_MAX_COLLISIONS: Final = 10
# Workers apart that may die in one run. Then the rest is left for the next run: if every process dies, each
# costs seconds.
_MAX_DEATHS: Final = 30


class WorkerLoop:
    """One loop over pending batches. `plan` returns the editions that must be up to date. It is called before
    every group, so that a shop that arrives meanwhile does not wait for the backlog of others.

    - `only_due`: a failed batch waits until its retry is due
    - `waits`: wait for the editions that another process holds; else they are that process's work
    - `claimed_rows`: about so many pending rows are those of the editions that it holds at once
    - `is_apart`: it applies the batches that may end its process; else it starts a worker for them
    """

    def __init__(
        self,
        run: JobRun,
        plan: Callable[[], list[Edition]],
        *,
        only_due: bool = False,
        waits: bool = True,
        claimed_rows: int = batching.BATCH_ROWS,
        is_apart: bool = False,
    ) -> None:
        self._run, self._connection, self._plan = run, run.connection, plan
        self._only_due, self._waits, self._claimed_rows = only_due, waits, claimed_rows
        self._is_apart = is_apart
        self._held: dict[int, Edition] = {}
        # By edition that is held, the deaths of former holders.
        self._deaths: dict[int, int] = {}
        # Workers apart that have died; the editions for which one has done all that it could.
        self._died = 0
        self._done_apart: set[int] = set()
        self._collisions = 0
        # Editions that seemed free and were not, when they were claimed last.
        self._taken: set[int] = set()

    def run(self) -> None:
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
            # If the connection is lost, the lease ends with the process.
            with suppress(Exception):
                self._release(set(self._held))

    def _step(self) -> bool:
        """Apply one group, or publish, or wait; whether there is more to do."""
        phase("plan")
        # A process with later rules of time zones may have begun meanwhile.
        zone_rules.require_latest(self._connection)
        plan = {edition.edition: edition for edition in self._plan()}
        usable = [
            number for number in plan if self._is_usable(number) and number not in self._done_apart
        ]
        backlogs = pending_batches.backlogs(self._connection, usable, *self._ready())
        self._connection.commit()
        wanted = set(backlogs)
        wanted |= {number for number, edition in plan.items() if edition.state == BUILDING}
        if finished := set(self._held) - wanted:
            pending_batches.compact(self._connection, sorted(finished))
            self._release(finished)
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
        self._run.wait_for(leases.holder(self._connection, elsewhere[0]))
        return True

    def _ready(self) -> tuple[int, int | None]:
        """Which batches may be applied now; see `pending_batches.pending`."""
        return self._run.started_at, self._connection.now_micros() if self._only_due else None

    def _claim(self) -> Claim:
        return Claim(self._run.owner, tuple(self._held.values()))

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
        elif pending and self._is_apart:
            # After one death, which may have come from anywhere, those of a group together; else one alone,
            # since nothing but its own record outlasts the process.
            together = [
                batch
                for batch in pending
                if not batch["attempts"] and self._deaths[batch["edition"]] == 1
            ]
            least_tried = min(pending, key=itemgetter("attempts"))
            self._apply(next_batches(together, batching.BATCH_ROWS) or [least_tried])
        elif pending:
            self._apply_apart({batch["edition"] for batch in pending})
        return bool(pending)

    def _is_suspect(self, batch: Batch) -> bool:
        """Whether a batch may end the process that applies it: it has failed before, or a former holder of
        its edition's lease died."""
        return batch["attempts"] > 0 or batch["edition"] in self._deaths

    def _apply_apart(self, numbers: set[int]) -> None:
        """Have a worker apply what is pending of these editions, which may end it. Raises CommandFailed where
        it cannot, or too many have died."""
        if self._died >= _MAX_DEATHS:
            raise CommandFailed(
                f"{_MAX_DEATHS} processes died in this run; the next one goes on. See what ends them: "
                "too little memory, most often"
            )
        phase("apart")
        self._release(numbers)
        share = Share(self._run, sorted(numbers))
        request = share.request(
            only_due=self._only_due, claimed_rows=self._claimed_rows, is_apart=True
        )
        with closing(Processes(1)) as processes:
            (name,) = processes.workers()
            answer = processes.start(name, request)
            while wait([answer], PAUSE_SECONDS).not_done:
                self._run.raise_if_stopped()
        share.read()
        try:
            if answer.result() != DONE:
                raise CommandFailed(answer.result())
            self._done_apart |= numbers
        except WorkerDied as error:
            self._died += 1
            self._name_error(numbers, f"its process died ({error})")
        self._run.read_failures(numbers)

    def _apply(self, batches: list[Batch]) -> None:
        """Apply those of the batches that can be, of which all are suspect or none is.

        Raises LeaseLost, and errors that no batch caused.
        """
        is_recorded = self._is_suspect(batches[0]) and len(batches) == 1
        if is_recorded:
            # Before it begins: this process may die with it.
            self._record(batches[0])
            batches = [batches[0] | {"attempts": batches[0]["attempts"] + 1}]
        try:
            apply_batch.apply(self._connection, self._claim(), batches)
        except leases.LeaseLost:
            raise
        except Exception as error:
            # No batch is to blame.
            if is_outage(error) and not (may_be_of_rows(error) and self._connection.answers()):
                if is_recorded:
                    with suppress(Exception):
                        failed_batches.take_back(self._connection, self._run.owner)
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
            half = len(batches) // 2
            for part in (batches[:half], batches[half:]):
                usable = [batch for batch in part if self._is_usable(batch["edition"])]
                if usable:
                    self._run.raise_if_stopped()
                    self._apply(usable)
            return
        if not is_recorded:
            self._record(batches[0])
        self._name_error([batches[0]["edition"]], failure)
        self._run.read_failures([batches[0]["edition"]])

    def _is_usable(self, number: int) -> bool:
        return self._run.failures[number] < _MAX_FAILURES

    def _record(self, batch: Batch) -> None:
        """Record that an attempt begins. Commits."""
        connection, most = self._connection, settings.BATCH_MAX_ATTEMPTS.get()
        leases.fence(connection, self._claim(), [batch["edition"]], connection.now_micros())
        failed_batches.record(connection, batch, connection.now_micros(), most)

    def _name_error(self, numbers: Iterable[int], error: str) -> None:
        """Record why the attempts of these editions that were recorded have failed. Commits."""
        failed_batches.name_error(self._connection, numbers, self._run.started_at, error)

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
