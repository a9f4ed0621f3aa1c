"""Conditions of figures: rows that are in none yet, and figures that differ from their rows."""

import json
from collections.abc import Iterator
from typing import Final

from warehouse import command
from warehouse.domain.time import NEVER
from warehouse.editions.failed_batches import FROM_SET_ASIDE
from warehouse.editions.pending_batches import from_waiting
from warehouse.operations.checks import At, Found, last_run, span
from warehouse.operations.job_runs import DONE, FAILED
from warehouse.operations.schedulers import REFRESH
from warehouse.operations.tasks import GIVEN_UP, UNDO

MISSED_REFRESHES: Final = 3
"""Refreshes that may be missing before somebody should look."""


def set_aside(at: At) -> Iterator[Found]:
    rows = at.query(
        "SELECT q.shop_id, q.shop_key, b.batch_id, b.rows, q.attempts, q.error FROM (SELECT s.shop_id, "
        f"s.shop_key, f.batch_id, f.attempts, f.error {FROM_SET_ASIDE} AND {at.of_shops()}) q "
        "JOIN import_batch b ON b.batch_id = q.batch_id "
        "WHERE b.rows > 0 ORDER BY q.shop_id, b.batch_id"
    )
    for row in rows:
        yield (
            row["shop_id"],
            f"batch {row['batch_id']} of {row['shop_id']} is set aside after {row['attempts']} attempts "
            f"({row['error']}); its {row['rows']} rows are in no answer. Report the error. When its cause "
            f"is fixed, run `{command('jobs rollup')}`, which tries the batch again",
            row["shop_key"],
        )


def removal_failed(at: At) -> Iterator[Found]:
    rows = at.query(
        "SELECT s.shop_id, s.shop_key, t.kind, t.item, t.result FROM task t "
        f"LEFT JOIN shop s ON s.shop_key = t.shop_key WHERE {GIVEN_UP} AND {at.of_shops()} "
        "ORDER BY s.shop_id, t.subject"
    )
    for row in rows:
        shop = row["shop_id"] or "several shops"
        what, again = f"forget persons of {shop}", f"ask again, or run `{command('jobs forget')}`"
        if row["kind"] == UNDO:
            what = f"undo import {row['item']} of {shop}"
            again = f"run `{command('jobs imports')} undo {row['item']}`"
        yield (
            row["shop_id"] or "",
            f"could not {what} ({json.loads(row['result'])['reason']}); the figures stay as they are. "
            f"Report the reason. When its cause is fixed, {again}",
            row["shop_key"] or 0,
        )


def verify_failed(at: At) -> Iterator[Found]:
    differing = list(
        at.query(
            "SELECT s.shop_id, s.shop_key, e.differing_rows FROM shop s JOIN edition e "
            f"ON e.edition = s.edition WHERE e.differing_rows > 0 AND {at.of_shops()} ORDER BY s.shop_id"
        )
    )
    for row in differing:
        yield (
            row["shop_id"],
            f"the last verify failed: {row['differing_rows']} stored rows of {row['shop_id']} differ from "
            f"its raw rows. Run `{command('jobs rebuild')}`, then `{command('jobs verify')}`, and report "
            "what happened before",
            row["shop_key"],
        )
    last = last_run(at, "verify") if at.shops is None else None
    if last and last["state"] == FAILED and not differing:
        message = (
            f"the last verify failed: {last['error']}. `{command('jobs verify')}` tries it again"
        )
        yield ("", message, 0)


def nightly_failed(at: At) -> Iterator[Found]:
    """Check the last nightly rollup. A whole rollup makes up for one that failed."""
    nightly = last_run(at, "nightly")
    if not nightly or nightly["state"] != FAILED:
        return
    others = [run for job in (REFRESH, "rollup") if (run := last_run(at, job))]
    whole = [run["started_at"] for run in others if run["state"] == DONE and not run["arguments"]]
    if max(whole, default=0) < nightly["started_at"]:
        message = (
            f"the last nightly rollup failed: {nightly['error']}. Mend the reason, then run "
            f"`{command('jobs rollup')}`"
        )
        yield ("", message, 0)


def backlog(at: At) -> Iterator[Found]:
    """Check the rows that wait. Batches that are set aside have another condition; those whose rows were all
    taken back have nothing that waits."""
    rows = at.query(
        "SELECT s.shop_id, s.shop_key, MIN(p.imported_at) AS oldest, CAST(SUM(p.rows) AS BIGINT) AS rows "
        f"{from_waiting(at.of_shops())} JOIN shop s ON s.shop_key = p.shop_key "
        f"WHERE p.retry_at < {NEVER} AND p.rows > 0 GROUP BY s.shop_id, s.shop_key "
        f"HAVING MIN(p.imported_at) < {at.now - MISSED_REFRESHES * at.refresh} "
        "ORDER BY oldest, s.shop_id"
    )
    for row in rows:
        yield (
            row["shop_id"],
            f"{row['rows']} rows of {row['shop_id']} are not in the figures, the oldest for "
            f"{span(at.now - row['oldest'])}. `{command('jobs rollup')}` computes them; a running scheduler "
            "does so by itself",
            row["shop_key"],
        )
