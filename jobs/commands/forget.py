"""`forget`: remove a person from a shop."""

import click

from jobs.pipeline import forgetting
from jobs.pipeline.forgetting import PersonRows
from jobs.run.console import report
from jobs.run.job_run import JobRun, open_warehouse
from jobs.run.shops import shop_keys
from warehouse.operations.forgotten import COLUMNS, Identifier, identifier_of
from warehouse.operations.hash_secret import email_hasher

# Identifiers that were seen with the person's and are listed; the rest is counted.
_LISTED = 20


@click.command("forget")
@click.option("--shop", metavar="ID", required=True, help="The shop.")
@click.option("--email", metavar="E", help="The rows with this e-mail address.")
@click.option("--customer", metavar="C", help="The rows with this customer_id.")
@click.option("--visitor", metavar="V", help="The rows with this visitor_id.")
@click.option("--dry-run", is_flag=True, help="Say what would go, and change nothing.")
def forget_command(shop: str, dry_run: bool, **given: str | None) -> None:
    """Remove a person from a shop: all events and orders that carry one identifier, and what follows from
    them.

    Later imports drop such rows. Repeat it with the other identifiers of the person, which it lists. What
    members ask for on their Data page waits for the next refresh: at most 100 requests of a shop, of which
    a refresh ends 20.
    """
    named = [(kind, given[kind]) for kind in COLUMNS if given[kind]]
    if len(named) != 1:
        raise click.UsageError("name one of --email, --customer and --visitor")
    ((kind, text),) = named
    if dry_run:
        with open_warehouse() as connection:
            (shop_key,) = shop_keys(connection, shop)
            person = identifier_of(email_hasher(connection), kind, str(text))
            rows = forgetting.look_up(connection, shop_key, person)
        report(f"would remove: events {rows.events}  versions of orders {rows.orders}")
        _list_others(rows)
        return
    # Not the identifier: what a run was called with is kept.
    with JobRun("forget", f"--shop {shop}") as run:
        (shop_key,) = shop_keys(run.connection, shop)
        person = identifier_of(email_hasher(run.connection), kind, str(text))
        rows = forgetting.look_up(run.connection, shop_key, person)
        counts = forgetting.forget(run, shop_key, person)
        report(
            f"removed: events {counts['events']}  versions of orders {counts['orders']}  "
            f"rejected rows {counts['rejects']}"
        )
        _list_others(rows)


def _list_others(rows: PersonRows) -> None:
    """Say which other identifiers the rows had."""
    for identifier, left in list(rows.others.items())[:_LISTED]:
        report(f"also seen with {_described(identifier, left)}")
    if len(rows.others) > _LISTED:
        report(f"also seen with {len(rows.others) - _LISTED} more identifiers")


def _described(identifier: Identifier, left: int) -> str:
    shown = identifier.shown
    rows = f"{left} row{'' if left == 1 else 's'} of it {'is' if left == 1 else 'are'} left"
    return f"{identifier.kind} {shown}: {rows}; forget it with --{identifier.kind} {shown}"
