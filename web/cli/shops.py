"""The commands `shops ...` and `forms ...`."""

import sys
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

import click
from sqlalchemy import Connection

from warehouse.connections.arrow import open_arrow
from warehouse.domain import text_rules
from warehouse.settings import WAREHOUSE_URL
from warehouse.shops import shop_registry
from warehouse.tenants.deletion import close_shop, delete_rows, is_left, require_shop
from warehouse.tenants.export import export_shop
from web.cli.options import ByRule, Listed, listing, open_warehouse, table, transaction


def _shop_id(text: str) -> str:
    if not text:
        raise ValueError("is no id")
    return text_rules.identifier(text)


@click.group()
def shops() -> None:
    """Add, list, export and delete shops."""


@shops.command("add")
@click.argument("shop_id", metavar="ID", type=ByRule("id", _shop_id, "example.myshopify.com"))
@click.option(
    "--currency",
    type=ByRule("currency", text_rules.currency, "EUR"),
    required=True,
    help="The currency of all its orders (ISO 4217).",
)
@click.option(
    "--timezone",
    type=ByRule("zone", text_rules.timezone),
    default="UTC",
    show_default=True,
    help="The time zone of its days (IANA name, such as Europe/Berlin).",
)
@click.option("--name", type=ByRule("text", text_rules.name), help="For people.")
def add(shop_id: str, currency: str, timezone: str, name: str | None) -> None:
    """Add a shop, as the command `import shops` does. ID is a domain such as example.myshopify.com."""
    with transaction() as change:
        is_new = shop_registry.add_shop(
            change.connection, shop_id, currency, timezone, name, change.now
        )
    click.echo(f"added {shop_id}" if is_new else f"{shop_id} is there already: nothing has changed")


@listing(
    shops.command("list"),
    "shop_id name currency timezone",
    table("SHOP shop_id, CURRENCY currency, TIMEZONE timezone, NAME name"),
    by_shop=False,
)
def list_all(connection: Connection) -> Iterator[Listed]:
    """List all shops."""
    yield from map(asdict, shop_registry.list_shops(connection))


@shops.command("delete")
@click.argument("shop_id", metavar="ID")
@click.option("--yes", is_flag=True, help="Do not ask.")
def delete(shop_id: str, yes: bool) -> None:
    """Delete a shop with all that it has: its rows and figures, forms, keys, write keys and pulls, and the
    members that belong to no other shop. Nothing brings it back but a backup or an export.

    The shop stops working at once. Its rows are deleted in portions, while others work. If that is
    interrupted, run it again; else the nightly purge goes on."""
    if not yes:
        if not sys.stdin.isatty():
            raise click.UsageError("without a terminal to ask on, --yes is needed")
        with open_warehouse() as engine, engine.connect() as connection:
            require_shop(connection, shop_id)
        typed = click.prompt(f"This deletes {shop_id} and all its data. Type its id to go on")
        if typed != shop_id:
            raise click.ClickException(f"{typed!r} is not {shop_id!r}: nothing was deleted")
    with transaction() as change:
        by = change.by
        is_closed = close_shop(change.connection, shop_id, change.now, by.name, by.source_ip)
    with open_arrow(WAREHOUSE_URL.get()) as arrow:
        if not is_closed and not is_left(arrow, shop_id):
            raise click.ClickException(f"{shop_id} was deleted before, and nothing of it is left")
        delete_rows(arrow, shop_id)
    click.echo(f"deleted {shop_id}")


@shops.command("export")
@click.argument("shop_id", metavar="ID")
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False))
@click.option("--force", is_flag=True, help="Replace FILE if it is there.")
def export(shop_id: str, file: Path, force: bool) -> None:
    """Write all rows of a shop, its forms and its daily figures to FILE, a zip archive.

    Another installation imports it to the same answers, unless RAW_DAYS removed raw events; README.txt in it
    says how. Keys and members stay
    here. Everything else may run meanwhile; FILE appears when it is complete."""
    with open_warehouse():
        exported = export_shop(WAREHOUSE_URL.get(), shop_id, file, force=force)
    rows = ", ".join(f"{kind} {count:,}" for kind, count in exported.rows.items())
    click.echo(f"exported {shop_id} to {file} ({exported.size:,} bytes): {rows}")
    if exported.purged_until:
        click.echo(
            f"raw events up to {exported.purged_until} are gone (RAW_DAYS) and not in it; "
            "daily/ has the figures of all days"
        )


@click.group()
def forms() -> None:
    """List forms."""


@listing(
    forms.command("list"),
    "form_id shop_id name status source source_id",
    table(
        "FORM form_id, SHOP shop_id, STATUS status, SOURCE source, SOURCE ID source_id, NAME name"
    ),
)
def list_forms(connection: Connection, shop: str | None) -> Iterator[Listed]:
    """List the forms that are known. SOURCE and SOURCE ID: the format in which a form's events come, and its
    id there."""
    for form in shop_registry.list_forms(connection, shop):
        yield {**form, "source": form["source"] or None, "source_id": form["source_id"] or None}
