"""`rollup`: bring the answers up to date."""

from jobs.pipeline import plan, zone_changes
from jobs.run.console import bar, report
from jobs.run.job_run import JobRun
from warehouse.operations import forgotten, imports, reject_retries
from warehouse.operations.seen_forms import full_shops


def rollup_command(
    shop: str | None, refresh: bool, executor: str, scheduled_as: str | None
) -> None:
    arguments = f"--shop {shop}" if shop else ""
    with JobRun("refresh" if refresh else "rollup", arguments, scheduled_as=scheduled_as) as run:
        if imports.unfinished_undos(run.connection):
            # The importer is loaded where it is needed: a refresh begins sooner without it.
            from jobs.importing.undo import end_undos

            end_undos(run.connection)
        zone_changes.take_over(run)
        total = plan.waiting_rows(run.connection, run.window_days, shop, rebuild=False)
        with bar("rollup", " rows", total) as shown:
            run.on_rows = shown.advance
            plan.roll_up(run, shop, only_due=refresh, executor=executor)
            # After what is new: figures must not wait for rows that were rejected before.
            if refresh and reject_retries.waiting(run.connection):
                from jobs.importing.rejects import retry_asked

                if retry_asked(run):
                    plan.roll_up(run, shop, only_due=True, executor=executor)
            if refresh and forgotten.waiting(run.connection):
                from jobs.pipeline.forgetting import forget_asked

                forget_asked(run)
            if full_shops(run.connection):
                from jobs.importing.kinds.seen_forms import share_out_again

                share_out_again(run.connection)
        # A scheduler's log tells what happened, not that nothing did.
        if run.record.rows or not scheduled_as:
            report(f"rolled up {run.record.rows} rows")
