"""The commands `write-keys ...`, and `collector-role`."""

from collections.abc import Iterator

import click
from sqlalchemy import Connection

from warehouse.connections.roles import make_role
from warehouse.setting_values import origins as parse_origins
from warehouse.settings import WAREHOUSE_URL
from web.auth import write_keys as stored
from web.cli.options import ByRule, Listed, listing, table, transaction


@click.group("write-keys")
def write_keys() -> None:
    """Create, list and revoke write keys, with which a shop's pages send events to the collector."""


@write_keys.command("create")
@click.option("--shop", required=True, help="The shop whose events come with the key.")
@click.option(
    "--origins",
    type=ByRule("origins", parse_origins),
    default="",
    help="Origins, comma-separated, whose pages may use it, such as https://shop.example (`*`: all). "
    "Without one, it is for servers alone.",
)
@click.option("--name", default="", help="The site that uses the key.")
def create(shop: str, origins: tuple[str, ...], name: str) -> None:
    """Create a write key. It is printed alone on the last line. It is public."""
    with transaction() as change:
        text = stored.create(change, shop, origins, name=name)
    click.echo(text)


@listing(
    write_keys.command("list"),
    "write_key shop_id name origins state created_by created_at revoked_at",
    table(
        "WRITE KEY write_key, SHOP shop_id, STATE state, ORIGINS origins, NAME name",
        origins="servers alone",
    ),
)
def list_keys(connection: Connection, shop: str | None) -> Iterator[Listed]:
    """List write keys: their shop, state and origins."""
    for key in stored.list_write_keys(connection, shop):
        state = "active" if key.revoked_at is None else "revoked"
        yield {**key._mapping, "write_key": key.text, "state": state}


@write_keys.command("revoke")
@click.argument("key")
def revoke(key: str) -> None:
    """Revoke a write key. The collector refuses it within seconds."""
    with transaction() as change:
        stored.revoke(change, key)


@click.command("collector-role")
def collector_role() -> None:
    """Create the role under which the collector reads write keys, writes its counts, and does nothing else
    (PostgreSQL). Its WAREHOUSE_URL is printed alone on the last line, and never shown again. A further call
    gives the role a new password, and its rights anew. The user of WAREHOUSE_URL must be allowed to create
    roles."""
    with transaction() as change:
        url = make_role(
            change.connection,
            WAREHOUSE_URL.get(),
            "_collector",
            stored.READ_BY_COLLECTOR,
            stored.WRITTEN_BY_COLLECTOR,
        )
    click.echo(url.render_as_string(hide_password=False))
