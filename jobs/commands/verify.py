"""`verify`: compare the stored figures with figures computed from the raw rows."""

from collections import Counter
from collections.abc import Iterator, Mapping
from functools import partial

import click

from jobs.commands.options import scheduled_as_option, shop_option
from jobs.facts.days_of_raw import Days
from jobs.pipeline import plan, recompute
from jobs.pipeline.raw_days import say_purged
from jobs.run.clock import now_micros
from jobs.run.console import bar, report, say
from jobs.run.job_run import JobRun
from jobs.run.shops import shop_keys
from warehouse.domain.time import day_date
from warehouse.editions import editions, leases
from warehouse.editions.editions import CURRENT, Edition
from warehouse.editions.leases import Claim

_SAMPLE_DAYS = 7


@click.command("verify")
@click.option(
    "--all", "every_day", is_flag=True, help="Compare every day, as a rebuild would make it."
)
@click.option(
    "--sample",
    type=click.IntRange(1, 36_500),
    metavar="N",
    help=f"Compare N random days of each shop (default: {_SAMPLE_DAYS}).",
)
@shop_option
@scheduled_as_option
def verify_command(
    every_day: bool, sample: int | None, shop: str | None, scheduled_as: str | None
) -> None:
    """Compute figures again from the raw rows, and compare them with what is stored.

    If there is any difference, the exit status is 1. Rows that are not rolled up yet are not compared.
    """
    if every_day and sample:
        raise click.UsageError("--all and --sample cannot be used together")
    arguments = "--all" if every_day else f"--sample {sample or _SAMPLE_DAYS}"
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
            total = _verify_days(run, current, sample or _SAMPLE_DAYS)
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
        differences = plan.while_held(run, edition, work) or {}
    for name, rows in differences.items():
        say(f"{edition.shop_id}: {rows} rows of {name} differ")
    _mark(run, [edition], {edition.edition: sum(differences.values())})
    return sum(differences.values())


def _verify_days(run: JobRun, current: list[Edition], count: int) -> int:
    """Compare so many random days of each shop, many shops at once; returns how many rows differ."""
    total = 0
    # A shop without events has no day to compare.
    left = set(current)
    with bar("verify", " shops", len(current)) as shown:
        run.connection.analyze("raw_event")
        run.connection.commit()
        for days in recompute.random_days(run.connection, current, count):
            for held, rows in _compared(run, days):
                total += sum(rows.values())
                shown.advance(len(held))
                _mark(run, held, rows)
                left.difference_update(held)
            run.raise_if_stopped()
    _mark(run, sorted(left, key=lambda edition: edition.edition), {})
    return total


def _compared(run: JobRun, days: Days) -> Iterator[tuple[list[Edition], Counter[int]]]:
    """Compare days of editions under their leases: editions, and how many rows of each differ. Those that
    others hold are waited for, one by one."""
    held = leases.claim(run.connection, run.owner, list(days), run.connection.now_micros())
    done: tuple[Edition, ...] = ()
    try:
        if held.editions:
            rows = _compare(run, held, {edition: days[edition] for edition in held.editions})
            done = held.editions
            yield list(done), rows
    except leases.LeaseLost:
        pass
    finally:
        leases.release(run.connection, held)
    for edition in days:
        if edition not in done:
            work = partial(_compare, run, days={edition: days[edition]})
            yield [edition], plan.while_held(run, edition, work) or Counter()


def _compare(run: JobRun, held: Claim, days: Days) -> Counter[int]:
    """Compare days of editions, and say what differs; returns how many rows, by edition."""
    connection = run.connection
    differences = recompute.compare_days(connection, days) if days else {}
    connection.commit()
    numbers = [edition.edition for edition in held.editions]
    leases.fence(connection, held, numbers, connection.now_micros())
    connection.commit()
    shops = {edition.edition: edition.shop_id for edition in days}
    total = Counter[int]()
    for (number, name, day), rows in sorted(differences.items()):
        say(f"{shops[number]}: {rows} rows of {name} on {day_date(day)} differ")
        total[number] += rows
    return total


def _mark(run: JobRun, compared: list[Edition], rows: Mapping[int, int]) -> None:
    """Record what was found of these editions."""
    same = [edition.edition for edition in compared if not rows.get(edition.edition)]
    editions.mark_verified(run.connection, same, 0, now_micros())
    for number, differing in rows.items():
        if differing:
            editions.mark_verified(run.connection, [number], differing, now_micros())
    run.record.shops |= {edition.shop_key for edition in compared}
