"""`run`: a job of the schedule, by hand."""

import click

from jobs.commands.run_within import run_within
from jobs.run.job_run import open_warehouse
from jobs.scheduler.schedule import pull_jobs, schedule
from warehouse.operations.shop_pulls import JOB, list_pulls


def run_command(job: str) -> None:
    jobs = {job.name: job for job in schedule()}
    if job.startswith(JOB):
        with open_warehouse(creates=False) as connection:
            jobs |= {job.name: job for job in pull_jobs(list_pulls(connection))}
    if job not in jobs:
        raise click.BadArgumentUsage(f"no job {job!r}; there are {', '.join(jobs)}")
    run_within(*jobs[job].arguments)
