"""`run`: a job of the schedule, by hand."""

import click

from jobs.commands.run_within import run_within
from jobs.run.job_run import open_warehouse
from jobs.scheduler.schedule import schedule
from warehouse.intake.shop_pulls import JOB, Pull, list_pulls


def run_command(job: str) -> None:
    pulls: list[Pull] = []
    if job.startswith(JOB):
        with open_warehouse(creates=False) as connection:
            pulls = list_pulls(connection)
    jobs = {one.name: one for one in schedule(pulls)}
    if job not in jobs:
        raise click.BadArgumentUsage(f"no job {job!r}; there are {', '.join(jobs)}")
    run_within(*jobs[job].arguments)
