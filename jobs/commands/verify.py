"""`verify`: compare the stored figures with figures computed from the raw rows."""

from collections import Counter
from collections.abc import Sequence
from functools import partial

import click

from jobs.commands.options import SAMPLE_DAYS
from jobs.facts.day_facts import DaysByEdition
from jobs.pipeline import comparison, plan, recompute
from jobs.pipeline.comparison import Differences
from jobs.pipeline.raw_days import say_purged
from jobs.run.console import bar, report, say
from jobs.run.job_run import JobRun, shop_keys
from warehouse import command
from warehouse.domain.time import NO_DAY, day_date, now_micros
from warehouse.editions import editions
from warehouse.editions.editions import CURRENT, Edition
from warehouse.editions.leases import Claim


def verify_command(
    every_day: bool, sample: int | None, shop: str | None, scheduled_as: str | None
) -> None:
    if every_day and sample:
        raise click.UsageError("--all and --sample cannot be used together")
    arguments = "--all" if every_day else f"--sample {sample or SAMPLE_DAYS}"
    arguments += f" --shop {shop}" if shop else ""
    with JobRun("verify", arguments, scheduled_as=scheduled_as, creates=False) as run:
        shop_keys(run.connection, shop)
        current = editions.list_editions(run.connection, CURRENT, shop)
        run.connection.commit()
        if not scheduled_as:
            say_purged(run.connection, shop)
        days = sample or SAMPLE_DAYS
        total = _verify_all(run, current) if every_day else _verify_days(run, current, days)
        if total:
            run.record.error = (
                f"{total} rows differ from the raw rows; "
                f"run `{command('jobs rebuild')}`, and report what happened before"
            )
        elif current or not scheduled_as:
            report("no differences")


def _verify_all(run: JobRun, current: list[Edition]) -> int:
    """Compare all of each shop, small shops together; returns how many rows differ."""
    total = 0

    def compare(held: Claim) -> None:
        nonlocal total
        differences = plan.compared_with_rebuild(run, held)
        _tell(run, held.editions, differences)
        total += differences.total()

    with bar("verify", " rows") as shown:
        run.on_rows = shown.advance
        for some in plan.small_editions(run.connection, current):
            plan.while_held(run, some, compare)
            run.raise_if_stopped()
    return total


def _verify_days(run: JobRun, current: list[Edition], count: int) -> int:
    """Compare so many random days of each shop, many shops at once; returns how many rows differ."""
    total = 0

    def compare(days: DaysByEdition, held: Claim) -> None:
        nonlocal total
        own = {edition: days[edition] for edition in held.editions}
        differences = comparison.compare_days(run.connection, own)
        run.connection.commit()
        plan.check_held(run.connection, held)
        _tell(run, held.editions, differences, own)
        total += differences.total()

    # A shop without events has no day to compare.
    left = set(current)
    with bar("verify", " shops", len(current)) as shown:
        run.connection.analyze("raw_event")
        run.connection.commit()
        for days in recompute.random_days(run.connection, current, count):
            plan.while_held(run, days, partial(compare, days))
            shown.advance(len(days))
            left.difference_update(days)
            run.raise_if_stopped()
    _tell(run, sorted(left, key=lambda edition: edition.edition), Counter(), {})
    return total


def _tell(
    run: JobRun,
    compared: Sequence[Edition],
    differences: Differences,
    days: DaysByEdition | None = None,
) -> None:
    """Say and record what differs of these editions: of these days, or of all that they have."""
    for edition in compared:
        own = (found for found in differences.items() if found[0][0] == edition.edition)
        for (_, table, day), rows in sorted(own):
            on = "" if day == NO_DAY else f" on {day_date(day)}"
            say(f"{edition.shop_id}: {rows} rows of {table}{on} differ")
    numbers = [edition.edition for edition in compared]
    covered = None if days is None else {edition.edition: own for edition, own in days.items()}
    editions.mark_verified(run.connection, numbers, differences, covered, now_micros())
    run.record.shops |= {edition.shop_key for edition in compared}
