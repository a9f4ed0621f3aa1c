"""The state of the warehouse as `status` shows it, and which of it needs a person."""

from datetime import UTC
from pathlib import Path
from typing import Any

from jobs.importing.rejects import rejects_by_reason
from jobs.landing import folder
from jobs.landing.file_names import report_name
from jobs.pulls.stored_pulls import ERROR, Pull
from jobs.scheduler.schedule import Job
from warehouse.catalogue import LOGIC_VERSION
from warehouse.connections.arrow import ArrowConnection
from warehouse.domain.time import MICROS_PER_SECOND, NEVER, from_micros, iso_millis, to_micros
from warehouse.editions import editions, failed_batches, pending_batches
from warehouse.operations import job_runs

Row = dict[str, Any]

_SHOPS = """
SELECT s.shop_key, s.shop_id, s.timezone, s.edition,
  CAST(COALESCE((SELECT e.rolled_up_at FROM edition e WHERE e.edition = s.edition), 0) AS BIGINT)
    AS rolled_up_at,
  COALESCE((SELECT MAX(b.batch_id) FROM import_batch b WHERE b.shop_key = s.shop_key), 0) AS batch
FROM shop s ORDER BY s.shop_id
"""
_NONE_WAITING: Row = {"rows": 0, "batches": 0, "oldest": 0, "newest": 0}
# A whole one of any of these makes up for a failed nightly rollup.
_ROLLUPS = ("refresh", "rollup", "nightly")


def status(
    connection: ArrowConnection,
    window_days: int,
    jobs: tuple[Job, ...],
    pulls: list[Pull],
    root: Path,
    now: int,
) -> Row:
    """The report of `status --json`: instants as ISO 8601 texts (null: not yet), `problems` as texts.

    `root` is the landing folder. Commits.
    """
    shops = _shops(connection, window_days, now)
    runs = {row["job"]: _run(row) for row in job_runs.last_of_each(connection, now)}
    failing = [_failure(row) for row in failed_batches.list_failed(connection)]
    rejects = rejects_by_reason(connection)
    connection.commit()
    landing = _landing(root, runs.get("landing"))
    return {
        "problems": [
            *_set_aside(failing),
            *_failed_runs(runs),
            *_failed_pulls(pulls),
            *_landing_problems(landing, runs.get("landing")),
        ],
        "shops": shops,
        "queued": {
            "rows": sum(shop["waiting_rows"] for shop in shops),
            "batches": sum(shop["waiting_batches"] for shop in shops),
        },
        "failing": failing,
        "rejects": rejects,
        "runs": list(runs.values()),
        "verify": runs.get("verify"),
        "schedule": [_scheduled(job, now) for job in jobs],
        "landing": landing,
        "pulls": [_last_pull(pull) for pull in pulls],
    }


def _shops(connection: ArrowConnection, window_days: int, now: int) -> list[Row]:
    """The `state` of a shop is `none` before its first rollup, `building` while a new edition is
    filled, `outdated` if the next rollup will rebuild it, else `current`."""
    outdated = set(editions.outdated_shops(connection, window_days, LOGIC_VERSION))
    building = {
        edition.shop_key for edition in editions.list_editions(connection, editions.BUILDING)
    }
    waiting = {
        row["shop_key"]: row
        for row in connection.table(pending_batches.PENDING_BY_SHOP).to_pylist()
    }

    def state(row: Row) -> str:
        if row["shop_key"] in building:
            return "building"
        if not row["edition"]:
            return "none"
        return "outdated" if row["shop_key"] in outdated else "current"

    shops = []
    for row in connection.table(_SHOPS).to_pylist():
        queue = waiting.get(row["shop_key"], _NONE_WAITING)
        age = max(now - queue["oldest"], 0) // MICROS_PER_SECOND if queue["oldest"] else 0
        shops.append(
            {
                "shop_id": row["shop_id"],
                "timezone": row["timezone"],
                "state": state(row),
                "waiting_rows": queue["rows"],
                "waiting_batches": queue["batches"],
                "lag_seconds": age,
                "newest_waiting_at": _iso(queue["newest"]),
                "last_rollup_at": _iso(row["rolled_up_at"]),
                "newest_batch": _batch(connection, row["batch"]),
            }
        )
    return shops


def _batch(connection: ArrowConnection, batch_id: int) -> Row | None:
    rows: list[Row] = connection.table(
        "SELECT batch_id, kind, rows, imported_at FROM import_batch WHERE batch_id = $1", batch_id
    ).to_pylist()
    return rows[0] | {"imported_at": _iso(rows[0]["imported_at"])} if rows else None


def _run(row: Row) -> Row:
    shown = {name: value for name, value in row.items() if name not in ("run_id", "seen_at")}
    return shown | {name: _iso(row[name]) for name in ("started_at", "ended_at")}


def _failure(row: Row) -> Row:
    set_aside = row["retry_at"] == NEVER
    return row | {
        "failed_at": _iso(row["failed_at"]),
        "retry_at": None if set_aside else _iso(row["retry_at"]),
        "set_aside": set_aside,
    }


def _scheduled(job: Job, now: int) -> Row:
    following = job.next_time(from_micros(now))
    return {
        "job": job.name,
        "command": " ".join(job.command),
        "when": job.when,
        "next_at": _iso(to_micros(following.astimezone(UTC))) if following else None,
    }


def _set_aside(failing: list[Row]) -> list[str]:
    return [
        f"batch {row['batch_id']} of {row['shop_id']} is set aside after {row['attempts']} attempts "
        f"({row['error']}); its {row['rows']} rows are in no answer. Report the error. When its cause "
        "is fixed, run `python -m jobs rollup`, which tries the batch again"
        for row in failing
        if row["set_aside"]
    ]


def _failed_runs(runs: dict[str, Row]) -> list[str]:
    problems = []
    verify, nightly = runs.get("verify"), runs.get("nightly")
    if verify and verify["state"] == job_runs.FAILED:
        problems.append(f"the last verify failed: {verify['error']}")
    whole = [
        run["started_at"]
        for job, run in runs.items()
        if job in _ROLLUPS and run["state"] == job_runs.DONE and not run["arguments"]
    ]
    if (
        nightly
        and nightly["state"] == job_runs.FAILED
        and max(whole, default="") < nightly["started_at"]
    ):
        problems.append(f"the last nightly rollup failed: {nightly['error']}")
    return problems


def _failed_pulls(pulls: list[Pull]) -> list[str]:
    return [
        f"the last pull {pull.name} failed: {pull.message}. Mend the reason; "
        f"`python -m jobs pull {pull.source} --name {pull.name}` tries it again"
        for pull in pulls
        if pull.status == ERROR
    ]


def _last_pull(pull: Pull) -> Row:
    """The last run of a pull that ended by itself; `status` is "" before the first."""
    return {
        "name": pull.name,
        "source": pull.source,
        "shop_id": pull.shop_id or None,
        "schedule": pull.schedule or None,
        "ran_at": _iso(pull.ran_at),
        "status": pull.status,
        "message": pull.message,
        "rows": pull.rows,
        "bytes": pull.bytes,
    }


def _landing(root: Path, run: Row | None) -> Row:
    survey = folder.survey(root)
    claim = run["arguments"] if run and run["state"] == job_runs.RUNNING else ""
    return {
        "folder": str(root),
        "waiting": [str(file.path) for file in survey.files if file.claim != claim],
        "in_hand": [str(file.path) for file in survey.files if file.claim == claim],
        "failed": [str(path) for path in folder.failed(root, survey.places)],
        "left_alone": survey.left_alone,
    }


def _landing_problems(landing: Row, run: Row | None) -> list[str]:
    problems = [_failed_file(Path(path)) for path in landing["failed"]]
    if landing["waiting"] and run and run["state"] == job_runs.FAILED:
        problems.append(
            f"the last import of landed files failed: {run['error']}; {len(landing['waiting'])} wait in "
            f"{landing['folder']}. `python -m jobs run landing` tries them again and says more"
        )
    problems += [
        f"left alone: {left}. Take it away, or make it a plain file or folder that the service can read"
        for left in landing["left_alone"]
    ]
    return problems


def _failed_file(path: Path) -> str:
    return (
        f"{path} could not be imported; {path.with_name(report_name(path.name))} says why. Correct the "
        f"file and move it back to {path.parent.parent}, or delete it"
    )


def _iso(instant: int) -> str | None:
    return iso_millis(instant) if instant else None
