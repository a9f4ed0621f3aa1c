"""The state of the warehouse as `status` shows it, and which of it needs a person."""

from dataclasses import asdict
from datetime import UTC
from pathlib import Path
from typing import Any

from jobs.importing.rejects import rejects_by_reason
from jobs.landing import folder
from jobs.run.errors import CommandFailed
from jobs.scheduler import host_findings
from jobs.scheduler.schedule import Job, schedule, stored_job
from jobs.scheduler.scheduler_heartbeat import claim_in_hand, waiting_files
from warehouse import command, settings
from warehouse.catalogue import LOGIC_VERSION
from warehouse.connections.arrow import ArrowConnection
from warehouse.connections.engine import display_url
from warehouse.domain.time import MICROS_PER_SECOND, NEVER, from_micros, iso_millis, to_micros
from warehouse.domain.vocabulary import KEPT_FACTS
from warehouse.editions import editions, failed_batches, pending_batches
from warehouse.intake.shop_pulls import Pull, list_pulls
from warehouse.operations import conditions, job_runs, schedulers, tasks
from warehouse.operations.process_id import display_name
from warehouse.operations.schedulers import Landing

Row = dict[str, Any]

_SHOPS = f"""
SELECT s.shop_key, s.shop_id, s.timezone, s.edition,
  CAST(COALESCE((SELECT e.rolled_up_at FROM edition e WHERE e.edition = s.edition), 0) AS BIGINT)
    AS rolled_up_at,
  CAST(COALESCE((SELECT e.outdated_at FROM edition e WHERE e.edition = s.edition), 0) AS BIGINT)
    AS outdated_at,
  n.batch_id, n.kind, n.rows + n.purged AS rows, n.imported_at
FROM shop s LEFT JOIN import_batch n ON n.batch_id = (SELECT b.batch_id FROM import_batch b
  WHERE b.shop_key = s.shop_key AND b.kind <> '{KEPT_FACTS}' ORDER BY b.batch_id DESC LIMIT 1)
ORDER BY s.shop_id
"""
_NONE_WAITING: Row = {"rows": 0, "batches": 0, "oldest": 0, "newest": 0}


def status(connection: ArrowConnection, window_days: int, root: Path, now: int) -> Row:
    """The report of `status --json`: instants as ISO 8601 texts (null: not yet), `problems` as texts.

    `root` is the landing folder. Where no scheduler runs, the schedule is that of one that is started here.
    Commits.
    """
    shops = _shops(connection, window_days, now)
    runs = {}
    for row in job_runs.last_of_each(connection, now):
        shown = {name: value for name, value in row.items() if name not in ("run_id", "seen_at")}
        times = {name: _iso(row[name]) for name in ("started_at", "ended_at")}
        runs[row["job"]] = shown | times
    failing = []
    for row in failed_batches.list_failed(connection):
        is_set_aside = row["retry_at"] == NEVER
        retry_at = None if is_set_aside else _iso(row["retry_at"])
        times = {"failed_at": _iso(row["failed_at"]), "retry_at": retry_at}
        failing.append(row | times | {"set_aside": is_set_aside})
    rejects = [
        {name: reason[name] for name in ("kind", "code", "reason", "rows")}
        for reason in rejects_by_reason(connection)
    ]
    pulls = list_pulls(connection)
    known = schedulers.list_schedulers(connection)
    working = schedulers.alive(known, now)
    landing = _landing(connection, root)
    findings = conditions.find(
        lambda sql: connection.table(sql).to_pylist(),
        now,
        settings.REFRESH_MINUTES.get(),
        own_landing=Landing(
            str(root), len(landing["waiting"]), landing.pop("since"), landing.pop("findings")
        ),
    )
    connection.commit()
    jobs = map(stored_job, working[0].schedule) if working else schedule(pulls)
    return {
        "warehouse": display_url(connection.url),
        "problems": [finding.message for finding in findings],
        "conditions": [asdict(finding) for finding in findings],
        "shops": shops,
        "queued": {
            "rows": sum(shop["waiting_rows"] for shop in shops),
            "batches": sum(shop["waiting_batches"] for shop in shops),
        },
        "failing": failing,
        "tasks": [one | {"asked_at": _iso(one["asked_at"])} for one in tasks.listed(connection)],
        "rejects": rejects,
        "runs": list(runs.values()),
        "verify": runs.get("verify"),
        "schedulers": [
            {
                "scheduler": display_name(one.owner),
                "is_working": one in working,
                "started_at": _iso(one.started_at),
                "seen_at": _iso(one.seen_at),
                "landing_folder": one.landing_folder,
            }
            for one in known
        ],
        "schedule": [_scheduled(job, now) for job in jobs],
        "landing": landing,
        "pulls": [_last_pull(pull) for pull in pulls],
    }


def of_shop(report: Row, shop_id: str) -> Row:
    """The part of a report about one shop. Raises CommandFailed for a shop that it does not have."""
    shops = [shop for shop in report["shops"] if shop["shop_id"] == shop_id]
    if not shops:
        raise CommandFailed(
            f"no shop {shop_id!r}; `{command('web shops list')}` shows those there are"
        )
    pulls = [pull for pull in report["pulls"] if pull["shop_id"] == shop_id]
    subjects = {shop_id, *(pull["name"] for pull in pulls)}
    found = [finding for finding in report["conditions"] if finding["subject"] in subjects]
    return {
        "warehouse": report["warehouse"],
        "problems": [finding["message"] for finding in found],
        "conditions": found,
        "shops": shops,
        **{
            name: [one for one in report[name] if one["shop_id"] == shop_id]
            for name in ("failing", "tasks")
        },
        "pulls": pulls,
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
        for row in connection.table(pending_batches.WAITING_BY_SHOP).to_pylist()
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
        newest = None
        if row["batch_id"] is not None:
            newest = {name: row[name] for name in ("batch_id", "kind", "rows")}
            newest["imported_at"] = _iso(row["imported_at"])
        shops.append(
            {
                "shop_id": row["shop_id"],
                "timezone": row["timezone"],
                "state": state(row),
                "recomputing_since": _iso(row["outdated_at"] if row["shop_key"] in outdated else 0),
                "waiting_rows": queue["rows"],
                "waiting_batches": queue["batches"],
                "lag_seconds": age,
                "newest_waiting_at": _iso(queue["newest"]),
                "last_rollup_at": _iso(row["rolled_up_at"]),
                "newest_batch": newest,
            }
        )
    return shops


def _scheduled(job: Job, now: int) -> Row:
    following = job.next_time(from_micros(now))
    return {
        "job": job.name,
        "command": " ".join(job.command),
        "when": job.when,
        "next_at": _iso(to_micros(following.astimezone(UTC))) if following else None,
    }


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


def _landing(connection: ArrowConnection, root: Path) -> Row:
    """`since`: when the oldest file that waits landed; `findings`: as in `Landing`."""
    survey, claim = folder.survey(root), claim_in_hand(connection)
    waiting, since = waiting_files(survey, claim)
    return {
        "folder": str(root),
        "waiting": [str(file.path) for file in waiting],
        "in_hand": [str(file.path) for file in survey.files if file.claim == claim],
        "failed": [str(path) for path in folder.failed(root, survey.places)],
        "left_alone": survey.left_alone,
        "since": since,
        "findings": host_findings.find(root, survey, connection),
    }


def _iso(instant: int) -> str | None:
    return iso_millis(instant) if instant else None
