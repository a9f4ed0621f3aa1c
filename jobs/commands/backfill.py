"""`backfill`: compute some days again from the raw rows."""

from functools import partial

import click

from jobs.pipeline import plan, recompute, zone_changes
from jobs.pipeline.raw_days import say_purged
from jobs.run.console import bar, report
from jobs.run.job_run import JobRun
from warehouse.domain.time import day_date
from warehouse.editions import editions
from warehouse.editions.editions import CURRENT, Edition
from warehouse.editions.leases import Claim


def backfill_command(first: int, last: int, shop: str | None) -> None:
    if first > last:
        raise click.BadOptionUsage("--to", "--from is after --to")
    arguments = f"--from {day_date(first)} --to {day_date(last)}"
    with JobRun("backfill", arguments + (f" --shop {shop}" if shop else "")) as run:
        zone_changes.take_over(run)
        # First whatever is not rolled up yet, so that the days are complete.
        plan.roll_up(run, shop)
        say_purged(run.connection, shop)
        done: list[tuple[int, int, int]] = []
        for edition in editions.list_editions(run.connection, CURRENT, shop):
            run.connection.commit()
            # Nothing is done for one that a newer edition, which has these days, has replaced.
            plan.while_held(run, [edition], partial(_backfill, run, edition, first, last, done))
        days = (
            max(end for _, end, _ in done) - min(begin for begin, _, _ in done) + 1 if done else 0
        )
        report(f"{days} days computed again from {sum(events for *_, events in done)} events")


def _backfill(
    run: JobRun,
    edition: Edition,
    first: int,
    last: int,
    done: list[tuple[int, int, int]],
    held: Claim,
) -> None:
    """Backfill one shop in transactions of some days each, which are added to `done` (`recompute.spans`)."""
    first, last = recompute.days_with_data(run.connection, edition, first, last)
    if first > last:
        return
    spans = list(recompute.spans(run.connection, edition, first, last))
    with bar(edition.shop_id, " days", last - first + 1) as shown:
        for begin, end, events in spans:
            recompute.backfill(run.connection, held, edition, begin, end)
            shown.advance(end - begin + 1)
            run.record.shops.add(edition.shop_key)
            run.record.rows += events
            run.raise_if_stopped()
    done += spans
