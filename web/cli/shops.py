"""The commands `shops ...` and `forms ...`."""

import click

from warehouse.domain import text_rules
from warehouse.operations import shop_registry
from web.app import wall_clock
from web.cli.options import (
    ByRule,
    json_flag,
    open_warehouse,
    print_json,
    print_table,
    shop_filter,
    transaction,
)


def _shop_id(text: str) -> str:
    if not text:
        raise ValueError("is no id")
    return text_rules.identifier(text)


@click.group()
def shops() -> None:
    """Add and list shops."""


@shops.command("add")
@click.argument("shop_id", metavar="ID", type=ByRule("id", _shop_id, "example.myshopify.com"))
@click.option(
    "--currency",
    type=ByRule("currency", text_rules.currency, "EUR"),
    required=True,
    help="Of all its orders (ISO 4217).",
)
@click.option(
    "--timezone",
    type=ByRule("zone", text_rules.timezone),
    default="UTC",
    show_default=True,
    help="Of its days (IANA name, such as Europe/Berlin).",
)
@click.option("--name", type=ByRule("text", text_rules.name), help="For people.")
def add(shop_id: str, currency: str, timezone: str, name: str | None) -> None:
    """Add a shop, as `python -m jobs import shops` does. ID is a domain such as example.myshopify.com."""
    with transaction() as connection:
        is_new = shop_registry.add_shop(connection, shop_id, currency, timezone, name, wall_clock())
    click.echo(f"added {shop_id}" if is_new else f"{shop_id} is there already: nothing has changed")


@shops.command("list")
@json_flag
def list_all(as_json: bool) -> None:
    """List all shops."""
    with open_warehouse() as engine, engine.connect() as connection:
        rows = shop_registry.list_shops(connection)
    if as_json:
        print_json(
            {
                "shopId": row.shop_id,
                "name": row.name,
                "currency": row.currency,
                "timezone": row.timezone,
            }
            for row in rows
        )
    else:
        header = ("SHOP", "CURRENCY", "TIMEZONE", "NAME")
        print_table(header, [(row.shop_id, row.currency, row.timezone, row.name) for row in rows])


@click.group()
def forms() -> None:
    """List forms."""


@forms.command("list")
@shop_filter
@json_flag
def list_forms(shop: str | None, as_json: bool) -> None:
    """List the forms that are known. SOURCE and SOURCE ID: the format in which a form's events come, and its
    id there."""
    with open_warehouse() as engine, engine.connect() as connection:
        rows = shop_registry.list_forms(connection, shop)
    if as_json:
        print_json(
            {
                "formId": row.form_id,
                "shopId": row.shop_id,
                "name": row.name,
                "status": row.status,
                "source": row.source or None,
                "sourceId": row.source_id or None,
            }
            for row in rows
        )
    else:
        header = ("FORM", "SHOP", "STATUS", "SOURCE", "SOURCE ID", "NAME")
        listed = [
            (row.form_id, row.shop_id, row.status, row.source, row.source_id, row.name)
            for row in rows
        ]
        print_table(header, listed)
