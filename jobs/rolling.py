"""Rollup and rebuild: which editions there must be, and the drain into them."""

import time
from collections.abc import Callable
from functools import partial
from typing import TypeVar

from jobs import anew, pipeline, portions
from jobs.clock import now_micros
from jobs.draining import PAUSE_SECONDS, Drain
from jobs.running import Run
from jobs.shops import shop_keys
from jobs.stopwatch import phase
from warehouse import edition_leases, editions, queue
from warehouse.bulk import Bulk
from warehouse.catalogue import LOGIC_VERSION
from warehouse.edition_leases import Claim
from warehouse.editions import BUILDING, CURRENT, RETIRED, SCRATCH, Edition

Result = TypeVar("Result")


def roll_up(run: Run, shop: str | None = None, *, due: bool = False) -> None:
    """Take in everything that has been imported; build anew what was built under other settings.

    `due` is a refresh: see `Drain`.
    """
    shop_keys(run.bulk, shop)
    run.bulk.commit()
    Drain(run, partial(_to_be_whole, run.bulk, run.window_days, shop), due=due).drain()
    _clean(run.bulk)


def rebuild(run: Run, shop: str | None) -> None:
    """All facts and daily rows anew from raw, in a new edition; answers change over when it is
    whole."""
    bulk = run.bulk
    keys = shop_keys(bulk, shop)
    bulk.commit()
    _begin(bulk, keys, run.window_days)
    numbers = {edition.edition for edition in editions.editions(bulk, BUILDING, shop)}
    bulk.commit()

    def still_building() -> list[Edition]:
        return [one for one in editions.editions(bulk, BUILDING, shop) if one.edition in numbers]

    Drain(run, still_building).drain()
    _clean(bulk)


def while_held(run: Run, edition: Edition, work: Callable[[Claim], Result]) -> Result | None:
    """Do work under the lease of an edition, waited for where it is not free; once more from the
    beginning where the lease is lost. None where the edition is gone."""
    while True:
        held = _hold(run, edition)
        if not held.editions:
            return None
        try:
            return work(held)
        except edition_leases.LeaseLost:
            continue
        finally:
            edition_leases.release(run.bulk, held)


def _hold(run: Run, edition: Edition) -> Claim:
    """Lease one edition, waiting until it is free; nothing is held of one that is gone."""
    bulk = run.bulk
    while True:
        held = edition_leases.claim(bulk, [edition], now_micros())
        # One that was retired meanwhile cannot be held, and need not.
        if held.editions or editions.state_of(bulk, edition.edition) in ("", RETIRED):
            return held
        holder = edition_leases.holder(bulk, edition.edition)
        bulk.commit()
        run.waiting(holder)
        time.sleep(PAUSE_SECONDS)


def compared_with_rebuild(run: Run, held: Claim, edition: Edition) -> dict[str, int]:
    """Build everything that a held edition has taken in once more, beside it; how many rows differ,
    by table."""
    bulk = run.bulk
    editions.create(bulk, [edition.shop_key], edition.window_days, LOGIC_VERSION, SCRATCH)
    scratch = editions.editions(bulk, SCRATCH, edition.shop_id)[-1]
    bulk.commit()
    own = edition_leases.claim(bulk, [scratch], now_micros())
    try:
        waiting = queue.all_taken_in(bulk, edition.edition, scratch.edition)
        bulk.commit()
        while batches := portions.portion(waiting, portions.BATCH_ROWS):
            taken = {batch["batch_id"] for batch in batches}
            waiting = [batch for batch in waiting if batch["batch_id"] not in taken]
            pipeline.take_in(bulk, own, pipeline.read(bulk, own.editions, batches))
            phase("compare")
            edition_leases.fence(bulk, held, [edition.edition], now_micros())
            bulk.commit()
            run.took(batches)
        return anew.compare_editions(bulk, edition, scratch)
    finally:
        edition_leases.release(bulk, own)
        editions.drop(bulk, scratch.edition)


def waiting_rows(bulk: Bulk, window_days: int, shop: str | None, *, anew: bool) -> int:
    """How many raw rows a rollup (or, `anew`, a rebuild) has before it: for its progress bar."""
    stale = set(
        shop_keys(bulk, shop) if anew else editions.outdated(bulk, window_days, LOGIC_VERSION, shop)
    )
    current = [e.edition for e in editions.editions(bulk, CURRENT, shop) if e.shop_key not in stale]
    rows = queue.waiting_rows(bulk, [] if anew else current)
    if stale:
        listed = ", ".join(map(str, stale))
        rows += int(
            bulk.value(
                "SELECT CAST(COALESCE(SUM(rows), 0) AS BIGINT) FROM import_batch "
                f"WHERE shop_key IN ({listed})"
            )
        )
    bulk.commit()
    return rows


def _to_be_whole(bulk: Bulk, window_days: int, shop: str | None) -> list[Edition]:
    """The editions that answers are to be read from: made where they are missing, or where those
    there are were built under other settings."""
    stale = set(editions.outdated(bulk, window_days, LOGIC_VERSION, shop))
    begun = editions.begun(bulk, window_days, LOGIC_VERSION)
    bulk.commit()
    _begin(bulk, sorted(key for key in stale if not begun.get(key)), window_days)
    current = [one for one in editions.editions(bulk, CURRENT, shop) if one.shop_key not in stale]
    # One that was begun under settings that are those of the current one again is left alone.
    building = [
        one
        for one in editions.editions(bulk, BUILDING, shop)
        if one.shop_key in stale or begun.get(one.shop_key)
    ]
    bulk.commit()
    return current + building


def _begin(bulk: Bulk, shops: list[int], window_days: int) -> None:
    """Begin an edition of each shop, or go on with the one begun under today's settings."""
    if shops:
        editions.retire_outdated(bulk, shops, window_days, LOGIC_VERSION)
        editions.create(bulk, shops, window_days, LOGIC_VERSION)


def _clean(bulk: Bulk) -> None:
    """Drop what is no longer read: retired editions, and scratch ones whose maker is gone."""
    phase("clean")
    for state in (RETIRED, SCRATCH):
        for edition in editions.editions(bulk, state):
            bulk.commit()
            if not edition_leases.is_held(bulk, edition.edition, now_micros()):
                editions.drop(bulk, edition.edition)
    bulk.commit()
