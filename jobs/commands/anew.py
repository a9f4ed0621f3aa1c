"""`backfill` and `verify`: days anew from raw, written or compared."""

import random
import sys
from datetime import date

import click
from tqdm import tqdm

from jobs import anew, pipeline, rolling
from jobs.commands.shared import say, warehouse
from jobs.commands.waiting import waiting_line
from warehouse import editions
from warehouse.bulk import Bulk
from warehouse.days import day_date, day_number
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
    with warehouse() as (bulk, window_days):
        # What waits is taken in first, so that the days are whole.
        rolling.roll_up(bulk, window_days, shop, pipeline.unseen, waiting_line())
        done = 0
        for edition in editions.editions(bulk, CURRENT, shop):
            bulk.commit()
            held = rolling.hold(bulk, edition, waiting_line())
            try:
                done += _backfill(bulk, held, edition, first, last)
            finally:
                editions.release(bulk, held)
        click.echo(f"{done} events of {last - first + 1} days made anew")


def _backfill(bulk: Bulk, held: editions.Claim, edition: Edition, first: int, last: int) -> int:
    done = 0
    with tqdm(total=last - first + 1, unit=" days", desc=edition.shop_id, disable=None) as bar:
        for begin, end, events in list(anew.spans(bulk, edition, first, last)):
            anew.backfill(bulk, held, edition, begin, end)
            bar.update(end - begin + 1)
            done += events
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
    with warehouse() as (bulk, _):
        rolling.shop_keys(bulk, shop)
        for edition in editions.editions(bulk, CURRENT, shop):
            bulk.commit()
            held = rolling.hold(bulk, edition, waiting_line())
            try:
                if everything:
                    found = _verify_all(bulk, held, edition)
                else:
                    found = _verify_days(bulk, held, edition, sample or _SAMPLE)
            finally:
                editions.release(bulk, held)
            for name, rows in found.items():
                say(f"{edition.shop_id}: {rows} rows of {name} differ")
            differences += sum(found.values())
    if differences:
        say(
            f"Error: {differences} rows differ from the raw rows; "
            "run `python -m jobs rebuild`, and report what led here"
        )
        sys.exit(1)
    click.echo("no differences")


def _verify_all(bulk: Bulk, held: editions.Claim, edition: Edition) -> dict[str, int]:
    with tqdm(unit=" rows", unit_scale=True, desc=edition.shop_id, disable=None) as bar:
        return rolling.compared_with_rebuild(
            bulk, held, edition, lambda rows: (bar.update(rows), None)[1]
        )


def _verify_days(bulk: Bulk, held: editions.Claim, edition: Edition, count: int) -> dict[str, int]:
    days = (
        bulk.table("SELECT DISTINCT day FROM daily_activity WHERE edition = $1", edition.edition)
        .column(0)
        .to_pylist()
    )
    bulk.commit()
    chosen = sorted(random.sample(days, min(count, len(days))))
    found: dict[str, int] = {}
    for day in tqdm(chosen, unit=" days", desc=edition.shop_id, disable=None):
        for name, rows in anew.compare_days(bulk, edition, day, day).items():
            found[f"{name} on {day_date(day)}"] = rows
        bulk.commit()
        editions.fence(bulk, held, [edition.edition], pipeline.now_micros())
        bulk.commit()
    return found
