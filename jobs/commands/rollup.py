"""`rollup`: bring the answers up to date; `rebuild`: compute everything again from the raw rows."""

from jobs.pipeline import plan, zone_changes
from jobs.run.console import bar, report
from jobs.run.job_run import JobRun
from jobs.run.work import work
from warehouse import command
from warehouse.editions import editions
from warehouse.editions.editions import BUILDING, FROZEN
from warehouse.forms.seen_forms import full_shops
from warehouse.operations import tasks
from warehouse.operations.tasks import FORGET, RETRY, UNDO


def rollup_command(
    shop: str | None, refresh: bool, executor: str, scheduled_as: str | None
) -> None:
    arguments = f"--shop {shop}" if shop else ""
    with JobRun("refresh" if refresh else "rollup", arguments, scheduled_as=scheduled_as) as run:
        _end_undos(run, waits=False)
        _roll_up(run, shop, refresh, executor)
        # A scheduler's log tells what happened, not that nothing did.
        if run.record.rows or not scheduled_as:
            report(f"rolled up {run.record.rows} rows")


def build_without_removed(shop: str | None) -> None:
    """Roll up a shop, or all, after an undo or a forget, unless no edition has the rows that have gone. Other
    processes that remove rows are waited for, since no edition begins meanwhile. Raises CommandFailed where
    answers have the rows still: an undo or a build failed."""
    with JobRun("rollup", f"--shop {shop}" if shop else "") as run:
        connection, has_failed = run.connection, False
        plan.clean(connection)
        are_asked = tasks.are_waiting(connection, [FORGET])
        while (left := editions.list_editions(connection, FROZEN, shop)) or are_asked:
            connection.commit()
            are_asked = False
            if has_failed:
                shops = " ".join(frozen.shop_id for frozen in left)
                run.record.error = run.record.error or (
                    f"the rows are gone; the figures of {shops} have them until another "
                    f"`{command('jobs rollup')}`"
                )
                break
            has_failed = not _end_undos(run, waits=True)
            _roll_up(run, shop, False, plan.INLINE)
            # It may have been another run's build that failed.
            building = editions.list_editions(connection, BUILDING, shop)
            run.read_failures(edition.edition for edition in building)
            has_failed |= bool(run.record.error)
        connection.commit()


def _end_undos(run: JobRun, *, waits: bool) -> bool:
    """Do the undos that are asked for (see `jobs.importing.undo`). Returns whether none failed."""
    if not tasks.are_waiting(run.connection, [UNDO]):
        return True
    # The importer is loaded where it is needed: a refresh begins sooner without it.
    from jobs.importing.undo import end_undos

    return end_undos(run, waits=waits)


def _roll_up(run: JobRun, shop: str | None, refresh: bool, executor: str) -> None:
    zone_changes.take_over(run)
    total = plan.waiting_rows(run.connection, run.window_days, shop, rebuild=False)
    with bar("rollup", " rows", total) as shown:
        run.on_rows = shown.advance
        plan.roll_up(run, shop, only_due=refresh, executor=executor)
        # After what is new: figures must not wait for rows that were rejected before, or are to go.
        is_changed = refresh and tasks.are_waiting(run.connection, [RETRY])
        if is_changed:
            from jobs.importing.rejects import retry_of_shop

            work(run, {RETRY: retry_of_shop})
        if tasks.are_waiting(run.connection, [FORGET]):
            from jobs.pipeline.forgetting import forget_asked

            is_changed = True
            work(run, {FORGET: forget_asked})
        if is_changed:
            plan.roll_up(run, shop, only_due=refresh, executor=executor)
        if full_shops(run.connection):
            from jobs.importing.kinds.seen_forms import share_out_again

            share_out_again(run.connection)


def rebuild_command(shop: str | None, executor: str) -> None:
    from jobs.pipeline.raw_days import say_purged

    with JobRun("rebuild", f"--shop {shop}" if shop else "") as run:
        say_purged(run.connection, shop)
        total = plan.waiting_rows(run.connection, run.window_days, shop, rebuild=True)
        with bar("rebuild", " rows", total) as shown:
            run.on_rows = shown.advance
            plan.rebuild(run, shop, executor=executor)
        report(f"rebuilt from {run.record.rows} rows")
