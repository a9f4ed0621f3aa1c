"""The commands `keys ...`, `write-keys ...`, and `collector-role`."""

from collections.abc import Iterator
from pathlib import Path

import click
from sqlalchemy import Connection

from warehouse.connections.roles import make_role
from warehouse.domain.time import now_micros
from warehouse.domain.vocabulary import SCOPES
from warehouse.setting_values import origins as parse_origins
from warehouse.settings import WAREHOUSE_URL
from web.auth import api_keys
from web.auth import write_keys as stored
from web.auth.api_key_format import is_well_formed
from web.cli.options import ByRule, ChoiceList, Listed, listing, table, transaction

_DAY = ByRule("day", api_keys.end_of_day)


@click.group()
def keys() -> None:
    """Create, list, rotate and revoke API keys."""


@keys.command("mint")
@click.option("--shop", required=True, help="The shop whose data the key opens.")
@click.option(
    "--scopes",
    type=ChoiceList("scope", SCOPES),
    required=True,
    help=f"Comma-separated, from: {', '.join(SCOPES)}.",
)
@click.option("--name", default="", help="The tool or person that uses the key.")
@click.option("--expires", type=_DAY, help="Last day (UTC) on which the key works.")
@click.option(
    "--file",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Keep the key in this file, for its user alone. While the key in it works, it is printed "
    "instead of a new one.",
)
def mint(
    shop: str, scopes: tuple[str, ...], name: str, expires: int | None, file: Path | None
) -> None:
    """Create a key. It is printed alone on the last line, and never shown again."""
    with transaction() as change:
        key = file.read_text("utf-8", "replace").strip() if file and file.exists() else ""
        if key and not is_well_formed(key):
            # Any other content is not ours to replace.
            raise click.ClickException(f"{file} holds no key; name another file")
        if not key or not api_keys.opens(change.connection, key, shop, scopes, change.now):
            key = api_keys.mint(change, shop, scopes, name=name, expires_at=expires)
            if file:
                _write_private(file, key)
    click.echo(key)


@listing(
    keys.command("list"),
    "credential_id shop_id name hint scopes state created_by created_at expires_at revoked_at last_used_at "
    "replaced_by",
    table(
        "CREDENTIAL credential_id, SHOP shop_id, KEY key, STATE state, ENDS expires_at, SCOPES scopes, "
        "LAST USED last_used_at, NAME name",
        expires_at="never",
        last_used_at="never",
    ),
)
def list_keys(connection: Connection, shop: str | None) -> Iterator[Listed]:
    """List keys: their first characters, state, end, scopes and last use."""
    now = now_micros()
    for key in api_keys.list_keys(connection, shop):
        yield {
            **key._mapping,
            "key": f"{key.hint}…",
            "state": api_keys.status(key, now),
            "replaced_by": key.replaced_by or None,
        }


@keys.command("revoke")
@click.argument("credential_id")
def revoke(credential_id: str) -> None:
    """Revoke a key. It stops working at once."""
    with transaction() as change:
        api_keys.revoke(change, credential_id)


@keys.command("rotate")
@click.argument("credential_id")
@click.option(
    "--old-works",
    type=click.Choice(list(api_keys.GRACE_PERIODS)),
    default="24h",
    show_default=True,
    help="How much longer the old key works.",
)
@click.option("--expires", type=_DAY, help="Last day (UTC) on which the new key works.")
def rotate(credential_id: str, old_works: str, expires: int | None) -> None:
    """Replace a key by a new one with the same name and scopes. The new key is printed alone on the
    last line, and never shown again."""
    with transaction() as change:
        key = api_keys.rotate(
            change, credential_id, grace=api_keys.GRACE_PERIODS[old_works], expires_at=expires
        )
    click.echo(key)


def _write_private(file: Path, text: str) -> None:
    """Put a file that only its user may read in the place of what is there."""
    file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    partial = file.with_name(f"{file.name}.new")
    partial.unlink(missing_ok=True)
    partial.touch(mode=0o600, exist_ok=False)
    partial.write_text(f"{text}\n", "utf-8")
    partial.replace(file)


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
def create_write_key(shop: str, origins: tuple[str, ...], name: str) -> None:
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
def list_write_keys(connection: Connection, shop: str | None) -> Iterator[Listed]:
    """List write keys: their shop, state and origins."""
    for key in stored.list_write_keys(connection, shop):
        state = "active" if key.revoked_at is None else "revoked"
        yield {**key._mapping, "write_key": key.text, "state": state}


@write_keys.command("revoke")
@click.argument("key")
def revoke_write_key(key: str) -> None:
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
