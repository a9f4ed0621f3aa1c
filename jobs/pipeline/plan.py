"""Rollup, rebuild and a whole verify: which editions must be up to date, and the worker loop for them."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import partial
from operator import attrgetter
from typing import Final

from jobs.pipeline import apply_batch, batching, comparison
from jobs.pipeline.comparison import Differences
from jobs.pipeline.worker_loop import WorkerLoop
from jobs.run.job_run import JobRun, phase, shop_keys
from warehouse import tables
from warehouse.catalogue import LOGIC_VERSION
from warehouse.connections.arrow import ArrowConnection
from warehouse.connections.chunks import chunks
from warehouse.editions import editions, leases, pending_batches, removals
from warehouse.editions.editions import BUILDING, CURRENT, RETIRED, SCRATCH, Edition
from warehouse.editions.leases import Claim
from warehouse.editions.pending_batches import MAX_BATCHES, sql_list
from warehouse.operations.process_id import LEASE_MICROS

INLINE: Final = "inline"
"""The executor that is this process alone."""


def roll_up(
    run: JobRun, shop: str | None = None, *, only_due: bool = False, executor: str = INLINE
) -> None:
    """Apply everything that has been imported; rebuild editions that have outdated settings.

    `only_due` is for refreshes: failed batches wait for their time, and editions that another process
    holds are left to it.
    """
    shop_keys(run.connection, shop)
    run.connection.commit()
    plan = partial(_wanted_editions, run.connection, run.window_days, shop)
    with _shared_out(run, plan, executor, only_due=only_due):
        WorkerLoop(run, plan, only_due=only_due, waits=not only_due).run()
    clean(run.connection)


def rebuild(run: JobRun, shop: str | None, *, executor: str = INLINE) -> None:
    """Derive all facts and daily rows again from the raw rows, into a new edition. Answers read the
    old edition until the new one is complete."""
    connection = run.connection
    keys = shop_keys(connection, shop)
    connection.commit()
    _begin(connection, keys, run.window_days)
    numbers = {edition.edition for edition in editions.list_editions(connection, BUILDING, shop)}
    connection.commit()

    def still_building() -> list[Edition]:
        return [
            edition
            for edition in editions.list_editions(connection, BUILDING, shop)
            if edition.edition in numbers
        ]

    with _shared_out(run, still_building, executor):
        WorkerLoop(run, still_building).run()
    clean(connection)


def _shared_out(
    run: JobRun, plan: Callable[[], list[Edition]], executor: str, *, only_due: bool = False
) -> AbstractContextManager[None]:
    """Before the block, have the workers of an executor roll up what a plan says; it does the rest."""
    if executor == INLINE:
        return nullcontext()
    # Engines are loaded where one is used: every refresh would begin later.
    from jobs.executors.driver import shared_out

    return shared_out(run, plan, executor, only_due=only_due)


def while_held(run: JobRun, wanted: Iterable[Edition], work: Callable[[Claim], None]) -> None:
    """Do work under the leases of editions: for those that are free, and then for the others when theirs are.
    It starts again if a lease is lost. Nothing is done for editions that are gone."""
    own = {edition.edition: edition for edition in wanted}

    def usable(left: set[int]) -> list[Edition]:
        # One that was retired or frozen meanwhile cannot be claimed.
        found = editions.editions_numbered(run.connection, sorted(left))
        return [own[edition.edition] for edition in found]

    def of_free(held: Claim, _free: list[int]) -> None:
        if held.editions:
            work(held)

    _while_free(run, set(own), usable, attrgetter("edition"), of_free)


def while_shops_held(
    run: JobRun, shops: Iterable[int], work: Callable[[Claim, list[int]], None]
) -> None:
    """The same of shops (their keys): under the leases of all editions of each, current or being built."""
    usable = partial(editions.editions_of, run.connection)
    _while_free(run, set(shops), usable, attrgetter("shop_key"), work)


def _while_free(
    run: JobRun,
    left: set[int],
    usable: Callable[[set[int]], list[Edition]],
    key: Callable[[Edition], int],
    work: Callable[[Claim, list[int]], None],
) -> None:
    """Do work for the keys all of whose editions are free, and then for the others when theirs are."""
    connection = run.connection
    while left:
        wanted = usable(left)
        connection.commit()
        held = leases.claim(connection, run.owner, wanted, connection.now_micros())
        busy = {key(edition): edition.edition for edition in set(wanted) - set(held.editions)}
        free = left - busy.keys()
        try:
            if free:
                own = (edition for edition in held.editions if key(edition) in free)
                work(Claim(run.owner, tuple(own)), sorted(free))
                left -= free
                continue
        except leases.LeaseLost:
            continue
        finally:
            # None is kept meanwhile: two that wait for each other would wait forever.
            leases.release(connection, held)
        run.wait_for(leases.holder(connection, min(busy.values())))


def small_editions(connection: ArrowConnection, wanted: list[Edition]) -> Iterator[list[Edition]]:
    """Editions in groups that can be compared together, of one window: small ones up to as many rows as a
    rollup applies at once; a large one alone. Commits."""
    rows = connection.table(
        "SELECT shop_key, CAST(SUM(rows) AS BIGINT) FROM import_batch "
        f"WHERE shop_key IN ({sql_list(edition.shop_key for edition in wanted)}) GROUP BY shop_key"
    )
    connection.commit()
    of_shop = dict(zip(*(column.to_pylist() for column in rows.columns), strict=True))
    for window_days in sorted({edition.window_days for edition in wanted}):
        some = [edition for edition in wanted if edition.window_days == window_days]
        sizes = ((edition, of_shop.get(edition.shop_key, 0)) for edition in some)
        yield from chunks(sizes, batching.BATCH_ROWS)


def compared_with_rebuild(run: JobRun, held: Claim) -> Differences:
    """How many rows of held editions differ from those of editions that are built anew."""
    with built_anew(run, held) as pairs:
        # After a restore nobody has counted a table yet: rows would be compared each with each.
        run.connection.analyze_grown(tables.OWNED)
        differences = comparison.compare_editions(run.connection, pairs)
        run.connection.commit()
        # A shop may have been deleted while the rows were compared.
        check_held(run.connection, held)
        return differences


@contextmanager
def built_anew(run: JobRun, held: Claim) -> Iterator[dict[Edition, Edition]]:
    """For each held edition (of one window, and one of each shop) a second one, built from every batch that
    it has applied, and dropped at the end."""
    connection = run.connection
    # Leased from its first moment: others drop the scratch editions that nobody holds.
    lease = run.owner, connection.now_micros() + LEASE_MICROS
    by_shop = {edition.shop_key: edition for edition in held.editions}
    editions.create_scratch(connection, held.editions, lease)
    pairs = {
        by_shop[scratch.shop_key]: scratch
        # Older ones are of processes that are gone.
        for scratch in editions.list_editions(connection, SCRATCH)
        if scratch.shop_key in by_shop
    }
    connection.commit()
    own = Claim(run.owner, tuple(pairs.values()))
    numbers = {edition.edition: scratch.edition for edition, scratch in pairs.items()}
    try:
        pending = pending_batches.applied_batches(connection, numbers)
        connection.commit()
        sized = ((batch, batch["weight"]) for batch in pending)
        for batches in chunks(sized, batching.BATCH_ROWS, MAX_BATCHES):
            apply_batch.apply(connection, own, batches)
            phase("compare")
            check_held(connection, held)
            run.batches_done(batches)
        yield pairs
    finally:
        leases.release(connection, own)
        editions.drop(connection, list(numbers.values()))


def check_held(connection: ArrowConnection, held: Claim) -> None:
    """Raise LeaseLost if the lease of one of these editions was lost. Commits."""
    numbers = [edition.edition for edition in held.editions]
    leases.fence(connection, held, numbers, connection.now_micros())
    connection.commit()


def waiting_rows(
    connection: ArrowConnection, window_days: int, shop: str | None, *, rebuild: bool
) -> int:
    """How many raw rows a rollup (or a rebuild) has to apply, for its progress bar."""
    stale = set(
        shop_keys(connection, shop)
        if rebuild
        else editions.outdated_shops(connection, window_days, LOGIC_VERSION, shop)
    )
    current = [
        edition.edition
        for edition in editions.list_editions(connection, CURRENT, shop)
        if edition.shop_key not in stale
    ]
    rows = pending_batches.pending_rows(connection, [] if rebuild else current)
    if stale:
        rows += int(
            connection.value(
                "SELECT CAST(COALESCE(SUM(rows), 0) AS BIGINT) FROM import_batch "
                f"WHERE shop_key IN ({sql_list(stale)})"
            )
        )
    connection.commit()
    return rows


def _wanted_editions(
    connection: ArrowConnection, window_days: int, shop: str | None
) -> list[Edition]:
    """The editions that answers are to be read from. Creates those that are missing, and new ones in
    place of those that have outdated settings. Commits."""
    stale = set(editions.outdated_shops(connection, window_days, LOGIC_VERSION, shop))
    begun = editions.building_shops(connection, window_days, LOGIC_VERSION)
    connection.commit()
    _begin(connection, sorted(key for key in stale if not begun.get(key)), window_days)
    current = [
        edition
        for edition in editions.list_editions(connection, CURRENT, shop)
        if edition.shop_key not in stale
    ]
    # An outdated edition being built is left alone once the current one has today's settings again.
    building = [
        edition
        for edition in editions.list_editions(connection, BUILDING, shop)
        if edition.shop_key in stale or begun.get(edition.shop_key)
    ]
    connection.commit()
    return current + building


def _begin(connection: ArrowConnection, shops: list[int], window_days: int) -> None:
    """Create an edition of each shop, unless one with today's settings is being built. Commits."""
    if shops:
        editions.retire_outdated(
            connection, shops, window_days, LOGIC_VERSION, connection.now_micros()
        )
        editions.create(connection, shops, window_days, LOGIC_VERSION)


def clean(connection: ArrowConnection) -> None:
    """Drop editions that nothing reads: retired ones, and scratch ones whose process is gone. Then end the
    undos and forgets whose rows no edition has any more. Commits."""
    phase("clean")
    for state in (RETIRED, SCRATCH):
        numbers = [edition.edition for edition in editions.list_editions(connection, state)]
        connection.commit()
        held = leases.held(connection, numbers, connection.now_micros())
        editions.drop(connection, [number for number in numbers if number not in held])
    removals.end(connection, connection.now_micros())
