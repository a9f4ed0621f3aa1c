"""`pulls`: what is fetched by itself, and when."""

import json
from typing import Any

import click

from jobs.commands.options import shop_option
from jobs.pulls import set_up, stored_pulls
from jobs.pulls.sources import SOURCES
from jobs.run.console import report
from jobs.run.errors import CommandFailed
from jobs.run.job_run import open_warehouse
from warehouse.domain.cron import cron
from warehouse.domain.time import iso_millis


class _JsonObject(click.ParamType[dict[str, Any]]):
    """A file with a JSON object in it; `-` is standard input."""

    name = "file"

    def convert(self, value: Any, param: Any, ctx: Any) -> dict[str, Any]:
        try:
            with click.open_file(value) as file:
                converted = json.load(file)
        except OSError as error:
            self.fail(f"{value!r}: {error.strerror}")
        except ValueError:
            converted = None
        if not isinstance(converted, dict):
            # The text may be a secret: the message does not quote it.
            self.fail("the file must hold a JSON object")
        return converted


def _cron(_ctx: click.Context, _param: click.Parameter, text: str | None) -> str | None:
    if text is None or text == "off":
        return None if text is None else ""
    try:
        cron(text)
    except ValueError as error:
        raise click.BadParameter(f"{text!r}: {error}") from None
    return text


@click.group("pulls")
def pulls_command() -> None:
    """Set up what the scheduler fetches by itself: add, list and remove pulls."""


@pulls_command.command("add")
@click.argument("source", type=click.Choice(list(SOURCES)))
@shop_option
@click.option("--name", metavar="NAME", help="Its name (default: the source and the shop).")
@click.option(
    "--config", type=_JsonObject(), help="JSON without secrets; see jobs/pulls/README.md."
)
@click.option(
    "--credentials",
    type=_JsonObject(),
    help="JSON with the secrets, which are kept encrypted (CREDENTIALS_KEY). `-`: standard input.",
)
@click.option("--url", metavar="URL", help="The address to ask, where it is not the usual one.")
@click.option(
    "--schedule", metavar="CRON", callback=_cron, help="When, in UTC; `off`: only by hand."
)
@click.option(
    "--lookback",
    type=click.IntRange(0, 3650),
    metavar="DAYS",
    help="How far behind the last pull each one begins.",
)
def add_command(
    source: str,
    shop: str | None,
    name: str | None,
    config: dict[str, Any] | None,
    credentials: dict[str, Any] | None,
    url: str | None,
    schedule: str | None,
    lookback: int | None,
) -> None:
    """Set up a pull of a SOURCE, or change what is given of the one that has its name.

    A scheduler that runs begins a new one within ten seconds.
    """
    if url:
        config = {**(config or {}), "url": url}
    with open_warehouse() as connection:
        pull = set_up.set_up(
            connection,
            source,
            shop,
            name=name,
            config=config,
            credentials=credentials,
            schedule=schedule,
            lookback_days=lookback,
        )
    report(f"{pull.name}: {pull.schedule or 'only by hand'}")


@pulls_command.command("list")
def list_command() -> None:
    """List the pulls: name, source, shop, schedule and the last run."""
    with open_warehouse(creates=False) as connection:
        pulls = stored_pulls.list_pulls(connection)
    for pull in pulls:
        last = f"{pull.status} {iso_millis(pull.ran_at)}" if pull.ran_at else "never ran"
        fields = (pull.name, pull.source, pull.shop_id or "-", pull.schedule or "off", last)
        report("  ".join((*fields, pull.message)).rstrip())


@pulls_command.command("remove")
@click.argument("name")
def remove_command(name: str) -> None:
    """Forget a pull, its credentials and how far it came. The rows that it brought stay."""
    with open_warehouse() as connection:
        if not stored_pulls.remove(connection, name):
            raise CommandFailed(
                f"no pull {name!r}; `python -m jobs pulls list` shows those there are"
            )
