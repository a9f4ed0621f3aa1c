"""`pull`: fetch orders, spend or rates into the landing folder."""

import click

from jobs.commands.options import scheduled_as_option, shop_option
from jobs.pulls import set_up
from jobs.pulls.run_pull import run_pull
from jobs.pulls.sources import SOURCES
from jobs.run.console import say
from jobs.run.errors import AlreadyRunning, CommandFailed
from jobs.run.job_run import open_warehouse


@click.command("pull")
@click.argument("source", type=click.Choice(list(SOURCES)))
@shop_option
@click.option("--name", metavar="NAME", help="Only the pull of this name.")
@scheduled_as_option
def pull_command(source: str, shop: str | None, name: str | None, scheduled_as: str | None) -> None:
    """Fetch what is new from a SOURCE into the landing folder, which is imported as ever.

    Runs the pulls of the source that `pulls add` has set up. Where there is none, `ecb` needs nothing,
    and `shopify` takes SHOPIFY_CLIENT_ID and SHOPIFY_CLIENT_SECRET.
    """
    with open_warehouse() as connection:
        names = [name] if name else set_up.names_of(connection, source, shop)
    failures = []
    for each in names:
        try:
            run_pull(each, scheduled_as)
        except (CommandFailed, AlreadyRunning) as error:
            if len(names) == 1:
                raise
            say(f"{each}: {error}")
            failures.append(each)
    if failures:
        raise CommandFailed(f"{len(failures)} of {len(names)} pulls failed: {', '.join(failures)}")
