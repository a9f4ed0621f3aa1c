"""`rollup` and `rebuild`."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager

import click

from jobs import rolling
from jobs.bars import bar
from jobs.running import Run, running
from jobs.telling import say


@contextmanager
def _bar(run: Run, total: int, what: str) -> Iterator[None]:
    with bar(what, " rows", total) as shown:
        run.on_rows = shown.update
        yield


def _tell(run: Run, what: str) -> None:
    click.echo(f"{what} {run.record.rows} rows")
    if run.record.error:
        say(f"Error: {run.record.error}")
        sys.exit(1)


@click.command("rollup")
@click.option("--shop", metavar="ID", help="Only this shop.")
@click.option(
    "--refresh",
    is_flag=True,
    help="Leave what failed until its next try is due, and what another job has in hand to that one.",
)
def rollup_command(shop: str | None, refresh: bool) -> None:
    """Bring the answers up to date with everything that was imported since the last rollup.

    Batches that failed before, also those set aside, are tried again; exit status 1 says that some
    still fail. All others are taken in.
    """
    with running("refresh" if refresh else "rollup", f"--shop {shop}" if shop else "") as run:
        total = rolling.waiting_rows(run.bulk, run.window_days, shop, anew=False)
        with _bar(run, total, "rollup"):
            rolling.roll_up(run, shop, due=refresh)
        _tell(run, "rolled up")


@click.command("rebuild")
@click.option("--shop", metavar="ID", help="Only this shop.")
def rebuild_command(shop: str | None) -> None:
    """Make all facts and summaries anew from the raw rows; answers stay readable meanwhile."""
    with running("rebuild", f"--shop {shop}" if shop else "") as run:
        total = rolling.waiting_rows(run.bulk, run.window_days, shop, anew=True)
        with _bar(run, total, "rebuild"):
            rolling.rebuild(run, shop)
        _tell(run, "rebuilt from")
