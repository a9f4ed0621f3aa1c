"""`verify`: compare the stored figures with figures computed from the raw rows."""

from collections import Counter
from collections.abc import Iterable, Iterator
from functools import partial

import click

from jobs.commands.options import SAMPLE_DAYS
from jobs.facts.days_of_raw import Days
from jobs.pipeline import comparison, plan, recompute
from jobs.pipeline.comparison import Differences
from jobs.pipeline.raw_days import say_purged
from jobs.run.clock import now_micros
from jobs.run.console import bar, report, say
from jobs.run.job_run import JobRun
from jobs.run.shops import shop_keys
from warehouse.domain.time import NO_DAY, day_date
from warehouse.editions import editions, leases
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
        if every_day:
            total = sum(_verify_all(run, edition) for edition in current)
        else:
            total = _verify_days(run, current, sample or SAMPLE_DAYS)
        if total:
            run.record.error = (
                f"{total} rows differ from the raw rows; "
                "run `python -m jobs rebuild`, and report what happened before"
            )
        elif current or not scheduled_as:
            report("no differences")


def _verify_all(run: JobRun, edition: Edition) -> int:
    """Compare a whole shop; returns how many rows differ."""
    with bar(edition.shop_id, " rows") as shown:
        run.on_rows = shown.advance
        work = partial(plan.compared_with_rebuild, run, edition=edition)
        differences = plan.while_held(run, edition, work) or Counter()
    _say(differences, [edition])
    _mark(run, [edition], differences)
    return differences.total()


def _verify_days(run: JobRun, current: list[Edition], count: int) -> int:
    """Compare so many random days of each shop, many shops at once; returns how many rows differ."""
    total = 0
    # A shop without events has no day to compare.
    left = set(current)
    with bar("verify", " shops", len(current)) as shown:
        run.connection.analyze("raw_event")
        run.connection.commit()
        for days in recompute.random_days(run.connection, current, count):
            for held, differences in _compared(run, days):
                total += differences.total()
                shown.advance(len(held))
                _mark(run, held, differences, {edition: days[edition] for edition in held})
                left.difference_update(held)
            run.raise_if_stopped()
    _mark(run, sorted(left, key=lambda edition: edition.edition), Counter(), {})
    return total


def _compared(run: JobRun, days: Days) -> Iterator[tuple[list[Edition], Differences]]:
    """Compare days of editions under their leases: editions, and what differs of them. Those that others hold
    are waited for, one by one."""
    held = leases.claim(run.connection, run.owner, list(days), run.connection.now_micros())
    done: tuple[Edition, ...] = ()
    try:
        if held.editions:
            found = _compare(run, held, {edition: days[edition] for edition in held.editions})
            done = held.editions
            yield list(done), found
    except leases.LeaseLost:
        pass
    finally:
        leases.release(run.connection, held)
    for edition in days:
        if edition not in done:
            work = partial(_compare, run, days={edition: days[edition]})
            yield [edition], plan.while_held(run, edition, work) or Counter()


def _compare(run: JobRun, held: Claim, days: Days) -> Differences:
    """Compare days of editions, and say what differs."""
    connection = run.connection
    differences = comparison.compare_days(connection, days) if days else Counter()
    connection.commit()
    numbers = [edition.edition for edition in held.editions]
    leases.fence(connection, held, numbers, connection.now_micros())
    connection.commit()
    _say(differences, days)
    return differences


def _say(differences: Differences, compared: Iterable[Edition]) -> None:
    shops = {edition.edition: edition.shop_id for edition in compared}
    for (number, table, day), rows in sorted(differences.items()):
        on = "" if day == NO_DAY else f" on {day_date(day)}"
        say(f"{shops[number]}: {rows} rows of {table}{on} differ")


def _mark(
    run: JobRun,
    compared: list[Edition],
    differences: Differences,
    days: Days | None = None,
) -> None:
    """Record what was found of these editions: of these days, or of all that they have."""
    numbers = [edition.edition for edition in compared]
    covered = None if days is None else {edition.edition: own for edition, own in days.items()}
    editions.mark_verified(run.connection, numbers, differences, covered, now_micros())
    run.record.shops |= {edition.shop_key for edition in compared}
