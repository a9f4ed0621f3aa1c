"""`scheduler`: run the jobs of the schedule until the process is stopped."""

import logging
from datetime import UTC, datetime
from pathlib import Path

import click
from apscheduler.schedulers.background import BackgroundScheduler

from jobs.landing import folder
from jobs.run.clock import now_micros
from jobs.run.console import log_as, say
from jobs.run.errors import in_one_line
from jobs.run.job_run import open_warehouse
from jobs.run.signals import graceful_stop, wait_for_signal
from jobs.scheduler.child_processes import KILL_AFTER_SECONDS, ChildProcesses
from jobs.scheduler.schedule import Job, schedule
from warehouse import settings
from warehouse.domain.time import from_micros
from warehouse.operations import job_runs


@click.command("scheduler")
def scheduler_command() -> None:
    """Run the scheduled jobs until stopped.

    SIGTERM or Ctrl-C stops it within ten seconds: the current job ends after its batch.
    """
    # It warns when a job is due while its last run still goes on, which is ordinary here.
    logging.getLogger("apscheduler").setLevel(logging.ERROR)
    jobs, landing = schedule(), settings.IMPORT_DIR.get()
    log_as("scheduler")
    click.get_current_context().call_on_close(lambda: log_as(""))
    last = _last_starts()
    _make_landing(landing)
    children = ChildProcesses(landing)
    scheduler = BackgroundScheduler(timezone=UTC)
    now = from_micros(now_micros())
    for job in jobs:
        # A run that was missed is made up for once: because the last one took too long, or because no
        # scheduler was running.
        at_once = job.name == "refresh" or _is_missed(job, last.get(job.name), now)
        scheduler.add_job(
            children.run,
            job.trigger,
            [job],
            id=job.name,
            coalesce=True,
            max_instances=1,
            misfire_grace_time=None,
            next_run_time=now if at_once else job.next_time(now),
        )
        say(f"{job.name}: jobs {' '.join(job.command)}, {job.when}")
    with graceful_stop(lambda: None, seconds=KILL_AFTER_SECONDS + 1):
        scheduler.start()
        wait_for_signal()
        children.stop()
        scheduler.shutdown(wait=False)


def _last_starts() -> dict[str, datetime]:
    """When each job last started; {} if the warehouse does not answer now."""
    try:
        with open_warehouse() as connection:
            runs = job_runs.last_of_each(connection, now_micros())
    except Exception as error:
        say(
            f"the warehouse does not answer now: {in_one_line(error)}; jobs start when they are due"
        )
        return {}
    return {run["job"]: from_micros(run["started_at"]) for run in runs}


def _is_missed(job: Job, last: datetime | None, now: datetime) -> bool:
    due = job.next_time(last) if last else None
    return due is not None and due <= now


def _make_landing(landing: Path) -> None:
    try:
        folder.make(landing)
    except OSError as error:
        say(f"cannot make the landing folder: {in_one_line(error)}")
