"""`forget`: remove a person from a shop."""

import click

from jobs.landing.files_of_person import files_of_person
from jobs.pipeline import forgetting
from jobs.pipeline.forgetting import PersonRows
from jobs.run.console import report
from jobs.run.job_run import JobRun, open_warehouse
from jobs.run.shops import shop_keys
from warehouse import settings
from warehouse.operations.forgotten import COLUMNS, Identifier, identifier_of
from warehouse.operations.hash_secret import email_hasher

# Identifiers that were seen with the person's and are listed; the rest is counted.
_LISTED = 20


def forget_command(shop: str, dry_run: bool, **given: str | None) -> None:
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
        _list_files(shop, person, str(text))
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
        _list_files(shop, person, str(text))


def _list_files(shop: str, person: Identifier, text: str) -> None:
    """Say which files of the landing folder name the person."""
    root = settings.IMPORT_DIR.get()
    files = files_of_person(root, shop, person, text)
    for path in files.naming:
        report(f"still named in {path}")
    for line in files.unread:
        report(f"not looked through: {line}")
    if files.naming:
        number = f"{len(files.naming)} file{'' if len(files.naming) == 1 else 's'}"
        report(f"{number} of {root} still name the person: delete them, or those of their rows")


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
