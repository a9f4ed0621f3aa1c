"""`scheduler`: the jobs of `schedule.py`, run by themselves until the process is told to end."""

import signal
import subprocess
import sys
from types import FrameType

import click
from apscheduler.schedulers.blocking import BlockingScheduler

from jobs.commands.shared import failures, say
from jobs.schedule import Job, schedule


@click.command("scheduler")
def scheduler_command() -> None:
    """Run the scheduled jobs until told to end (SIGTERM or Ctrl-C finishes the one in hand)."""
    with failures():
        jobs = schedule()
    scheduler = BlockingScheduler(timezone="UTC")
    for job in jobs:
        # A run that was missed, or came while the one before still ran, is made up for once.
        scheduler.add_job(
            _run,
            job.trigger,
            [job],
            id=job.name,
            coalesce=True,
            max_instances=1,
            misfire_grace_time=None,
        )
        say(f"{job.name}: jobs {' '.join(job.command)}, {job.trigger}")

    def stop(_signal: int, _frame: FrameType | None) -> None:
        scheduler.shutdown(wait=False)

    signal.signal(signal.SIGTERM, stop)
    signal.signal(signal.SIGINT, stop)
    scheduler.start()


def _run(job: Job) -> None:
    done = subprocess.run([sys.executable, "-m", "jobs", *job.command], check=False)
    if done.returncode:
        say(f"{job.name}: exit status {done.returncode}")
