"""Raw events older than RAW_DAYS go, and every figure stays: facts are kept of them (`facts/kept_facts.py`).

Only events go that every edition of their shop has applied: for these editions nothing changes. Versions of
orders stay: any of them may stand again, and a later file must be compared with them.
"""

from functools import partial
from typing import Final

import pyarrow as pa

from jobs.facts import kept_facts, read_raw
from jobs.facts.kept_facts import IDENTIFIERS, KeptFacts, joined, keep
from jobs.pipeline import plan, removed_rows
from jobs.pipeline.derive import edition_by_shop
from jobs.pipeline.removal import (
    count_rows_left,
    delete_staged_events,
    keep_editions,
)
from jobs.run.console import say
from jobs.run.job_run import JobRun, phase
from warehouse import tables
from warehouse.connections.arrow import ArrowConnection
from warehouse.connections.chunks import chunks
from warehouse.domain.time import iso_millis, now_micros
from warehouse.domain.vocabulary import KEPT_FACTS
from warehouse.editions.leases import Claim
from warehouse.editions.pending_batches import from_pending, sql_list
from warehouse.intake.imports import WITHDRAWN
from warehouse.persons import forgotten

# Kept facts of fewer rows are joined with those of the next purge.
_SMALL_ROWS: Final = 5_000

_OF_WITHDRAWN: Final = (
    f"batch_id IN (SELECT b.batch_id FROM import_batch b WHERE b.import_id IN ({WITHDRAWN}))"
)


def purge_events(run: JobRun, before: int) -> int:
    """Keep the facts of the raw events before an instant, and delete the events: the rows of this run, whose
    number is returned. Commits.

    Raises Stopped after a signal; events that are left then go when it is repeated.
    """
    phase("purge")
    found = run.connection.table(
        "SELECT shop_key, batch_id, COUNT(*) AS events FROM raw_event WHERE occurred_at < $1 "
        "GROUP BY shop_key, batch_id ORDER BY shop_key, batch_id",
        before,
    ).to_pylist()
    run.connection.commit()
    shops = {row["batch_id"]: row["shop_key"] for row in found}
    sizes = ((row["batch_id"], row["events"]) for row in found)
    for numbers in chunks(sizes, removed_rows.portion_rows()):
        old = f"occurred_at < {before} AND batch_id IN ({sql_list(numbers)})"
        own = {shops[number] for number in numbers}
        plan.while_shops_held(run, own, partial(_purge, run, old))
    return run.record.rows


def say_purged(connection: ArrowConnection, shop: str | None) -> None:
    """Say of which events only facts are kept, if of any: whoever recomputes figures should know. Commits."""
    row = connection.table(
        "SELECT COUNT(DISTINCT k.shop_key) AS shops, MAX(k.last_at) AS last_at FROM kept_facts k "
        "JOIN shop s ON s.shop_key = k.shop_key WHERE $1 IN ('', s.shop_id)",
        shop or "",
    ).to_pylist()[0]
    connection.commit()
    if row["shops"]:
        of_shops = "" if shop else f" of {row['shops']} shop{'s' * (row['shops'] > 1)}"
        say(
            f"raw events{of_shops} up to {iso_millis(row['last_at'])[:10]} are gone (RAW_DAYS): "
            "the facts that were kept of them stand for them"
        )


def _purge(run: JobRun, old: str, held: Claim, _shops: list[int]) -> None:
    """Purge the events of the shops of these editions that meet an SQL condition."""
    numbers = sql_list(edition.edition for edition in held.editions)
    # Facts have no place for an address in another text: such a row stays, so that it can be forgotten.
    which = (
        f"{old} AND NOT {forgotten.is_marked(tables.raw_event)} AND NOT ({_OF_WITHDRAWN}) "
        f"AND batch_id NOT IN (SELECT p.batch_id {from_pending(numbers)})"
    )
    while held.editions and _purge_portion(run, held, which):
        run.raise_if_stopped()


def _purge_portion(run: JobRun, held: Claim, which: str) -> bool:
    """Purge some of the events; whether there may be more of them. Commits.

    Raises LeaseLost, with nothing written, if a lease was lost or a shop has another edition now.
    """
    connection = run.connection
    by_shop = edition_by_shop(held.editions)
    rows = removed_rows.stage(connection, tables.raw_event, by_shop, which)
    removed_rows.stage(connection, tables.raw_order, by_shop, "false")
    if not rows.num_rows:
        return False
    # The rules on forms may change: the facts that are kept have the ids that were imported.
    events = read_raw.read_events(connection, removed_rows.REMOVED_EVENT, by_shop, as_imported=True)
    identifiers = rows.select(["shop_key", "event_id", *IDENTIFIERS]).to_pandas()
    identifiers["edition"] = identifiers.pop("shop_key").map(by_shop)
    kept = keep(events, identifiers)
    connection.commit()
    # An undo begins under the same lock of shops: it is seen here, or sees here what is gone.
    keep_editions(connection, held, sorted(by_shop))
    if connection.value(f"SELECT 1 FROM removed_event WHERE {_OF_WITHDRAWN} LIMIT 1"):
        connection.rollback()
        return True
    for shop_key, number in by_shop.items():
        if number in kept:
            _write(connection, held, shop_key, kept[number])
            run.record.shops.add(shop_key)
    connection.execute(
        "UPDATE import_batch SET purged = purged + gone.events FROM "
        "(SELECT batch_id, COUNT(*) AS events FROM removed_event GROUP BY batch_id) gone "
        "WHERE gone.batch_id = import_batch.batch_id"
    )
    delete_staged_events(connection)
    count_rows_left(connection)
    connection.commit()
    run.record.rows += rows.num_rows
    return rows.num_rows == removed_rows.portion_rows()


def _write(connection: ArrowConnection, held: Claim, shop_key: int, kept: KeptFacts) -> None:
    """Store kept facts in a batch that the shop's editions have applied: they have its events. It is the
    last one as long as that is small: one a night would be thousands after some years."""
    numbers = [edition.edition for edition in held.editions if edition.shop_key == shop_key]
    last = connection.value(
        "SELECT MAX(k.batch_id) FROM kept_facts k JOIN import_batch i ON i.batch_id = k.batch_id "
        f"WHERE k.shop_key = $1 AND i.rows < {_SMALL_ROWS} "
        f"AND k.batch_id NOT IN (SELECT p.batch_id {from_pending(sql_list(numbers))})",
        shop_key,
    )
    if last is not None:
        (before,) = kept_facts.read(connection, [shop_key], f"batch_id = {last}")
        kept = joined([before.facts, kept])
    rows = len(kept.sessions) + len(kept.steps) + len(kept.answers)
    if last is not None:
        connection.execute("UPDATE import_batch SET rows = $1 WHERE batch_id = $2", rows, last)
    else:
        last = connection.value(
            "INSERT INTO import_batch (shop_key, kind, rows, imported_at) VALUES ($1, $2, $3, $4) "
            "RETURNING batch_id",
            shop_key,
            KEPT_FACTS,
            rows,
            now_micros(),
        )
        applied = {"edition": numbers, "batch_id": [last] * len(numbers)}
        connection.append("edition_batch", pa.table(applied))
    kept_facts.write(connection, int(last), shop_key, kept)
