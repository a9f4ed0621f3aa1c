"""`purge`: what is kept for some days only."""

import click

from jobs.clock import now_micros
from jobs.importing.rejects import purge_rejects
from jobs.running import running
from warehouse import runs, settings
from warehouse.bulk import Bulk
from warehouse.days import MICROS_PER_SECOND
from warehouse.vocabulary import IDEMPOTENCY_HOURS


@click.command("purge")
def purge_command() -> None:
    """Delete rejects older than REJECTS_DAYS, records of runs older than RUNS_DAYS, and the
    `Idempotency-Key`s that no longer count."""
    with running("purge") as run:
        purge_rejects(run.bulk, now_micros(), settings.REJECTS_DAYS.get())
        _purge_idempotency_keys(run.bulk, now_micros())
        run.record.rows = runs.purge(run.bulk, now_micros(), settings.RUNS_DAYS.get())
        click.echo(f"purged {run.record.rows} records of runs")


def _purge_idempotency_keys(bulk: Bulk, now: int) -> None:
    forgotten = now - IDEMPOTENCY_HOURS * 3600 * MICROS_PER_SECOND
    bulk.execute("DELETE FROM form_creation WHERE created_at <= $1", forgotten)
    bulk.commit()
