"""`scheduler`: the jobs of `schedule.py`, run by themselves until the process is told to end."""

import logging
import select
from datetime import UTC, datetime

import click
from apscheduler.schedulers.background import BackgroundScheduler

from jobs.clock import now_micros
from jobs.commands.shared import failures, in_one_line, warehouse
from jobs.ending import ending
from jobs.landing import folder
from jobs.schedule import Job, schedule
from jobs.telling import say
from jobs.turns import Turns
from warehouse import runs, settings
from warehouse.days import from_micros


@click.command("scheduler")
def scheduler_command() -> None:
    """Run the scheduled jobs until told to end: SIGTERM or Ctrl-C ends the one in hand after its
    batch, within ten seconds."""
    # That a job is still at it when its next turn comes is no news.
    logging.getLogger("apscheduler").setLevel(logging.ERROR)
    with failures():
        jobs = schedule()
        root = settings.IMPORT_DIR.get()
    with ending() as state:
        last = _last_starts()
        _make_landing(root)
        scheduler, turns = BackgroundScheduler(timezone=UTC), Turns(root)
        now = datetime.now(UTC)
        for job in jobs:
            # A run that was missed, or came while the one before still ran, is made up for once;
            # so is one that was missed while no scheduler ran.
            missed = job.name == "refresh" or _is_missed(job, last.get(job.name), now)
            scheduler.add_job(
                turns.take,
                job.trigger,
                [job],
                id=job.name,
                coalesce=True,
                max_instances=1,
                misfire_grace_time=None,
                next_run_time=now if missed else job.next_time(now),
            )
            say(f"{job.name}: jobs {' '.join(job.command)}, {job.when}")
        scheduler.start()
        select.select([state], [], [])
        say("ending")
        turns.end()
        scheduler.shutdown(wait=False)


def _last_starts() -> dict[str, datetime]:
    """When each job was run last; nothing where the warehouse does not answer just now."""
    try:
        with warehouse() as (bulk, _):
            found = runs.last_of_each(bulk, now_micros())
    except SystemExit:
        say("the jobs are tried all the same, when their time comes")
        return {}
    return {row["job"]: from_micros(row["started_at"]) for row in found}


def _is_missed(job: Job, last: datetime | None, now: datetime) -> bool:
    due = job.next_time(last) if last else None
    return due is not None and due <= now


def _make_landing(root: folder.Path) -> None:
    try:
        folder.make(root)
    except OSError as error:
        say(f"no landing folder: {in_one_line(error)}")
