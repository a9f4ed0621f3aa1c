"""How far the warehouse is: what came last, what waits, what failed, what ran and runs next; and which
of it needs a person."""

from datetime import UTC
from pathlib import Path
from typing import Any

from jobs.landing import folder
from jobs.schedule import Job
from warehouse import editions, failures, queue, runs
from warehouse.bulk import Bulk
from warehouse.catalogue import LOGIC_VERSION
from warehouse.days import MICROS_PER_SECOND, NEVER, from_micros, iso_millis, to_micros

Row = dict[str, Any]

_SHOPS = """
SELECT s.shop_key, s.shop_id, s.timezone, s.edition,
  CAST(COALESCE((SELECT e.rolled_up_at FROM edition e WHERE e.edition = s.edition), 0) AS BIGINT)
    AS rolled_up_at,
  COALESCE((SELECT MAX(b.batch_id) FROM import_batch b WHERE b.shop_key = s.shop_key), 0) AS batch
FROM shop s ORDER BY s.shop_id
"""

_NOTHING: Row = {"rows": 0, "batches": 0, "oldest": 0, "newest": 0}


def status(bulk: Bulk, window_days: int, jobs: tuple[Job, ...], root: Path, now: int) -> Row:
    """Everything that `status` tells, as JSON has it: times as ISO 8601 texts (null where nothing
    has happened), `problems` the texts of what needs a person."""
    shops = _shops(bulk, window_days, now)
    ran = {row["job"]: _run(row) for row in runs.last_of_each(bulk, now)}
    failing = [_failure(row) for row in failures.failing(bulk)]
    rejects = bulk.table(
        "SELECT kind, reason, COUNT(*) AS rows FROM reject GROUP BY kind, reason "
        "ORDER BY rows DESC, kind, reason"
    ).to_pylist()
    bulk.commit()
    landing = {
        "folder": str(root),
        "waiting": [str(found.path) for found in folder.look(root)],
        "in_hand": [str(path) for path in folder.in_hand(root)],
        "failed": [str(path) for path in folder.failed(root)],
        "left_alone": folder.strays(root),
    }
    return {
        "problems": _problems(failing, ran, landing),
        "shops": shops,
        "queued": {
            "rows": sum(shop["waiting_rows"] for shop in shops),
            "batches": sum(shop["waiting_batches"] for shop in shops),
        },
        "failing": failing,
        "rejects": rejects,
        "runs": list(ran.values()),
        "verify": ran.get("verify"),
        "schedule": [_line(job, now) for job in jobs],
        "landing": landing,
    }


def _shops(bulk: Bulk, window_days: int, now: int) -> list[Row]:
    """The state of a shop is `none` before its first rollup, `building` while another edition is
    being filled, `outdated` where the next rollup will build it anew, else `current`."""
    outdated = set(editions.outdated(bulk, window_days, LOGIC_VERSION))
    building = {one.shop_key for one in editions.editions(bulk, editions.BUILDING)}
    waiting = {row["shop_key"]: row for row in bulk.table(queue.WAITING).to_pylist()}
    shops = []
    for row in bulk.table(_SHOPS).to_pylist():
        waits = waiting.get(row["shop_key"], _NOTHING)
        age = max(now - waits["oldest"], 0) // MICROS_PER_SECOND if waits["oldest"] else 0
        shops.append(
            {
                "shop_id": row["shop_id"],
                "timezone": row["timezone"],
                "state": _state(row, building, outdated),
                "waiting_rows": waits["rows"],
                "waiting_batches": waits["batches"],
                "lag_seconds": age,
                "newest_waiting_at": _written(waits["newest"]),
                "last_rollup_at": _written(row["rolled_up_at"]),
                "newest_batch": _batch(bulk, row["batch"]),
            }
        )
    return shops


def _state(row: Row, building: set[int], outdated: set[int]) -> str:
    if row["shop_key"] in building:
        return "building"
    if not row["edition"]:
        return "none"
    return "outdated" if row["shop_key"] in outdated else "current"


def _batch(bulk: Bulk, batch: int) -> Row | None:
    found = bulk.table(
        "SELECT batch_id, kind, rows, imported_at FROM import_batch WHERE batch_id = $1", batch
    ).to_pylist()
    return {**found[0], "imported_at": _written(found[0]["imported_at"])} if found else None


def _run(row: Row) -> Row:
    times = ("started_at", "ended_at")
    kept = {name: value for name, value in row.items() if name not in ("run_id", "seen_at")}
    return kept | {name: _written(row[name]) for name in times}


def _failure(row: Row) -> Row:
    aside = row["retry_at"] == NEVER
    return row | {
        "failed_at": _written(row["failed_at"]),
        "retry_at": None if aside else _written(row["retry_at"]),
        "set_aside": aside,
    }


def _line(job: Job, now: int) -> Row:
    following = job.next_time(from_micros(now))
    return {
        "job": job.name,
        "command": " ".join(job.command),
        "when": job.when,
        "next_at": _written(to_micros(following.astimezone(UTC))) if following else None,
    }


def _problems(failing: list[Row], ran: dict[str, Row], landing: Row) -> list[str]:
    found = [
        f"batch {row['batch_id']} of {row['shop_id']} is set aside after {row['tries']} tries "
        f"({row['error']}): its {row['rows']} rows are in no answer. Report the error; once its "
        "cause is mended, `python -m jobs rollup` tries it again"
        for row in failing
        if row["set_aside"]
    ]
    verify, nightly = ran.get("verify"), ran.get("nightly")
    if verify and verify["state"] == runs.FAILED:
        found.append(f"the last verify failed: {verify['error']}")
    since = max(
        (
            row["started_at"]
            for job in ("refresh", "rollup", "nightly")
            if (row := ran.get(job)) and row["state"] == runs.DONE and not row["words"]
        ),
        default="",
    )
    if nightly and nightly["state"] == runs.FAILED and since < nightly["started_at"]:
        found.append(f"the last nightly rollup failed: {nightly['error']}")
    found += [
        f"{path} could not be imported: see {path}{folder.REPORT}; mended, move it back to "
        f"{Path(path).parent.parent}, or else delete it"
        for path in landing["failed"]
    ]
    return found


def _written(instant: int) -> str | None:
    return iso_millis(instant) if instant else None
