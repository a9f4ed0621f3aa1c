"""`purge`: delete what is kept for some days only."""

from jobs.importing.rejects import purge_rejects
from jobs.importing.undo import purge_imports
from jobs.landing.dropped import purge_dropped
from jobs.landing.folder import purge_own
from jobs.pipeline.joined_batches import join_batches
from jobs.pipeline.raw_days import purge_events
from jobs.run.console import report
from jobs.run.job_run import JobRun
from warehouse import settings
from warehouse.connections.arrow import ArrowConnection
from warehouse.domain.time import MICROS_PER_DAY, MICROS_PER_SECOND, now_micros
from warehouse.domain.vocabulary import IDEMPOTENCY_HOURS
from warehouse.forms.form_sightings import KEPT_DAYS
from warehouse.intake import dropped_files
from warehouse.operations import job_runs
from warehouse.tenants.deletion import finish_deletions


def purge_command(scheduled_as: str | None) -> None:
    with JobRun("purge", scheduled_as=scheduled_as) as run:
        purge_rejects(run.connection, now_micros(), settings.REJECTS_DAYS.get())
        purge_imports(run.connection, now_micros(), settings.IMPORTS_DAYS.get())
        _purge_idempotency_keys(run.connection, now_micros())
        _purge_audit_events(
            run.connection, now_micros() - settings.AUDIT_DAYS.get() * MICROS_PER_DAY
        )
        finish_deletions(run.connection, now_micros())
        runs = job_runs.purge(run.connection, now_micros(), settings.RUNS_DAYS.get())
        days = settings.RAW_DAYS.get()
        events = purge_events(run, now_micros() - days * MICROS_PER_DAY) if days else 0
        join_batches(run)
        _purge_collectors(run.connection)
        _purge_sightings(run.connection, now_micros() - KEPT_DAYS * MICROS_PER_DAY)
        now = now_micros()
        root = settings.IMPORT_DIR.get()
        files = purge_own(root, now / MICROS_PER_SECOND, settings.LANDED_DAYS.get())
        dropped_before = now - dropped_files.KEPT_MICROS
        undoable_since = now - settings.IMPORTS_DAYS.get() * MICROS_PER_DAY
        dropped_files.purge(run.connection, dropped_before, undoable_since)
        files += purge_dropped(root, dropped_before / MICROS_PER_SECOND)
        # A scheduler's log tells what happened, not that nothing did.
        if events or runs or files or not scheduled_as:
            report(f"purged {events} events, {runs} records of runs, {files} files")


def _purge_collectors(connection: ArrowConnection) -> None:
    """Forget the hosts that were not seen for a day before the last one: a container has a name of its own at
    each start. Commits."""
    connection.execute(
        f"DELETE FROM collector WHERE seen_at < (SELECT MAX(seen_at) FROM collector) - {MICROS_PER_DAY}"
    )
    connection.commit()


def _purge_sightings(connection: ArrowConnection, before: int) -> None:
    """Commits."""
    connection.execute("DELETE FROM form_sighting WHERE seen_at < $1", before)
    connection.commit()


def _purge_idempotency_keys(connection: ArrowConnection, now: int) -> None:
    """Commits."""
    expired = now - IDEMPOTENCY_HOURS * 3600 * MICROS_PER_SECOND
    connection.execute("DELETE FROM form_creation WHERE created_at <= $1", expired)
    connection.commit()


def _purge_audit_events(connection: ArrowConnection, before: int) -> None:
    """Commits."""
    connection.execute("DELETE FROM audit_event WHERE at < $1", before)
    connection.commit()
