"""`rollup` and `rebuild`."""

import click
from tqdm import tqdm

from jobs import rolling
from jobs.commands.shared import warehouse
from jobs.commands.waiting import waiting_line


def _bar(total: int, what: str) -> "tqdm[None]":
    return tqdm(total=total, unit=" rows", unit_scale=True, desc=what, disable=None)


@click.command("rollup")
@click.option("--shop", metavar="ID", help="Only this shop.")
def rollup_command(shop: str | None) -> None:
    """Bring the answers up to date with everything that was imported since the last rollup."""
    with warehouse() as (bulk, window_days):
        total = rolling.waiting_rows(bulk, window_days, shop, anew=False)
        with _bar(total, "rollup") as bar:
            rolling.roll_up(
                bulk, window_days, shop, lambda rows: (bar.update(rows), None)[1], waiting_line()
            )
        click.echo(f"rolled up {total} rows")


@click.command("rebuild")
@click.option("--shop", metavar="ID", help="Only this shop.")
def rebuild_command(shop: str | None) -> None:
    """Make all facts and summaries anew from the raw rows; answers stay readable meanwhile."""
    with warehouse() as (bulk, window_days):
        total = rolling.waiting_rows(bulk, window_days, shop, anew=True)
        with _bar(total, "rebuild") as bar:
            rolling.rebuild(
                bulk, window_days, shop, lambda rows: (bar.update(rows), None)[1], waiting_line()
            )
        click.echo(f"rebuilt from {total} rows")
