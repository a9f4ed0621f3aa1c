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
        now, day = now_micros(), MICROS_PER_DAY
        for table, is_old in (
            (
                "form_creation",
                f"created_at <= {now - IDEMPOTENCY_HOURS * 3600 * MICROS_PER_SECOND}",
            ),
            ("audit_event", f"at < {now - settings.AUDIT_DAYS.get() * day}"),
            ("form_sighting", f"seen_at < {now - KEPT_DAYS * day}"),
            # Hosts that were not seen for a day before the last one: a container has a new name each time.
            ("collector", f"seen_at < (SELECT MAX(seen_at) FROM collector) - {day}"),
        ):
            run.connection.execute(f"DELETE FROM {table} WHERE {is_old}")
            run.connection.commit()
        finish_deletions(run.connection, now_micros())
        runs = job_runs.purge(run.connection, now_micros(), settings.RUNS_DAYS.get())
        days = settings.RAW_DAYS.get()
        events = purge_events(run, now_micros() - days * MICROS_PER_DAY) if days else 0
        join_batches(run)
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
