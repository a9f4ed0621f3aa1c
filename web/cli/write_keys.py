"""The commands `write-keys ...`, and `collector-role`."""

from typing import Any

import click

from warehouse.connections.roles import let_read
from warehouse.setting_values import origins as parse_origins
from warehouse.settings import WAREHOUSE_URL
from web.auth import write_keys as stored
from web.cli.options import (
    as_operator,
    format_instant,
    json_flag,
    open_warehouse,
    print_json,
    print_table,
    shop_filter,
    transaction,
)

_HEADER = ("WRITE KEY", "SHOP", "STATE", "ORIGINS", "NAME")


class _Origins(click.ParamType[tuple[str, ...]]):
    """Origins, comma-separated."""

    name = "origins"

    def convert(self, value: Any, _param: Any, _context: Any) -> tuple[str, ...]:
        try:
            return parse_origins(value)
        except ValueError as error:
            self.fail(f"{value!r} {error}")


@click.group("write-keys")
def write_keys() -> None:
    """Create, list and revoke write keys, with which a shop's pages send events to the collector."""


@write_keys.command("create")
@click.option("--shop", required=True, help="The shop whose events come with the key.")
@click.option(
    "--origins",
    type=_Origins(),
    default="",
    help="Origins, comma-separated, whose pages may use it, such as https://shop.example (`*`: all). "
    "Without one, it is for servers alone.",
)
@click.option("--name", default="", help="The site that uses the key.")
def create(shop: str, origins: tuple[str, ...], name: str) -> None:
    """Create a write key. It is printed alone on the last line. It is public."""
    with transaction() as connection:
        text = stored.create(connection, shop, origins, name=name, **as_operator())
    click.echo(text)


@write_keys.command("list")
@shop_filter
@json_flag
def list_keys(shop: str | None, as_json: bool) -> None:
    """List write keys: their shop, state and origins."""
    with open_warehouse(creates=False) as engine, engine.connect() as connection:
        listed = stored.list_write_keys(connection, shop)
    if as_json:
        print_json(_json_row(key) for key in listed)
    else:
        print_table(_HEADER, [_table_row(key) for key in listed])


@write_keys.command("revoke")
@click.argument("key")
def revoke(key: str) -> None:
    """Revoke a write key. The collector refuses it within seconds."""
    with transaction() as connection:
        stored.revoke(connection, key, **as_operator())


@click.command("collector-role")
def collector_role() -> None:
    """Create the role under which the collector reads write keys, and nothing else (PostgreSQL). Its
    WAREHOUSE_URL is printed alone on the last line, and never shown again. A further call gives the role a
    new password, and its rights anew. The user of WAREHOUSE_URL must be allowed to create roles."""
    with transaction() as connection:
        url = let_read(connection, WAREHOUSE_URL.get(), "_collector", stored.READ_BY_COLLECTOR)
    click.echo(url.render_as_string(hide_password=False))


def _json_row(key: stored.WriteKey) -> dict[str, Any]:
    return {
        "writeKey": key.text,
        "shopId": key.shop_id,
        "name": key.name,
        "origins": list(key.origins),
        "state": _state(key),
        "createdBy": key.created_by,
        "createdAt": format_instant(key.created_at),
        "revokedAt": format_instant(key.revoked_at),
    }


def _table_row(key: stored.WriteKey) -> tuple[str, ...]:
    return (
        key.text,
        key.shop_id,
        _state(key),
        ",".join(key.origins) or "servers alone",
        key.name,
    )


def _state(key: stored.WriteKey) -> str:
    return "active" if key.revoked_at is None else "revoked"
