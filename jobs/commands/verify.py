"""`verify`: compare the stored figures with figures computed from the raw rows."""

import random
from functools import partial

import click

from jobs.commands.options import scheduled_as_option, shop_option
from jobs.pipeline import plan, recompute
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
    type=click.IntRange(min=1),
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
    with JobRun(
        "verify", arguments + (f" --shop {shop}" if shop else ""), scheduled_as=scheduled_as
    ) as run:
        shop_keys(run.connection, shop)
        total = 0
        for edition in editions.list_editions(run.connection, CURRENT, shop):
            run.connection.commit()
            if every_day:
                work = partial(_verify_all, run, edition=edition)
            else:
                work = partial(_verify_days, run, edition=edition, count=sample or _SAMPLE_DAYS)
            differences = plan.while_held(run, edition, work) or {}
            for name, rows in differences.items():
                say(f"{edition.shop_id}: {rows} rows of {name} differ")
            editions.mark_verified(
                run.connection, edition.edition, sum(differences.values()), now_micros()
            )
            total += sum(differences.values())
            run.record.shops.add(edition.shop_key)
        if total:
            run.record.error = (
                f"{total} rows differ from the raw rows; "
                "run `python -m jobs rebuild`, and report what happened before"
            )
        else:
            report("no differences")


def _verify_all(run: JobRun, held: Claim, edition: Edition) -> dict[str, int]:
    """Compare a whole shop; returns differing rows by table."""
    with bar(edition.shop_id, " rows") as shown:
        run.on_rows = shown.advance
        return plan.compared_with_rebuild(run, held, edition)


def _verify_days(run: JobRun, held: Claim, edition: Edition, count: int) -> dict[str, int]:
    """Compare so many random days of a shop; returns differing rows by summary and day."""
    connection = run.connection
    days = (
        connection.table(
            "SELECT DISTINCT day FROM daily_events WHERE edition = $1", edition.edition
        )
        .column(0)
        .to_pylist()
    )
    connection.commit()
    chosen = sorted(random.sample(days, min(count, len(days))))
    differences: dict[str, int] = {}
    with bar(edition.shop_id, " days", len(chosen)) as shown:
        for day in chosen:
            for name, rows in recompute.compare_days(connection, edition, day, day).items():
                differences[f"{name} on {day_date(day)}"] = rows
            connection.commit()
            leases.fence(connection, held, [edition.edition], connection.now_micros())
            connection.commit()
            shown.advance(1)
            run.raise_if_stopped()
    return differences
