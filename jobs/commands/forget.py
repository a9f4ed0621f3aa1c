"""`forget`: remove a person from a shop."""

import click

from jobs.commands.rollup import build_without_removed
from jobs.landing.files_of_person import files_of_person
from jobs.pipeline import forgetting
from jobs.pipeline.forgetting import PersonRows
from jobs.run.console import report
from jobs.run.job_run import JobRun, open_warehouse, shop_keys
from warehouse import settings
from warehouse.connections.arrow import ArrowConnection
from warehouse.persons.forgotten import COLUMNS, Identifier, identifier_of
from warehouse.persons.hash_secret import email_hasher

# Identifiers that were seen with the person's and are listed; the rest is counted.
_LISTED = 20


def forget_command(shop: str, dry_run: bool, keep_orders: bool, **given: tuple[str, ...]) -> None:
    texts = [(kind, text) for kind in COLUMNS for text in given[kind] if text]
    if not texts:
        raise click.UsageError("name the person by --email, --customer or --visitor")
    if dry_run:
        with open_warehouse() as connection:
            (shop_key,) = shop_keys(connection, shop)
            person = _person(connection, texts)
            rows = forgetting.look_up(connection, shop_key, person)
        report(f"would remove: {_counted(rows.events, rows.orders, keep_orders)}")
        _list_others(rows, keep_orders)
        _list_files(shop, person)
        return
    # Not the identifiers: what a run was called with is kept.
    arguments = f"--shop {shop}{' --keep-orders' if keep_orders else ''}"
    with JobRun("forget", arguments) as run:
        (shop_key,) = shop_keys(run.connection, shop)
        person = _person(run.connection, texts)
        rows, counts = forgetting.forget(run, shop_key, person, keeps_orders=keep_orders)
        done = _counted(counts["events"], counts["orders"], keep_orders)
        report(f"removed: {done}  rejected rows {counts['rejects']}")
        _list_others(rows, keep_orders)
        _list_files(shop, person)
    build_without_removed(shop)


def _person(connection: ArrowConnection, texts: list[tuple[str, str]]) -> dict[Identifier, str]:
    """The identifiers of a person, each with the text by which it was given. Commits."""
    hasher = email_hasher(connection)
    return {identifier_of(hasher, kind, text): text for kind, text in texts}


def _counted(events: int, orders: int, keep_orders: bool) -> str:
    owner = "the buyers of versions of orders" if keep_orders else "versions of orders"
    return f"events {events}  {owner} {orders}"


def _list_files(shop: str, person: dict[Identifier, str]) -> None:
    """Say which files of the landing folder name the person."""
    root = settings.IMPORT_DIR.get()
    naming, unread = files_of_person(root, shop, person)
    for path in naming:
        report(f"still named in {path}")
    for line in unread:
        report(f"not looked through: {line}")
    if naming:
        number = f"{len(naming)} file{'' if len(naming) == 1 else 's'}"
        report(f"{number} of {root} still name the person: delete them, or those of their rows")


def _list_others(rows: PersonRows, keep_orders: bool) -> None:
    """Say which other identifiers the rows had."""
    for identifier, left in list(rows.others.items())[:_LISTED]:
        named = f"{identifier.kind} {identifier.shown}"
        are_left = f"{left} row{'' if left == 1 else 's'} of it {'is' if left == 1 else 'are'} left"
        option = "--keep-orders " if keep_orders else ""
        report(f"also seen with {named}: {are_left}; forget it with {option}--{named}")
    if len(rows.others) > _LISTED:
        report(f"also seen with {len(rows.others) - _LISTED} more identifiers")
