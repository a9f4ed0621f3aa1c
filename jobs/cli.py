"""START HERE: the commands of `python -m jobs`, with their options and their help.

The work of each lies in `jobs/commands/`. It is imported when a command is called, never above: pandas and
pyarrow alone take most of a second of the processor, and the help, a mistyped word and a wrong setting need
neither.
"""

import os
import sys
from collections.abc import Callable
from functools import wraps
from importlib import import_module
from pathlib import Path
from typing import Any, Final

import click

from jobs.commands.options import (
    DEMO_DAYS,
    SAMPLE_DAYS,
    DayParam,
    JsonObject,
    NamesIn,
    TimeParam,
    cron_or_off,
    executor_option,
    scheduled_as_option,
    shop_option,
)
from jobs.run.errors import one_line_errors
from warehouse import VERSION
from warehouse.environment import WrongSettings, prepare
from warehouse.setting_values import JOBS, SCHEDULER
from warehouse.settings import DATA_DIR

# The headings of the help.
SECTIONS: Final = {
    "Every day": (
        *("import", "rollup", "status", "imports", "rejects", "fields", "pull", "pulls"),
        *("scheduler", "start"),
    ),
    "Now and then": (
        *(
            "forget",
            "reconcile",
            "explain",
            "backfill",
            "rebuild",
            "verify",
            "run",
            "landing",
            "dropped",
        ),
        *("purge", "backup", "restore", "demo"),
    ),
}

# The commands that read the schedule.
_OF_THE_SCHEDULE: Final = ("scheduler", "status", "run")

KINDS: Final = NamesIn("jobs.importing.kinds", "KINDS")
FORMATS: Final = NamesIn("jobs.importing.formats", "FORMATS")
DATE_ORDERS: Final = NamesIn("jobs.importing.values.notation", "DATE_ORDERS")
DECIMALS: Final = NamesIn("jobs.importing.values.notation", "DECIMALS")
SOURCES: Final = NamesIn("jobs.pulls.set_up", "SOURCES")
_FILE: Final = click.Path(path_type=Path, dir_okay=False)


def work(place: str) -> Callable[[Callable[[], None]], Callable[..., None]]:
    """Name the function of `jobs/commands/` (`module.function`) that does the work of a command. It is called
    with the options; the decorated function has the help."""
    module, _, name = place.partition(".")

    def decorate(declared: Callable[[], None]) -> Callable[..., None]:
        @wraps(declared)
        def call(**options: Any) -> None:
            getattr(import_module(f"jobs.commands.{module}"), name)(**options)

        return call

    return decorate


class Commands(click.Group):
    """The commands below, in the order of the help. Any error becomes one line and an exit status."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [name for names in SECTIONS.values() for name in names]

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        for heading, names in SECTIONS.items():
            with formatter.section(heading):
                # The first sentence, whatever its length.
                formatter.write_dl(
                    [(name, self.commands[name].get_short_help_str(limit=1000)) for name in names]
                )

    def invoke(self, ctx: click.Context) -> Any:
        with one_line_errors():
            return super().invoke(ctx)


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(VERSION, message="formrevenue %(version)s")
@click.pass_context
def main(ctx: click.Context) -> None:
    """Import raw files, and roll them up into the daily summaries that the API answers from."""
    # A warehouse of its own, so that the demo never mixes with the user's data.
    needs_own = ctx.invoked_subcommand == "demo" and "WAREHOUSE_URL" not in os.environ
    try:
        prepare(SCHEDULER if ctx.invoked_subcommand in _OF_THE_SCHEDULE else JOBS)
    except WrongSettings as error:
        for line in str(error).splitlines():
            click.echo(f"Error: {line}", err=True)
        sys.exit(2)
    if needs_own:
        os.environ["WAREHOUSE_URL"] = f"sqlite:///{DATA_DIR.get()}/demo.db"


@main.command("import")
@click.argument("kind", type=KINDS, metavar="KIND")
@click.argument(
    "files", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="FILE..."
)
@click.option(
    "--format",
    "format_name",
    type=FORMATS,
    help="The system that wrote the files; needed only if they do not show it.",
)
@click.option(
    "--shop",
    "shop_id",
    metavar="ID",
    help="The shop of another system's files; needed if there are several shops.",
)
@click.option(
    "--dates",
    type=DATE_ORDERS,
    help="The order of day, month and year in CSV; needed only if the dates do not show it.",
)
@click.option(
    "--exported-at",
    type=TimeParam(),
    metavar="TIME",
    help="When an export of orders without versions was made; needed only if the file's own time is another.",
)
@click.option(
    "--decimal",
    type=DECIMALS,
    help="The decimal mark of numbers in a table; needed only if they do not show it.",
)
@click.option("--dry-run", is_flag=True, help="Show the first rows and rejects; write nothing.")
@click.option("--json", "as_json", is_flag=True, help="Print the counts as one JSON object.")
@work("import_files.import_command")
def import_() -> None:
    """Import files of one KIND: shops, forms, events, orders, ad-spend, ad-accounts or exchange-rates.

    Files are NDJSON (.ndjson, .jsonl), CSV (each also .gz) or Parquet with the fields that
    the command `fields KIND` prints, or another system's export (--format). Importing a file again
    changes nothing. `-` is standard input. Exits 3 if rows were rejected; `rejects` lists them.
    """


@main.command()
@shop_option
@click.option(
    "--refresh",
    is_flag=True,
    help="Skip failed batches until their retry is due, and batches that another job is processing.",
)
@executor_option
@scheduled_as_option
@work("rollup.rollup_command")
def rollup() -> None:
    """Bring the answers up to date with everything imported since the last rollup.

    Failed batches are tried again, also those that were set aside. If some still fail, the others are
    rolled up all the same, and the exit status is 1.
    """


@main.command()
@shop_option
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object, with everything.")
@work("status.status_command")
def status() -> None:
    """Show what was imported, what waits for a rollup, what failed, and what runs next.

    Lines that begin with NEEDS YOU say what a person has to do. If there are any, the exit status is
    1.
    """


@main.group()
def imports() -> None:
    """List the imports of files, or undo one of them."""


@imports.command("list")
@shop_option
@click.option(
    "--limit",
    type=click.IntRange(1, 1_000_000),
    default=50,
    show_default=True,
    metavar="N",
    help="Show so many at most.",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object a line.")
@work("imports.list_command")
def list_imports() -> None:
    """List the last imports, the newest first: ID TIME STATE KIND FILE COUNTS.

    --shop lists the imports whose rows are all of that shop. Imports older than IMPORTS_DAYS are not
    listed: they can no longer be undone.
    """


@imports.command("undo")
@click.argument("import_id", type=int, metavar="ID")
@click.option(
    "--dry-run", is_flag=True, help="Print what would go and what would stay; change nothing."
)
@work("imports.undo_command")
def undo_import() -> None:
    """Take an import back, as if it had never come.

    Rows that it alone had brought go, with its rejects. Rows that another import repeated stay. Where it had
    replaced a row, the version of the last import that stands is there again. An undo that was killed is
    ended by the next one of that import, or by the next rollup.
    """


@main.command()
@click.option("--kind", type=KINDS, help="Only rows of this kind.")
@click.option("--file", metavar="NAME", help="Only rows of this file: its path, or the end of it.")
@shop_option
@click.option(
    "--limit", type=click.IntRange(1, 1_000_000), metavar="N", help="List the first N rows."
)
@click.option("--summary", is_flag=True, help="Show each reason once, with an example.")
@click.option("--retry", is_flag=True, help="Import them again, and remove the accepted ones.")
@click.option("--dismiss", is_flag=True, help="Forget them, without importing them.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object a line.")
@work("rejects.rejects_command")
def rejects() -> None:
    """List rejected rows: FILE:LINE KIND REASON, then the row's text.

    Use --retry once the cause is mended (a shop was missing, for example). It prints counts as `import`
    does, and exits 3 if some rows are still rejected.
    """


@main.command()
@click.argument("kind", type=KINDS)
@work("import_files.fields_command")
def fields() -> None:
    """Print the fields of a kind as a Markdown table, and an example row as NDJSON.

    KIND is shops, forms, events, orders, ad-spend, ad-accounts or exchange-rates.
    """


@main.command()
@click.argument("source", type=SOURCES)
@shop_option
@click.option("--name", metavar="NAME", help="Only the pull of this name.")
@scheduled_as_option
@work("pulls.pull_command")
def pull() -> None:
    """Fetch what is new from a SOURCE into the landing folder, which is imported as ever.

    Runs the pulls of the source that `pulls add` has set up. Where there is none, `ecb` needs nothing,
    and `shopify` takes SHOPIFY_CLIENT_ID and SHOPIFY_CLIENT_SECRET.
    """


@main.group()
def pulls() -> None:
    """Set up what the scheduler fetches by itself: add, list and remove pulls."""


@pulls.command("add")
@click.argument("source", type=SOURCES)
@shop_option
@click.option("--name", metavar="NAME", help="Its name (default: the source and the shop).")
@click.option("--config", type=JsonObject(), help="JSON without secrets; see jobs/pulls/README.md.")
@click.option(
    "--credentials",
    type=JsonObject(),
    help="JSON with the secrets, which are kept encrypted (CREDENTIALS_KEY). `-`: standard input.",
)
@click.option("--url", metavar="URL", help="The address to ask, where it is not the usual one.")
@click.option(
    "--schedule", metavar="CRON", callback=cron_or_off, help="When, in UTC; `off`: only by hand."
)
@click.option(
    "--lookback",
    type=click.IntRange(0, 3650),
    metavar="DAYS",
    help="How far behind the last pull each one begins.",
)
@work("pulls.add_command")
def add_pull() -> None:
    """Set up a pull of a SOURCE, or change what is given of the one that has its name.

    A scheduler that runs begins a new one within ten seconds.
    """


@pulls.command("list")
@work("pulls.list_command")
def list_pulls() -> None:
    """List the pulls: name, source, shop, schedule and the last run."""


@pulls.command("remove")
@click.argument("name")
@work("pulls.remove_command")
def remove_pull() -> None:
    """Forget a pull, its credentials and how far it came. The rows that it brought stay."""


@main.command()
@work("scheduler.scheduler_command")
def scheduler() -> None:
    """Run the scheduled jobs until stopped.

    SIGTERM or Ctrl-C stops it within ten seconds: the current job ends after its batch.
    """


@main.command()
@click.option("--shop", required=True, metavar="ID", help="The shop.")
@click.option("--month", required=True, metavar="YYYY-MM", help="The month of the report.")
@click.option("--orders", required=True, type=int, help="The orders of the report.")
@click.option("--gross", required=True, metavar="AMOUNT", help="Its sales, such as 1234.50.")
@click.option("--refunded", required=True, metavar="AMOUNT", help="Its refunds, such as 20.00.")
@click.option("--net", metavar="AMOUNT", help="Its net, if it has one.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object, in minor units.")
@work("reconcile.reconcile_command")
def reconcile() -> None:
    """Compare a month with the shop's own report, and name the cause of each difference.

    The figures are those of the report, in major units of the shop's currency. Causes are test orders,
    cancelled orders, refunds on their own day, another time zone, edited orders, another currency, rejected
    orders, and orders that are not here at all. The rest is unexplained.
    """


@main.command()
@click.argument("endpoint", metavar="ENDPOINT")
@click.option("--shop", required=True, metavar="ID", help="The shop.")
@click.option("--day", type=DayParam(), required=True, help="The day, YYYY-MM-DD.")
@click.option("--form", default="", metavar="ID", help="Only figures of this form.")
@click.option("--field", default="", metavar="NAME", help="Only this field of the answer.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@work("explain.explain_command")
def explain() -> None:
    """Show why a figure is what it is: its daily rows, the facts behind them, the imports behind those.

    ENDPOINT is an address of the API that takes a range, such as /v1/attribution, or the name of a summary.
    Each order comes with the rule that credits it. Money is in minor units of the shop's currency.
    """


@main.command()
@click.option("--shop", metavar="ID", required=True, help="The shop.")
@click.option("--email", multiple=True, metavar="E", help="The rows with this e-mail address.")
@click.option("--customer", multiple=True, metavar="C", help="The rows with this customer_id.")
@click.option("--visitor", multiple=True, metavar="V", help="The rows with this visitor_id.")
@click.option(
    "--keep-orders",
    is_flag=True,
    help="Keep the orders, without any identifier: the revenue stays as it is.",
)
@click.option("--dry-run", is_flag=True, help="Say what would go, and change nothing.")
@work("forget.forget_command")
def forget() -> None:
    """Remove a person from a shop: all events and orders that carry one of the identifiers, and what follows
    from them.

    Give as many identifiers as you know; the command lists those that were seen with them. Later imports drop
    such rows, or with --keep-orders the buyers of such orders. It also lists the files of the landing folder
    that still name the person, and leaves them. The figures of the shop are built anew before it ends; until
    then answers are as before. Requests of members on their Data page wait for the next refresh, at most 100
    of a shop.
    """


@main.command()
@click.option("--from", "first", type=DayParam(), required=True, help="The first day, YYYY-MM-DD.")
@click.option("--to", "last", type=DayParam(), required=True, help="The last day, YYYY-MM-DD.")
@shop_option
@work("backfill.backfill_command")
def backfill() -> None:
    """Compute the days FROM to TO again from the raw rows, and replace what is stored for them.

    Days before the first and after the last of which a shop has anything are left out.
    """


@main.command()
@shop_option
@executor_option
@work("rollup.rebuild_command")
def rebuild() -> None:
    """Compute all facts and daily summaries again from the raw rows, and from the facts that were kept of raw
    events older than RAW_DAYS.

    The API answers from the present ones until the new ones are complete.
    """


@main.command()
@click.option(
    "--all", "every_day", is_flag=True, help="Compare every day, as a rebuild would make it."
)
@click.option(
    "--sample",
    type=click.IntRange(1, 36_500),
    metavar="N",
    help=f"Compare N random days of each shop (default: {SAMPLE_DAYS}).",
)
@shop_option
@scheduled_as_option
@work("verify.verify_command")
def verify() -> None:
    """Compute figures again from the raw rows, and compare them with what is stored.

    If there is any difference, the exit status is 1. Rows that are not rolled up yet are not compared.
    """


@main.command()
@click.argument("job", metavar="JOB")
@work("scheduler.run_command")
def run() -> None:
    """Run a JOB of the schedule now: nightly, refresh, verify, purge, backup,
    landing, dropped or pull:NAME.

    It is recorded under that name. If it is already running, here or on another machine, the exit
    status is 75.
    """


@main.command()
@work("start.start_command")
def start() -> None:
    """Run a shop's own installation: the API, the scheduler and the collector, until Ctrl-C.

    Each line has the name of its process. Where nobody can sign in yet, a link for the first member is
    printed. All of them end when one does.
    """


@main.command()
@scheduled_as_option
@work("landing.dropped_command")
def dropped() -> None:
    """Preview the import of files that members dropped on their Data page.

    Their page shows the report. Files whose import they ask for go where `landing` imports them.
    """


@main.command()
@scheduled_as_option
@work("landing.landing_command")
def landing() -> None:
    """Import the files that have appeared complete in IMPORT_DIR/KIND/.

    Exports of other systems may also lie in KIND/FORMAT/ and KIND/FORMAT/SHOP/. Each file is moved to
    done/ or failed/ in its folder, with a report. Exits 1 if a file could not be read or moved.
    """


@main.command()
@scheduled_as_option
@work("purge.purge_command")
def purge() -> None:
    """Delete raw events older than RAW_DAYS (every figure stays), rejects older than REJECTS_DAYS, records of
    imports older than IMPORTS_DAYS and of runs older than RUNS_DAYS, events of the audit trail older than
    AUDIT_DAYS, imported files of the collector, of pulls and of pages older than LANDED_DAYS, dropped files
    that nobody imported within a day, expired Idempotency-Keys, and what is left of deleted shops."""


@main.command()
@click.argument("file", type=_FILE, required=False)
@scheduled_as_option
@work("backup.backup_command")
def backup() -> None:
    """Write the whole warehouse, as it is at one instant, to FILE.

    Everything else may run meanwhile. FILE appears, or replaces an earlier one, when it is complete and was
    read to its end. Without FILE, it is the next one in BACKUP_DIR, where those go then that are older than
    BACKUP_DAYS, or beyond BACKUP_KEEP.
    """


@main.command()
@click.argument("file", type=_FILE)
@click.option("--force", is_flag=True, help="Replace a warehouse that has data.")
@work("backup.restore_command")
def restore() -> None:
    """Replace the warehouse by the backup in FILE, completely or not at all.

    A backup of an older version is migrated. With --force, jobs that are running on PostgreSQL lose
    their connections. Start stopped jobs again: they continue from what was restored.
    """


@main.command()
@click.option(
    "--folder",
    type=click.Path(file_okay=False, path_type=Path),
    help="The folder for the files (default: demo, in DATA_DIR).",
)
@click.option(
    "--days",
    type=click.IntRange(1, 3_650),
    default=DEMO_DAYS,
    show_default=True,
    help="The number of days, today included.",
)
@click.option("--files-only", is_flag=True, help="Write the files and import nothing.")
@work("demo.demo_command")
def demo() -> None:
    """Make up a shop with forms, visitors, orders and ads, up to the present minute, and serve its figures.

    It has a warehouse of its own. The last thing that is printed is a link to the pages. Another run adds the
    days since the last run, and leaves what is already there as it is.
    """
