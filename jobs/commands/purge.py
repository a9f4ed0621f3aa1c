"""`purge`: what is kept for some days only."""

import click

from jobs.clock import now_micros
from jobs.importing.rejects import purge_rejects
from jobs.running import running
from warehouse import runs, settings


@click.command("purge")
def purge_command() -> None:
    """Delete rejects older than REJECTS_DAYS and records of runs older than RUNS_DAYS."""
    with running("purge") as run:
        purge_rejects(run.bulk, now_micros(), settings.REJECTS_DAYS.get())
        run.record.rows = runs.purge(run.bulk, now_micros(), settings.RUNS_DAYS.get())
        click.echo(f"purged {run.record.rows} records of runs")
