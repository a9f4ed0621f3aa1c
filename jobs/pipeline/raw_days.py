"""Raw events older than RAW_DAYS go, and every figure stays: facts are kept of them (`facts/kept_facts.py`).

Only events go that every edition of their shop has applied: for these editions nothing changes. Versions of
orders stay: any of them may stand again, and a later file must be compared with them.
"""

from functools import partial
from itertools import groupby
from operator import itemgetter
from typing import Final

import pyarrow as pa

from jobs.facts import kept_facts_io, read_raw
from jobs.facts.kept_facts import IDENTIFIERS, KeptFacts, keep
from jobs.pipeline import plan, removed_rows
from jobs.pipeline.removal import delete_staged_events, fence_all, keep_editions
from jobs.run.clock import now_micros
from jobs.run.console import say
from jobs.run.job_run import JobRun
from jobs.run.phases import phase
from warehouse import tables
from warehouse.connections.arrow import ArrowConnection
from warehouse.domain.time import iso_millis
from warehouse.domain.vocabulary import KEPT_FACTS
from warehouse.editions.leases import Claim
from warehouse.editions.pending_batches import is_applied, sql_list
from warehouse.operations import forgotten
from warehouse.operations.imports import WITHDRAWN

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
        "SELECT DISTINCT shop_key, batch_id FROM raw_event WHERE occurred_at < $1 "
        "ORDER BY shop_key, batch_id",
        before,
    ).to_pylist()
    run.connection.commit()
    for shop_key, rows in groupby(found, itemgetter("shop_key")):
        old = (
            f"occurred_at < {before} AND batch_id IN ({sql_list(row['batch_id'] for row in rows)})"
        )
        plan.while_shop_held(run, shop_key, partial(_purge, run, shop_key, old))
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


def _purge(run: JobRun, shop_key: int, old: str, held: Claim) -> None:
    """Purge the events of a shop that meet an SQL condition."""
    # Facts have no place for an address in another text: such a row stays, so that it can be forgotten.
    which = f"{old} AND NOT {forgotten.is_marked(tables.raw_event)} AND NOT ({_OF_WITHDRAWN})"
    which += "".join(f" AND {is_applied(edition.edition)}" for edition in held.editions)
    while held.editions and _purge_portion(run, held, shop_key, which):
        run.raise_if_stopped()


def _purge_portion(run: JobRun, held: Claim, shop_key: int, which: str) -> bool:
    """Purge some of the events; whether there may be more of them. Commits.

    Raises LeaseLost, with nothing written, if a lease was lost or the shop has another edition now.
    """
    connection, by_shop = run.connection, {shop_key: held.editions[0].edition}
    rows = removed_rows.stage(connection, tables.raw_event, shop_key, which)
    removed_rows.stage(connection, tables.raw_order, shop_key, "false")
    if not rows.num_rows:
        return False
    events = read_raw.read_events(connection, removed_rows.REMOVED_EVENT, by_shop)
    no_orders = read_raw.read_orders(connection, "false", by_shop)
    kept = keep(events, no_orders, rows.select(["event_id", *IDENTIFIERS]).to_pandas())
    connection.commit()
    fence_all(connection, held)
    # An undo begins under the same lock: it is seen here, or sees here what is gone.
    connection.lock_table("import_batch")
    if connection.value(f"SELECT 1 FROM removed_event WHERE {_OF_WITHDRAWN} LIMIT 1"):
        connection.rollback()
        return True
    keep_editions(connection, held, shop_key)
    _write(connection, held, shop_key, kept)
    connection.execute(
        "UPDATE import_batch SET purged = purged + (SELECT COUNT(*) FROM removed_event x "
        "WHERE x.batch_id = import_batch.batch_id) "
        "WHERE batch_id IN (SELECT batch_id FROM removed_event)"
    )
    delete_staged_events(connection)
    connection.commit()
    run.record.rows += rows.num_rows
    run.record.shops.add(shop_key)
    return rows.num_rows == removed_rows.portion_rows()


def _write(connection: ArrowConnection, held: Claim, shop_key: int, kept: KeptFacts) -> None:
    """Store kept facts as a batch that these editions have applied: they have its events."""
    batch_id = connection.value(
        "INSERT INTO import_batch (shop_key, kind, rows, imported_at) VALUES ($1, $2, $3, $4) "
        "RETURNING batch_id",
        shop_key,
        KEPT_FACTS,
        len(kept.sessions) + len(kept.steps) + len(kept.answers),
        now_micros(),
    )
    kept_facts_io.write(connection, batch_id, shop_key, kept)
    numbers = [edition.edition for edition in held.editions]
    applied = {"edition": numbers, "batch_id": [batch_id] * len(numbers)}
    connection.append("edition_batch", pa.table(applied))
