"""Conditions of processes: schedulers, collectors, backups, pulls, and the import of landed files."""

import json
from collections.abc import Callable, Iterator
from typing import Final

from warehouse import command
from warehouse.domain.time import MICROS_PER_DAY
from warehouse.intake.shop_pulls import ERROR
from warehouse.operations.checks import MINUTE, At, Found, run_of, span, was_due
from warehouse.operations.job_runs import DONE, FAILED
from warehouse.operations.process_id import machine_of
from warehouse.operations.schedulers import ALIVE_MICROS, BACKUP

# How long a landed file may lie.
_LANDING_MICROS: Final = 10 * MINUTE
_NO_BACKUP_MICROS: Final = 2 * MICROS_PER_DAY
# Enough that each host's last run is among them.
_LANDING_RUNS: Final = 100
_SCHEDULED_PULLS: Final = (
    "SELECT name, schedule, set_up_at, ran_at FROM pull WHERE schedule <> '' ORDER BY name"
)


def no_scheduler(at: At) -> Iterator[Found]:
    """Check that a scheduler works. Rollups may be started by hand: a warehouse that no scheduler ever worked
    for needs none, unless a pull is due."""
    if at.schedulers:
        last = at.schedulers[0]
        if last["seen_at"] < at.now - ALIVE_MICROS and last["due_at"] < at.now:
            yield (
                "",
                f"no scheduler has been seen for {span(at.now - last['seen_at'])}, and its jobs are due. "
                f"Start it: `{command('jobs scheduler')}`; it makes up for what it missed",
                0,
            )
        return
    overdue = [
        pull
        for pull in at.query(_SCHEDULED_PULLS)
        if was_due(pull["schedule"], max(pull["set_up_at"], pull["ran_at"]), at.now - ALIVE_MICROS)
    ]
    if overdue:
        yield (
            "",
            f"the pull {overdue[0]['name']} is due, and no scheduler has ever been seen that would run it. "
            f"Start one: `{command('jobs scheduler')}`",
            0,
        )


def no_collector(at: At) -> Iterator[Found]:
    """Check that a collector works. While there are write keys, somebody may send by them."""
    rows = at.query(
        "SELECT host, seen_at FROM collector "
        f"WHERE EXISTS (SELECT 1 FROM write_key WHERE revoked_at > {at.now}) ORDER BY seen_at DESC"
    )
    for row in [*rows][:1]:
        if row["seen_at"] < at.now - ALIVE_MICROS:
            yield (
                "",
                f"no collector has been seen for {span(at.now - row['seen_at'])}, the last one on "
                f"{row['host']}; what pages send meanwhile is lost. Start it: `{command('web collect')}`. "
                "Where no page sends events any more, revoke the write keys: "
                f"`{command('web write-keys revoke')} KEY`",
                0,
            )


def no_backup(at: At) -> Iterator[Found]:
    """Check that backups are taken. Where they are rarer than daily, one is missed a day after it was due."""
    schedules = [job for one in at.schedulers for job in json.loads(one["schedule"])]
    crons = [job["cron"] for job in schedules if job["job"] == BACKUP]
    if not crons:
        return
    (run,) = at.query(
        f"SELECT MAX(CASE WHEN state = '{DONE}' THEN ended_at END) AS checked_at, "
        f"MIN(started_at) AS first_at FROM job_run WHERE job = '{BACKUP}'"
    )
    # Before the first one that was checked: since they are scheduled, or tried.
    started = [one["started_at"] for one in at.schedulers]
    since = run["checked_at"] or min(started + [run["first_at"]] * bool(run["first_at"]))
    is_old = since < at.now - _NO_BACKUP_MICROS
    if is_old and was_due(crons[0], since, at.now - MICROS_PER_DAY):
        yield (
            "",
            f"no backup was checked for {span(at.now - since)}, and they are scheduled. "
            f"`{command('jobs backup')}` takes one, or says why it cannot",
            0,
        )


def landing_waits(at: At) -> Iterator[Found]:
    for landing in at.landing:
        if 0 < landing.since < at.now - _LANDING_MICROS:
            files = "file waits" if landing.files == 1 else "files wait"
            yield (
                "",
                f"{landing.files} landed {files} in {landing.folder}, the oldest for "
                f"{span(at.now - landing.since)}. `{command('jobs landing')}` imports them; a running "
                "scheduler does so by itself",
                0,
            )


def landing_failed(at: At) -> Iterator[Found]:
    """Check the last import of each landing folder. A run whose process was killed is tried again by itself,
    and is given up after some tries. A host's run tells of its own folder alone."""
    runs = list(
        at.query(
            "SELECT owner, state, error FROM job_run WHERE job = 'landing' ORDER BY run_id DESC "
            f"LIMIT {_LANDING_RUNS}"
        )
    )
    for landing in at.landing:
        of_host = (run for run in runs if machine_of(run["owner"]) in landing.machines)
        last = next(of_host, None)
        if landing.files and last and last["state"] == FAILED:
            message = (
                f"the last import of landed files failed: {last['error']}; {landing.files} wait in "
                f"{landing.folder}. `{command('jobs run landing')}` tries them again and says more"
            )
            yield ("", message, 0)


def of_hosts(condition: str) -> Callable[[At], Iterator[Found]]:
    """The check of a condition that only a process of the host sees (`jobs/scheduler/host_findings.py`)."""
    return lambda at: (
        ("", message, 0)
        for landing in at.landing
        for name, message in landing.findings
        if name == condition
    )


def pull_failed(at: At) -> Iterator[Found]:
    pulls = at.query(
        "SELECT p.name, p.source, p.status, p.message, p.shop_key, COALESCE(r.run_id, 0) AS run_id "
        "FROM pull p LEFT JOIN job_run r ON r.state = 'running' AND r.started_at > p.set_up_at "
        "AND r.run_id = (SELECT MAX(run_id) FROM job_run WHERE job = 'pull:' || p.name) "
        f"WHERE {at.of_shops('p.shop_key')} ORDER BY p.name"
    )
    for pull in pulls:
        run = run_of(at, f"run_id = {pull['run_id']}") if pull["run_id"] else None
        killed = run["error"] if run and run["state"] == FAILED else ""
        if killed or pull["status"] == ERROR:
            yield (
                pull["name"],
                f"the last pull {pull['name']} failed: {killed or pull['message']}. Mend the reason; "
                f"`{command('jobs pull')} {pull['source']} --name {pull['name']}` tries it again",
                pull["shop_key"],
            )
