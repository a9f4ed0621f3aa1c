"""`purge`: delete what is kept for some days only."""

import click

from jobs.commands.options import scheduled_as_option
from jobs.importing.rejects import purge_rejects
from jobs.run.clock import now_micros
from jobs.run.console import report
from jobs.run.job_run import JobRun
from warehouse import settings
from warehouse.connections.arrow import ArrowConnection
from warehouse.domain.time import MICROS_PER_SECOND
from warehouse.domain.vocabulary import IDEMPOTENCY_HOURS
from warehouse.operations import job_runs


@click.command("purge")
@scheduled_as_option
def purge_command(scheduled_as: str | None) -> None:
    """Delete rejects older than REJECTS_DAYS, records of runs older than RUNS_DAYS, and expired
    Idempotency-Keys."""
    with JobRun("purge", scheduled_as=scheduled_as) as run:
        purge_rejects(run.connection, now_micros(), settings.REJECTS_DAYS.get())
        _purge_idempotency_keys(run.connection, now_micros())
        run.record.rows = job_runs.purge(run.connection, now_micros(), settings.RUNS_DAYS.get())
        report(f"purged {run.record.rows} records of runs")


def _purge_idempotency_keys(connection: ArrowConnection, now: int) -> None:
    """Commits."""
    expired = now - IDEMPOTENCY_HOURS * 3600 * MICROS_PER_SECOND
    connection.execute("DELETE FROM form_creation WHERE created_at <= $1", expired)
    connection.commit()
