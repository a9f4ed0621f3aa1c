"""Rollup and rebuild: which editions there must be, the drain into them, and the step in which a
finished one becomes the one that answers read."""

import time
from collections.abc import Callable

from jobs import anew, pipeline
from warehouse import editions
from warehouse.bulk import Bulk
from warehouse.catalogue import LOGIC_VERSION
from warehouse.editions import BUILDING, CURRENT, RETIRED, SCRATCH, Claim, Edition


class UnknownShop(ValueError):
    """No shop of this name has been imported."""


def shop_keys(bulk: Bulk, shop: str | None) -> list[int]:
    """The keys of all shops, or of the one named; raises UnknownShop."""
    if shop is None:
        return bulk.table("SELECT shop_key FROM shop ORDER BY shop_key").column(0).to_pylist()
    found = bulk.value("SELECT shop_key FROM shop WHERE shop_id = $1", shop)
    if found is None:
        raise UnknownShop(f"no shop {shop!r}; import it first (kind shops)")
    return [found]


def roll_up(
    bulk: Bulk,
    window_days: int,
    shop: str | None,
    progress: pipeline.Progress,
    waiting: Callable[[str], None],
) -> None:
    """Take in everything that has been imported; build anew what was built under other settings."""
    shop_keys(bulk, shop)
    stale = editions.outdated(bulk, window_days, LOGIC_VERSION, shop)
    bulk.commit()
    for key in stale:
        _drop_stale_build(bulk, key, window_days)
        editions.create(bulk, key, window_days, LOGIC_VERSION)
    current = [e for e in editions.editions(bulk, CURRENT, shop) if e.shop_key not in set(stale)]
    building = editions.editions(bulk, BUILDING, shop)
    bulk.commit()
    pipeline.drain(bulk, current + building, progress, waiting)
    _publish(bulk, building, progress, waiting)
    _clean(bulk)


def rebuild(
    bulk: Bulk,
    window_days: int,
    shop: str | None,
    progress: pipeline.Progress,
    waiting: Callable[[str], None],
) -> None:
    """All facts and daily rows anew from raw, in a new edition; answers change over when it is
    whole."""
    keys = shop_keys(bulk, shop)
    bulk.commit()
    for key in keys:
        _drop_stale_build(bulk, key, window_days)
        editions.create(bulk, key, window_days, LOGIC_VERSION)
    building = editions.editions(bulk, BUILDING, shop)
    bulk.commit()
    pipeline.drain(bulk, building, progress, waiting)
    _publish(bulk, building, progress, waiting)
    _clean(bulk)


def hold(bulk: Bulk, edition: Edition, waiting: Callable[[str], None]) -> Claim:
    """Lease one edition, waiting until it is free; nothing is held of one that is gone."""
    while True:
        held = editions.claim(bulk, [edition], pipeline.now_micros())
        # One that was retired meanwhile cannot be held, and need not.
        if held.editions or editions.state_of(bulk, edition.edition) in ("", RETIRED):
            return held
        waiting(editions.holder(bulk, edition.edition))
        bulk.commit()
        time.sleep(pipeline.PAUSE_SECONDS)


def compared_with_rebuild(
    bulk: Bulk, held: Claim, edition: Edition, progress: pipeline.Progress
) -> dict[str, int]:
    """Build everything that a held edition has taken in once more, beside it; how many rows differ,
    by table."""
    editions.create(bulk, edition.shop_key, edition.window_days, LOGIC_VERSION, SCRATCH)
    scratch = editions.editions(bulk, SCRATCH, edition.shop_id)[-1]
    bulk.commit()
    own = editions.claim(bulk, [scratch], pipeline.now_micros())
    try:
        taken = set(
            bulk.table("SELECT batch_id FROM edition_batch WHERE edition = $1", edition.edition)
            .column(0)
            .to_pylist()
        )
        waiting = [b for b in editions.pending(bulk, [scratch.edition]) if b["batch_id"] in taken]
        for batches in pipeline.portions(waiting):
            pipeline.take_in(bulk, own, pipeline.read(bulk, own.editions, batches))
            editions.fence(bulk, held, [edition.edition], pipeline.now_micros())
            bulk.commit()
            progress(sum(batch["rows"] for batch in batches))
        return anew.compare_editions(bulk, edition, scratch)
    finally:
        editions.release(bulk, own)
        editions.drop(bulk, scratch.edition)


def waiting_rows(bulk: Bulk, window_days: int, shop: str | None, *, anew: bool) -> int:
    """How many raw rows a rollup (or, `anew`, a rebuild) has before it: for its progress bar."""
    stale = set(
        shop_keys(bulk, shop) if anew else editions.outdated(bulk, window_days, LOGIC_VERSION, shop)
    )
    current = [e.edition for e in editions.editions(bulk, CURRENT, shop) if e.shop_key not in stale]
    rows = sum(batch["rows"] for batch in editions.pending(bulk, current))
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


def _drop_stale_build(bulk: Bulk, shop_key: int, window_days: int) -> None:
    """Retire a half-built edition that was begun under other settings than today's."""
    bulk.execute(
        "UPDATE edition SET state = $1 WHERE state = $2 AND shop_key = $3 "
        "AND (window_days <> $4 OR logic_version <> $5 OR timezone <> "
        "(SELECT timezone FROM shop WHERE shop_key = $3))",
        RETIRED,
        BUILDING,
        shop_key,
        window_days,
        LOGIC_VERSION,
    )
    bulk.commit()


def _publish(
    bulk: Bulk,
    building: list[Edition],
    progress: pipeline.Progress,
    waiting: Callable[[str], None],
) -> None:
    """Let answers read the editions that were built; what came in meanwhile goes in first."""
    for edition in building:
        while editions.state_of(bulk, edition.edition) == BUILDING:
            held = hold(bulk, edition, waiting)
            try:
                if editions.state_of(bulk, edition.edition) == BUILDING:
                    pipeline.drain_held(bulk, held, progress)
                    bulk.commit()
                    editions.fence(bulk, held, [edition.edition], pipeline.now_micros())
                    editions.publish(bulk, edition)
            except editions.LeaseLost:
                continue
            finally:
                editions.release(bulk, held)


def _clean(bulk: Bulk) -> None:
    """Drop what is no longer read: retired editions, and scratch ones whose maker is gone."""
    for state in (RETIRED, SCRATCH):
        for edition in editions.editions(bulk, state):
            bulk.commit()
            if not editions.is_held(bulk, edition.edition, pipeline.now_micros()):
                editions.drop(bulk, edition.edition)
    bulk.commit()
