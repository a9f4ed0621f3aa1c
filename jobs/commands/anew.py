"""`backfill` and `verify`: days anew from raw, written or compared."""

import random
import sys
from datetime import date
from functools import partial

import click

from jobs import anew, rolling
from jobs.bars import bar
from jobs.clock import now_micros
from jobs.running import Run, running
from jobs.shops import shop_keys
from jobs.telling import say
from warehouse import edition_leases, editions
from warehouse.days import day_date, day_number
from warehouse.edition_leases import Claim
from warehouse.editions import CURRENT, Edition

_SAMPLE = 7


class Day(click.ParamType[int]):
    """A calendar day, YYYY-MM-DD, as a day number."""

    name = "day"

    def convert(self, value: str | int, param: object, ctx: object) -> int:
        if isinstance(value, int):
            return value
        try:
            return day_number(date.fromisoformat(value))
        except ValueError:
            self.fail(f"{value!r} is not a day (YYYY-MM-DD)")


@click.command("backfill")
@click.option("--from", "first", type=Day(), required=True, help="The first day, YYYY-MM-DD.")
@click.option("--to", "last", type=Day(), required=True, help="The last day, YYYY-MM-DD.")
@click.option("--shop", metavar="ID", help="Only this shop.")
def backfill_command(first: int, last: int, shop: str | None) -> None:
    """Make the days from FROM to TO anew from the raw rows, whatever is stored for them."""
    if first > last:
        raise click.BadOptionUsage("--to", "--from lies after --to")
    words = f"--from {day_date(first)} --to {day_date(last)}" + (f" --shop {shop}" if shop else "")
    with running("backfill", words) as run:
        # What waits is taken in first, so that the days are whole.
        rolling.roll_up(run, shop)
        done = 0
        for edition in editions.editions(run.bulk, CURRENT, shop):
            run.bulk.commit()
            made = rolling.while_held(
                run, edition, partial(_backfill, run, edition=edition, first=first, last=last)
            )
            # Where there is nothing of it to hold, a newer one has just taken its place.
            done += made or 0
        click.echo(f"{done} events of {last - first + 1} days made anew")
        if run.record.error:
            say(f"Error: {run.record.error}")
            sys.exit(1)


def _backfill(run: Run, held: Claim, edition: Edition, first: int, last: int) -> int:
    done = 0
    with bar(edition.shop_id, " days", last - first + 1) as shown:
        for begin, end, events in list(anew.spans(run.bulk, edition, first, last)):
            anew.backfill(run.bulk, held, edition, begin, end)
            shown.update(end - begin + 1)
            done += events
            run.record.shops.add(edition.shop_key)
            run.record.rows += events
            run.go_on()
    return done


@click.command("verify")
@click.option("--all", "everything", is_flag=True, help="Every day: a whole rebuild, compared.")
@click.option(
    "--sample",
    type=click.IntRange(min=1),
    metavar="N",
    help=f"N random days of each shop ({_SAMPLE} where nothing is said).",
)
@click.option("--shop", metavar="ID", help="Only this shop.")
def verify_command(everything: bool, sample: int | None, shop: str | None) -> None:
    """Work the figures out anew from the raw rows and compare them with what is stored.

    Exit status 1 on any difference. Rows that are not rolled up yet are not compared.
    """
    if everything and sample:
        raise click.UsageError("--all and --sample exclude each other")
    differences = 0
    words = "--all" if everything else f"--sample {sample or _SAMPLE}"
    with running("verify", words + (f" --shop {shop}" if shop else "")) as run:
        shop_keys(run.bulk, shop)
        for edition in editions.editions(run.bulk, CURRENT, shop):
            run.bulk.commit()
            if everything:
                work = partial(_verify_all, run, edition=edition)
            else:
                work = partial(_verify_days, run, edition=edition, count=sample or _SAMPLE)
            found = rolling.while_held(run, edition, work) or {}
            for name, rows in found.items():
                say(f"{edition.shop_id}: {rows} rows of {name} differ")
            differences += sum(found.values())
            run.record.shops.add(edition.shop_key)
        if differences:
            run.record.error = (
                f"{differences} rows differ from the raw rows; "
                "run `python -m jobs rebuild`, and report what led here"
            )
            say(f"Error: {run.record.error}")
            sys.exit(1)
    click.echo("no differences")


def _verify_all(run: Run, held: Claim, edition: Edition) -> dict[str, int]:
    with bar(edition.shop_id, " rows") as shown:
        run.on_rows = shown.update
        return rolling.compared_with_rebuild(run, held, edition)


def _verify_days(run: Run, held: Claim, edition: Edition, count: int) -> dict[str, int]:
    bulk = run.bulk
    days = (
        bulk.table("SELECT DISTINCT day FROM daily_activity WHERE edition = $1", edition.edition)
        .column(0)
        .to_pylist()
    )
    bulk.commit()
    chosen = sorted(random.sample(days, min(count, len(days))))
    found: dict[str, int] = {}
    with bar(edition.shop_id, " days", len(chosen)) as shown:
        for day in chosen:
            for name, rows in anew.compare_days(bulk, edition, day, day).items():
                found[f"{name} on {day_date(day)}"] = rows
            bulk.commit()
            edition_leases.fence(bulk, held, [edition.edition], now_micros())
            bulk.commit()
            shown.update(1)
            run.go_on()
    return found
